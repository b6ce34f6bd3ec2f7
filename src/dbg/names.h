/*
 * Names of the source at a place of a module: variables in scope with their types and where they
 * are, functions that are inlined there, types, enumerators.
 *
 * They come from DWARF in the PTX (`nvcc -G`, `ptxloom cc -G`) when there is any and ptxloom was
 * built with libdw; PTX's own registers and variables always have names and types.
 *
 * Places of DWARF are trusted for nothing: what does not fit the module is told by a message.
 */
#ifndef PL_DBG_NAMES_H
#define PL_DBG_NAMES_H

#include "src/dbg/lines.h"
#include "src/dbg/type.h"

struct dbg_names;

/*
 * Open the names of a module; one thread at a time may use them.
 * m: borrowed, must outlive them. Why there are none out of DWARF, although the module has some, is
 * added to `why` as one line without its end. Returns NULL when memory is out.
 */
struct dbg_names *dbg_names_open(const struct ir_module *m, struct text *why);
void dbg_names_close(struct dbg_names *n);

/* Are there names out of DWARF? */
bool dbg_names_has_dwarf(const struct dbg_names *n);
const struct ir_module *dbg_names_module(const struct dbg_names *n);
/* For types and texts that live as long as the names. */
struct arena *dbg_names_arena(struct dbg_names *n);

/* ---- variables ---- */

enum dbg_where { DBG_IN_REGISTER, DBG_IN_MEMORY, DBG_IS_CONSTANT, DBG_IS_NOWHERE };

struct dbg_variable {
	const char *name; /* lives as long as the names, or as the name it was found by */
	struct dbg_type *type;
	u32 line; /* of its declaration; 0: unknown */
	bool is_parameter;
	bool is_artificial;        /* `this` */
	u8 where;                  /* enum dbg_where */
	u8 space;                  /* DBG_IN_MEMORY: enum dbg_space */
	u32 reg;                   /* DBG_IN_REGISTER: of the function of the place */
	const struct ir_var *base; /* DBG_IN_MEMORY: the variable of the module it is (part of) */
	u64 offset;                /* bytes from its start; base NULL: the address itself */
	u64 constant;              /* DBG_IS_CONSTANT */
	bool unset;                /* DBG_IN_REGISTER: nothing that sets it leads to the place */
	char why[96];              /* DBG_IS_NOWHERE: "optimized out" */
};

/*
 * The variable of this name that is visible at a place: innermost scope first, members of
 * `this` are left out, then variables of the module, with or without their namespace.
 * inlined: which of the functions inlined there is meant, 0: the innermost, the number of them: the
 * function itself. Returns false when there is none.
 */
bool dbg_names_find(struct dbg_names *n, struct dbg_place at, u32 inlined, const char *name,
		    struct dbg_variable *out);

/* depth: how many scopes of the same function are around the variable's; parameters have 0. */
typedef void dbg_variable_visitor(void *user, const struct dbg_variable *v, u32 depth);
/* All variables and parameters of the function at a place, innermost scope first. */
void dbg_names_locals(struct dbg_names *n, struct dbg_place at, u32 inlined,
		      dbg_variable_visitor *see, void *user);

/*
 * A register by its PTX name ("%r12") as seen at the place; IR_NONE: there is none. Of several of
 * that name the one of the innermost { } counts.
 */
u32 dbg_find_register(const struct ir_func *f, u32 insn, const char *name);
/* The type of a PTX register or of an element of a variable: ".b32", ".pred", a vector of them. */
struct dbg_type *dbg_ptx_type(u32 type, u32 vec);

/* ---- types, enumerators, functions ---- */

/* A structure, enumeration, typedef or base type, without or with its namespace; NULL: none. */
struct dbg_type *dbg_names_type(struct dbg_names *n, const char *name);
bool dbg_names_enumerator(struct dbg_names *n, const char *name, struct dbg_type **type,
			  s64 *value);

/* "k(float*, int)", or the plain name; lives as long as the names. */
const char *dbg_names_function(struct dbg_names *n, const struct ir_func *f);
/* What the function returns; NULL: nothing, or not known. */
struct dbg_type *dbg_names_result(struct dbg_names *n, const struct ir_func *f);
/*
 * Is `name` a name of the function that is demangled as `whole`: with or without parameters,
 * template arguments and namespaces, whatever its blanks?
 */
bool dbg_names_same(const char *whole, const char *name);
/* The same of a function, or its PTX name. */
bool dbg_names_is_function(struct dbg_names *n, const struct ir_func *f, const char *name);

/* The function of a name, as dbg_names_is_function has it, one with a body first; NULL: none. */
const struct ir_func *dbg_names_find_function(struct dbg_names *n, const char *name);
/* Never NULL: without debug information parameters and result are not known. */
struct dbg_type *dbg_names_function_type(struct dbg_names *n, const struct ir_func *f);
/* A variable of the function that lives as long as the CTA or the module: a static one. */
bool dbg_names_find_static(struct dbg_names *n, const struct ir_func *f, const char *name,
			   struct dbg_variable *out);
/* A type that is a template argument of the function at a place; NULL: none of this name. */
struct dbg_type *dbg_names_type_argument(struct dbg_names *n, struct dbg_place at, u32 inlined,
					 const char *name);
/*
 * Is it a name of the function with `inlined` others inside, at the place? False also when there
 * are not so many; *count is how many there are, the outermost included.
 */
bool dbg_names_frame_is(struct dbg_names *n, struct dbg_place at, u32 inlined, const char *name,
			u32 *count);
/* Is a source file of this name, or the end of its path, among the module's? */
bool dbg_names_has_file(const struct dbg_names *n, const char *file);
/* The last "::" of a name outside of template arguments and parameters; NULL: none. */
const char *dbg_last_scope(const char *name);
/* The same name, but for blanks? `a` has n characters. */
bool dbg_same_name(const char *a, size_t n, const char *b);

/* ---- all of them ---- */

enum dbg_symbols { DBG_ALL_FUNCTIONS, DBG_ALL_VARIABLES, DBG_ALL_TYPES };

struct dbg_symbol {
	const char *name; /* "ns::f(int)", "ns::x"; lives during the visit */
	struct dbg_type *type;
	const char *path; /* of its declaration; NULL: not known, or nowhere (`int`) */
	u32 line;         /* likewise, 0 */
	bool is_static;
	/* What has no debug information; NULL: it has. */
	const struct ir_func *func;
	const struct ir_var *var;
};

typedef void dbg_symbol_visitor(void *user, const struct dbg_symbol *s);
/* All of the module's, in no order; what is in several copies more than once. */
void dbg_names_symbols(struct dbg_names *n, enum dbg_symbols kind, dbg_symbol_visitor *see,
		       void *user);

/* ---- frames ---- */

struct dbg_frame {
	const char *function;     /* name without parameters; lives as long as the names */
	struct dbg_source source; /* where in it */
	u32 inlined;              /* for dbg_names_find */
	bool is_inlined;
};

/* The functions at a place, innermost first, the function itself last; returns how many. */
u32 dbg_names_frames(struct dbg_names *n, const struct dbg_lines *l, struct dbg_place at,
		     struct dbg_frame out[DBG_INLINE_MAX + 1]);

/* A dbg_inline_fn, for dbg_lines_new; `names` is a struct dbg_names. */
u32 dbg_names_inlined(void *names, struct dbg_place at, struct dbg_inline *out);

#endif
