/*
 * Types of the source language, as C and C++ have them, and of PTX registers.
 *
 * Types live in arenas: those of a module in its names (names.h), those that an expression makes in
 * the expression's. They are compared by structure, never by address. Members and enumerators of
 * types out of DWARF are read when they are first asked for.
 */
#ifndef PL_DBG_TYPE_H
#define PL_DBG_TYPE_H

#include "src/base/text.h"
#include "src/dbg/dbg.h"

enum dbg_kind {
	DBG_VOID,
	DBG_BOOL,
	DBG_CHAR,
	DBG_INT,
	DBG_FLOAT,
	DBG_ENUM,
	DBG_POINTER,
	DBG_REFERENCE,
	DBG_ARRAY,
	DBG_STRUCT, /* struct, class, union */
	DBG_FUNCTION,
	DBG_TYPEDEF,
	DBG_CONST_OF,
	DBG_VOLATILE_OF,
	DBG_MEMBER, /* a pointer to a member that is data: its offset, -1: none */
	DBG_OPAQUE, /* known by name and size alone */
};

/* How the bits of a number are meant, where kind and size do not tell. */
enum dbg_encoding { DBG_PLAIN, DBG_HALF, DBG_BFLOAT, DBG_E4M3, DBG_E5M2 };

enum dbg_access { DBG_PUBLIC, DBG_PROTECTED, DBG_PRIVATE };

struct dbg_type;

struct dbg_member {
	const char *name; /* "": anonymous */
	struct dbg_type *type;
	u64 offset; /* bytes in the structure */
	u32 bit_size,
		bit_offset; /* bit_size 0: no bit-field; offset from the lowest bit at `offset` */
	bool base;          /* a base class */
	u8 access;          /* enum dbg_access */
	bool is_static;     /* no part of the object: `type` and, when has_value, `value` */
	bool has_value;
	s64 value;
};

struct dbg_enumerator {
	const char *name;
	s64 value;
};

struct dbg_type {
	u8 kind;   /* enum dbg_kind */
	u8 number; /* enum dbg_encoding; a structure that has one is shown as that number */
	u8 space;  /* DBG_POINTER: enum dbg_space that addresses are in */
	bool is_signed;
	bool is_class, is_union, rvalue; /* `class`, `union`, && */
	bool declaration;                /* a structure that is nowhere described */
	bool counted;                    /* DBG_ARRAY: `count` is known */
	bool variadic;                   /* DBG_FUNCTION */
	const char *name;                /* NULL: none */
	u64 size;                        /* bytes; 0: unknown */
	u64 count;                       /* elements of an array */
	struct dbg_type *target; /* pointed to, element, result, what a name means; NULL: void */
	struct dbg_type *owner;  /* DBG_MEMBER: the class */
	/* Members, parameters of a function, enumerators: after dbg_type_fill. */
	struct dbg_member *members;
	struct dbg_enumerator *enumerators;
	u32 members_len, enumerators_len;
	/* Reads members or enumerators; NULL: they are there. */
	void (*fill)(struct dbg_type *t);
	void *filler;
	u64 origin; /* for `fill` */
};

/* Standard types, by name; constant. */
extern struct dbg_type dbg_type_void, dbg_type_bool, dbg_type_char, dbg_type_schar, dbg_type_uchar,
	dbg_type_short, dbg_type_ushort, dbg_type_int, dbg_type_uint, dbg_type_long, dbg_type_ulong,
	dbg_type_llong, dbg_type_ullong, dbg_type_half, dbg_type_float, dbg_type_double;

/* The type of "unsigned long long" and the like, words in any order as C has it; NULL: none. */
struct dbg_type *dbg_type_of_words(const char *const *words, u32 n);

/* Make members and enumerators be there. */
void dbg_type_fill(struct dbg_type *t);

/*
 * The type without typedefs, const and volatile; never NULL: what does not end, or is nothing, is
 * void.
 */
struct dbg_type *dbg_type_strip(struct dbg_type *t);
/* Of a reference what it refers to; stripped. */
struct dbg_type *dbg_type_refers(struct dbg_type *t);

/* Bytes of a value; 0: unknown. */
u64 dbg_type_size(struct dbg_type *t);
/* What addresses of it are multiples of, unless the program asks for more; 0: unknown. */
u64 dbg_type_align(struct dbg_type *t);

static inline bool dbg_type_is_integral(const struct dbg_type *stripped)
{
	return stripped->kind == DBG_BOOL || stripped->kind == DBG_CHAR ||
	       stripped->kind == DBG_INT || stripped->kind == DBG_ENUM;
}

/* A number of C, or a structure that stands for one (half). */
static inline bool dbg_type_is_number(const struct dbg_type *stripped)
{
	return dbg_type_is_integral(stripped) || stripped->kind == DBG_FLOAT ||
	       stripped->number != DBG_PLAIN;
}

/* The object of CUDA that values of the type are, by the names of its headers. */
enum dbg_object dbg_type_object(struct dbg_type *t);

/* New types; NULL when memory is out. */
struct dbg_type *dbg_type_pointer(struct arena *a, struct dbg_type *to, enum dbg_space space);
struct dbg_type *dbg_type_array(struct arena *a, struct dbg_type *of, u64 count);
/* A pointer to a member of the type of a class. */
struct dbg_type *dbg_type_member(struct arena *a, struct dbg_type *of, struct dbg_type *owner);

/* Do they mean the same, const and typedefs aside? */
bool dbg_type_same(struct dbg_type *a, struct dbg_type *b);

/* Add the type as C writes it: "int *(*)[3]"; with `name`, the declaration of that name. */
void dbg_type_print(struct dbg_type *t, const char *name, struct text *out);
/*
 * The same with the members of a structure or enumeration, as gdb's ptype does; offsets: and their
 * places, as ptype/o.
 */
void dbg_type_describe(struct dbg_type *t, bool offsets, struct text *out);

#endif
