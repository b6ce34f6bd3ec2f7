/*
 * Values of the source language: numbers and structures in registers, in memory, or made by an
 * expression. A value that has a place is not read before its bytes are wanted, so an array of a
 * megabyte costs nothing until it is printed.
 *
 * Functions that can fail return false and add one line without its end to `why`.
 */
#ifndef PL_DBG_VALUE_H
#define PL_DBG_VALUE_H

#include "src/dbg/names.h"

/* ---- what an evaluation knows ---- */

/*
 * What lives as long as a debugging session: values printed before ($1), convenience variables
 * ($name), and types that expressions made.
 */
struct dbg_session;

struct dbg_session *dbg_session_new(void);
void dbg_session_free(struct dbg_session *s);
/*
 * A module is about to go, and its types with it: numbers stay, as standard types; what else was
 * kept becomes void.
 */
void dbg_session_forget(struct dbg_session *s);

/*
 * The modules of the program, in which what a module does not know is looked for: the i-th one's
 * names, NULL: it has none. False past the last. Those that expressions hold must outlive these.
 */
typedef bool dbg_module_fn(void *user, u32 i, struct dbg_names **out);
void dbg_session_set_modules(struct dbg_session *s, dbg_module_fn *module, void *user);

struct dbg_context {
	struct dbg_session *session;     /* never NULL */
	const struct dbg_target *target; /* NULL: nothing runs */
	struct dbg_lane lane;
	struct dbg_names *names; /* of the module of `place`; NULL: no code is loaded */
	struct dbg_place place;  /* the frame's instruction; func NULL: none */
	u32 inlined;             /* which function inlined there is meant, as dbg_names_find */
	bool dry;                /* types alone are wanted: nothing is written */
};

/*
 * The names of the context's module and then those of others of the program, NULL: no more. *at is
 * where it is: 0 at first.
 */
struct dbg_names *dbg_context_names(const struct dbg_context *c, u32 *at);
/* dbg_names_find in the module of the context at its place, then in others of the program. */
bool dbg_context_find(const struct dbg_context *c, const char *name, struct dbg_variable *out);

/* ---- values ---- */

enum dbg_store {
	DBG_RVALUE,   /* bytes in `own` or at `data` */
	DBG_REGISTER, /* of the frame of the context */
	DBG_MEMORY,
	DBG_CONVENIENCE, /* $name: bytes as those of an rvalue, but it can be set */
	DBG_NO_VALUE,    /* a variable without a place; `why_not` */
};

struct dbg_value {
	struct dbg_type *type;
	u8 store;                 /* enum dbg_store */
	u8 space;                 /* DBG_MEMORY: enum dbg_space */
	u32 reg, reg_offset;      /* DBG_REGISTER: bytes from its lowest */
	u32 bit_size, bit_offset; /* bit-field, in the bytes at the place; bit_size 0: none */
	u64 address;              /* DBG_MEMORY */
	const u8 *data; /* DBG_RVALUE: borrowed from the session or the expression; NULL: own */
	u8 own[16];
	const char *name; /* DBG_CONVENIENCE */
	char why_not[96];
};

/* A number of C: an integer in two's complement of 64 bits, or a floating-point one. */
struct dbg_number {
	bool is_float, is_signed;
	u64 bits;
	f64 real;
};

/* The value of a variable, without reading it. Never fails: it may have no value. */
void dbg_value_of(const struct dbg_context *c, const struct dbg_variable *v, struct dbg_value *out);
/* An rvalue of an arithmetic type, converted to it as C does. */
struct dbg_value dbg_value_make(struct dbg_type *type, const struct dbg_number *n);
struct dbg_value dbg_value_int(struct dbg_type *type, u64 bits);

/* `bytes` bytes from `offset` on of what the value consists of. */
bool dbg_value_read(const struct dbg_context *c, const struct dbg_value *v, u64 offset, void *to,
		    u64 bytes, struct text *why);
/* As a number; pointers and references count as their address. */
bool dbg_value_number(const struct dbg_context *c, const struct dbg_value *v,
		      struct dbg_number *out, struct text *why);
bool dbg_value_is_true(const struct dbg_context *c, const struct dbg_value *v, bool *out,
		       struct text *why);
/* Bits of a type (up to 8 bytes) as a number. */
struct dbg_number dbg_number_of_bits(struct dbg_type *stripped, u64 bits);
/* fp8 of 8 bits, half and bfloat16 of 16, float of 32, double of 64. */
f64 dbg_real_of_bits(u64 bits, u64 size, u8 number);

/* A function, as a value of its type. */
struct dbg_value dbg_value_function(const struct dbg_context *c, const struct ir_func *f);

/* Parts and ways. Each checks what it is given. name: "x" or "Base::x". */
bool dbg_value_member(const struct dbg_context *c, const struct dbg_value *v, const char *name,
		      struct dbg_value *out, struct text *why);
/* A static member of a class, without an object. */
bool dbg_value_static(struct dbg_type *class, const char *name, struct dbg_value *out,
		      struct text *why);
/* &Class::name of a member that is data. False when there is none. */
bool dbg_value_member_pointer(const struct dbg_context *c, struct dbg_type *class, const char *name,
			      struct dbg_value *out);
/* object.*member, or what a pointer to an object leads to. */
bool dbg_value_at_member(const struct dbg_context *c, const struct dbg_value *object,
			 const struct dbg_value *member, struct dbg_value *out, struct text *why);
/* The member as described; for printing. */
bool dbg_value_part(const struct dbg_value *v, const struct dbg_member *m, struct dbg_value *out);
bool dbg_value_index(const struct dbg_context *c, const struct dbg_value *v, s64 index,
		     struct dbg_value *out, struct text *why);
bool dbg_value_follow(const struct dbg_context *c, const struct dbg_value *v, struct dbg_value *out,
		      struct text *why);
bool dbg_value_address(const struct dbg_context *c, const struct dbg_value *v,
		       struct dbg_value *out, struct text *why);
/* What a reference refers to; other values as they are. */
bool dbg_value_referred(const struct dbg_context *c, const struct dbg_value *v,
			struct dbg_value *out, struct text *why);
bool dbg_value_cast(const struct dbg_context *c, const struct dbg_value *v, struct dbg_type *type,
		    struct dbg_value *out, struct text *why);
/* Set what has a place to a value, converted as by assignment. */
bool dbg_value_set(const struct dbg_context *c, const struct dbg_value *place,
		   const struct dbg_value *value, struct text *why);
/* A pointer's address as a generic one, so that pointers into different spaces compare. */
u64 dbg_generic(const struct dbg_context *c, enum dbg_space space, u64 address);

/* ---- session ---- */

/* Pointer and array types, each made once; never NULL (void when memory is out). */
struct dbg_type *dbg_session_pointer(struct dbg_session *s, struct dbg_type *to,
				     enum dbg_space space);
struct dbg_type *dbg_session_array(struct dbg_session *s, struct dbg_type *of, u64 count);
/* "int Point::*" */
struct dbg_type *dbg_session_member(struct dbg_session *s, struct dbg_type *of,
				    struct dbg_type *owner);
/* Keep a value as the next $N; *number is its N. */
bool dbg_session_keep(struct dbg_session *s, const struct dbg_context *c, const struct dbg_value *v,
		      u32 *number, struct text *why);
/* $N; $0 and numbers not there are void. */
void dbg_session_kept(const struct dbg_session *s, u32 number, struct dbg_value *out);
u32 dbg_session_count(const struct dbg_session *s);
/* $name: void when it was never set. */
void dbg_session_get(const struct dbg_session *s, const char *name, struct dbg_value *out);
/* The name of the i-th convenience variable; NULL past the last. */
const char *dbg_session_variable(const struct dbg_session *s, u32 i);
bool dbg_session_has(const struct dbg_session *s, const char *name);
bool dbg_session_set(struct dbg_session *s, const struct dbg_context *c, const char *name,
		     const struct dbg_value *v, struct text *why);

/* ---- printing ---- */

struct dbg_format {
	char letter;  /* x d u o t z f c s a; 0: by type */
	bool pretty;  /* a member a line */
	bool inner;   /* as a part of something: pointers without their type */
	u32 elements; /* of an array or string at most; 0: 200 */
	u32 repeats;  /* equal elements from which `<repeats N times>` is shown; 0: 10 */
};

/*
 * Add the value as gdb prints it. Parts that cannot be read are shown as `<error: ..>` in their
 * place; when nothing of it can be, it returns false with one line in `why`.
 */
bool dbg_value_print(const struct dbg_context *c, const struct dbg_value *v,
		     const struct dbg_format *f, struct text *out, struct text *why);
/*
 * Add what the machine says of an object of CUDA. bytes: dbg_object_bytes of them, read from `v`.
 * False: they are no such object.
 */
bool dbg_value_object(const struct dbg_context *c, const struct dbg_value *v, enum dbg_object kind,
		      const u8 *bytes, struct text *out);
/* Is it a format letter? */
bool dbg_format_is(char letter);

#endif
