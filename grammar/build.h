/*
 * What the grammar's actions do: scopes, declarations, constants, statements. Private to grammar/.
 * All of it works on one `struct parse`, the state of one call of ptx_parse; errors are reported on
 * its diag and parsing goes on, so that several show at once.
 */
#ifndef PL_BUILD_H
#define PL_BUILD_H

#include "grammar/parse.h"
#include "grammar/skim.h"
#include "src/base/map.h"

#include <stdlib.h>

/* A constant while expressions are evaluated: all arithmetic is 64-bit. */
struct build_value {
	u64 bits;
	u8 type;    /* T_s64, T_u64; T_f64, T_f32 for floating point */
	bool paren; /* written in parentheses */
	bool hex;   /* 0f or 0d: takes no sign */
};

/* Bytes of one variable, at most. */
#define BUILD_VAR_MAX ((u64)1 << 40)

enum build_list { BUILD_PARAMS, BUILD_RESULTS };

enum bind_kind {
	BIND_VAR,
	BIND_FUNC,
	BIND_REG,
	BIND_MEMBER,
	BIND_FAMILY,
	BIND_TABLE,
	BIND_LABEL,
	BIND_PRIVATE
};

/* A flag of operands while an instruction is read: a constant is to be added to the register. */
#define BUILD_SUM 128u

/* A constant that is added to a register, operand `operand` of the instruction being read. */
struct build_addend {
	u32 operand;
	s64 addend;
};

/* What a name means now. Chained per name, inner scope first. */
struct binding {
	struct binding *shadowed;
	struct str *name;
	u32 index; /* variable, function, register, table, label; families: register declaration */
	u16 depth; /* 0: module */
	u8 kind;
};

/*
 * The register that a name such as %r12 was in one family. Outer families of the same name
 * follow.
 */
struct member_of {
	struct member_of *outer;
	u32 function, decl, reg;
};

/* What a name means as a member of a register family; hangs on the name itself. */
struct member {
	struct binding as;      /* BIND_MEMBER */
	u32 epoch;              /* p->epoch when looked up: families are unchanged since */
	struct member_of *last; /* innermost first */
};

/*
 * The lowest number that a single name takes from a family in one scope; hangs on the family's key.
 */
struct single {
	struct single *outer;
	u32 function, scope, number;
	const struct str *name;
};

struct build_scope {
	u32 id;           /* in f->scopes */
	u32 first_bound;  /* in p->bound */
	u32 first_jump;   /* in p->jumps */
	u16 family_depth; /* of the scope around */
};

/* A label used before its definition. */
struct build_jump {
	struct str *name;
	u32 operand; /* in f->operands, or IR_NONE: an entry of a table */
	u32 table, entry;
	struct diag_span where;
};

struct build_decl {
	u16 space;
	u8 type, vec, linkage;
	u32 align;
	bool managed, unified, ptr;
	u64 unified_id[2];
	u16 ptr_space;
	u32 ptr_align;
	/* the declarator being read */
	struct str *name;
	struct diag_span where;
	u32 dims;
	u64 dim[IR_DIMS];
	bool open_dim; /* first dimension left out */
};

/* A register or local variable at module scope, before PTX 3.0. */
struct build_private {
	u32 var;             /* in the module's variables */
	u32 function;        /* the last one that named it, as p->functions counts */
	struct binding here; /* what it means there */
};

struct build_init {
	bool active, vectors;
	u32 depth; /* open braces */
	u32 dims;  /* of the variable, a vector counting as the innermost one */
	u64 dim[IR_DIMS + 1];
	u64 stride[IR_DIMS + 2]; /* bytes of one element at each depth */
	u64 at[IR_DIMS + 2];     /* next byte at each depth */
	u64 begin[IR_DIMS + 2];  /* first byte of the brace at each depth */
	u64 outermost;           /* elements of the first dimension seen */
	VEC(u8) bytes;
	VEC(struct ir_reloc) relocs;
	VEC(struct str *) field_names; /* pairs: field, value name or NULL */
	VEC(s64) field_values;
	struct ir_reloc address; /* the address just read */
	bool address_ok, failed;
};

struct parse {
	struct ir_module *m;
	struct diag *d;
	struct ptx_options options;
	struct ir_func *f; /* function being read, NULL at module scope */
	u32 offset;        /* of the scanner */
	u32 explained;     /* errors that were explained at length, see build_explains */
	u32 unclosed;      /* the function, as p->functions counts, whose brace was missed */
	u32 looked_at;     /* how far end_before() of build_say.c has scanned */
	struct diag_span comment_begin;
	bool out_of_memory, stopped;
	bool seen_version, seen_target, seen_address_size, seen_texmode, seen_item, version_error;
	u64 const_bytes; /* of .const variables so far */
	VEC(u32)
	shared_seen; /* per variable of the module: 1 + the last function that counted it */
	VEC(struct binding *) bound; /* of functions, in order of binding, for leaving scopes */
	struct binding *free_bindings;
	u32 epoch;        /* of register families, see struct member */
	u32 functions;    /* begun so far */
	u16 family_depth; /* innermost scope with a family */
	VEC(struct build_private) privates;
	VEC(struct build_scope) scopes;
	VEC(struct build_jump) jumps;
	VEC(struct ir_operand) stack; /* vector elements being collected */
	VEC(struct diag_span) stack_spans;
	/* the statement being read */
	VEC(struct ir_operand) ops;
	VEC(struct diag_span) spans;
	struct str *opcode;
	struct diag_span opcode_span;
	u32 guard;
	bool guard_not, insn_failed;
	VEC(struct build_addend) addends;
	/* why the instruction cannot be run although ptxas accepts it; NULL: it can */
	const char *unrunnable;
	struct build_decl decl;
	struct build_init init;
	u8 linkage;
	struct diag_span linkage_span;
	enum build_list list;
	struct str *label;
	struct diag_span label_span;
	struct ir_table table;
	VEC(u32) table_items;
	VEC(struct build_jump) table_jumps; /* labels of the table being read */
	struct ir_func *outer;              /* while a prototype is read */
	VEC(u32) list_vars;
	struct text target_text;
	u32 target_seen;
	u32 loc;           /* current line position, index in m->locs */
	struct map places; /* hash of a position -> 1 + the last one of m->locs there */
	struct ir_section *section;
	u8 section_type;
	struct str *section_name;
	s64 name_offset;
	u32 perf_row;
	struct skim skim; /* the bodies that are read later, and how many of them have been met */
	u32 skipped;
	bool is_fixed; /* others use the module's vars and locs, which must not move */
};

enum build_unexpected_kind {
	BUILD_OTHER,
	BUILD_AT_END,
	BUILD_WORD,
	BUILD_DIRECTIVE,
	BUILD_CLOSING,
	BUILD_OUTSIDE, /* text outside functions */
};

/* A token that the grammar does not accept at its position. */
struct build_unexpected {
	struct diag_span where;
	enum build_unexpected_kind kind;
	const char *name;       /* "identifier", "'}'" */
	bool mark, comma, type; /* ';', ',' or a type would be accepted */
	struct text expected;   /* "identifier or '_'"; empty: too much to list */
};

/* ---- build_say.c: messages about what was read ---- */
/* May the next error be explained with a search for what was meant? Counts those that are. */
bool build_explains(struct parse *p);
void build_undefined(struct parse *p, const struct str *name, struct diag_span where);
void build_no_label(struct parse *p, const struct str *name, struct diag_span where);
void build_unexpected(struct parse *p, const struct build_unexpected *u);

struct nearest;

/* Offer the directives, or the types. */
void build_near_keyword(struct nearest *n, bool types);

/* ---- build.c: errors, scopes, names, header ---- */
void build_error(struct parse *p, struct diag_span where, const char *fmt, ...) PL_PRINTF(3, 4);
void build_warn(struct parse *p, struct diag_span where, const char *fmt, ...) PL_PRINTF(3, 4);
void build_no_memory(struct parse *p);
/* Is there room for this many bytes more within the module's limit? */
bool build_fits(const struct parse *p, u64 bytes);
void build_syntax_error(struct parse *p, struct diag_span where, const char *message);
bool build_stop(struct parse *p);
/* After a syntax error in a statement, and at module scope. */
void build_recover(struct parse *p);
void build_recover_item(struct parse *p);
struct binding *build_bind(struct parse *p, struct str *name, enum bind_kind kind, u32 index,
			   struct diag_span where);
/* The same at module scope, below whatever the name means in the function being read. */
void build_bind_module(struct parse *p, struct str *name, enum bind_kind kind, u32 index,
		       struct diag_span where);
struct binding *build_lookup(struct parse *p, struct str *name);
bool build_same_scope(const struct parse *p, const struct binding *b);
/* Open and close a scope; source offsets of its braces. */
void build_enter(struct parse *p, u32 begin);
void build_leave(struct parse *p, u32 end);
void build_version(struct parse *p, struct diag_span where);
void build_target_begin(struct parse *p, struct diag_span where);
void build_target(struct parse *p, struct str *name, struct diag_span where);
void build_target_end(struct parse *p, struct diag_span where);
void build_address_size(struct parse *p, struct build_value v, struct diag_span where);
void build_end_module(struct parse *p, struct diag_span where);
/* Something other than .version and .target begins: both must have been there. */
void build_item(struct parse *p, struct diag_span where);

/* ---- build_limits.c: minima of directives, pragmas, sizes ---- */
/* When linting: report a directive that needs PTX version (x 10) and target sm of the module. */
void build_need(struct parse *p, struct diag_span where, const char *what, u32 ptx, u32 sm);
void build_need_reg(struct parse *p, u32 type, struct diag_span where);
/* .language, of PTX 9.3. */
void build_language(struct parse *p, struct diag_span where);
void build_pragma(struct parse *p, struct str *text, struct diag_span where);
void build_count_const(struct parse *p, const struct ir_var *v);
void build_check_params(struct parse *p);
void build_check_shared(struct parse *p);

/* ---- build_lex.c: token values ---- */
union PTX_YYSTYPE;
int build_word(struct parse *p, const char *s, size_t n, union PTX_YYSTYPE *out);
int build_dotted(struct parse *p, const char *s, size_t n, union PTX_YYSTYPE *out);
int build_integer(struct parse *p, const char *s, int base, union PTX_YYSTYPE *out,
		  struct diag_span where);
int build_decimal(struct parse *p, const char *s, union PTX_YYSTYPE *out, struct diag_span where);
int build_hex_float(const char *s, u8 type, union PTX_YYSTYPE *out);
int build_string(struct parse *p, const char *s, size_t n, union PTX_YYSTYPE *out);
int build_bad_char(struct parse *p, struct diag_span where, u8 c);
/* The mark of a body that is left out, if one is left out there; the text goes on behind it. */
int build_skipped(struct parse *p, struct diag_span *where);
void build_keywords(struct parse *p);

/* May one more be added to a list of the module? */
#define BUILD_HAS_ROOM(p, v) (!(p)->is_fixed || (v)->len < (v)->cap)

/* ---- build_expr.c: constant expressions ---- */
struct build_value build_binary(struct parse *p, int op, struct build_value a, struct build_value b,
				struct diag_span where);
struct build_value build_unary(struct parse *p, int op, struct build_value a,
			       struct diag_span where);
struct build_value build_conditional(struct parse *p, struct build_value c, struct build_value a,
				     struct build_value b, struct diag_span where);
struct build_value build_cast(struct parse *p, u32 type, struct build_value a,
			      struct diag_span where);
/* Integer value of an expression; reports and returns `instead` when it is floating point. */
s64 build_integer_of(struct parse *p, struct build_value v, s64 instead, struct diag_span where);

/* ---- build_decl.c: variables and parameters ---- */
void build_linkage(struct parse *p, u32 linkage, struct diag_span where);
void build_decl_begin(struct parse *p, u32 space, struct diag_span where);
void build_align(struct parse *p, struct build_value v, struct diag_span where);
void build_vector(struct parse *p, u32 word, struct diag_span where);
void build_managed(struct parse *p, struct diag_span where);
void build_unified(struct parse *p, struct build_value a, struct build_value b,
		   struct diag_span where);
void build_decl_type(struct parse *p, u32 type, struct diag_span where);
void build_pointer(struct parse *p, u32 space);
/* .texref, .samplerref or .surfref in the place of a space. */
void build_opaque_pointer(struct parse *p, u32 type, struct diag_span where);
void build_pointer_align(struct parse *p, struct build_value v, struct diag_span where);
void build_declarator(struct parse *p, struct str *name, struct diag_span where);
void build_dim(struct parse *p, const struct build_value *v, struct diag_span where);
void build_variable(struct parse *p, struct diag_span where);
void build_param(struct parse *p, struct diag_span where);

/* ---- build_register.c ---- */
/* A family, %r<count>, from the declaration being read; or a single register. */
void build_family(struct parse *p, struct build_value count, struct diag_span where);
void build_register_declarator(struct parse *p, struct diag_span where);
/* Declare them without a name. Returns the declaration. */
u32 build_declare_registers(struct parse *p, u32 count, bool family);
/* Is the name that of a member of a family that is declared here? */
bool build_clashes_with_family(struct parse *p, struct str *name);
/* The register of a declaration with this number. */
u32 build_register(struct parse *p, u32 decl, u32 number);
void build_note_single(struct parse *p, const struct str *name);
/*
 * The family member that a name such as %r12 is, when that family is nearer than `other` (NULL:
 * nothing); else `other`.
 */
struct binding *build_member(struct parse *p, struct str *name, struct binding *other);

/* A single register; its declaration. */
u32 build_declare_register(struct parse *p, struct ir_regdecl rd);

/*
 * ---- build_private.c: registers and local variables of the module, registers with a constant
 * added ----
 */
/* Is .reg or .local allowed at module scope? If not, an error says so. */
bool build_private_allowed(struct parse *p, u32 space, struct diag_span where);
/* Bind a variable that was declared there; a family of registers is as many single ones. */
void build_private(struct parse *p, u32 var);
void build_private_family(struct parse *p, u32 count, struct diag_span where);
/* What such a name means in the function being read. */
const struct binding *build_private_here(struct parse *p, const struct binding *b);
/* Has the function being read named it? */
bool build_private_used(const struct parse *p, const struct binding *b);
/* Is it an integer register, and the instruction that adds to it. */
bool build_can_add(const struct parse *p, const struct ir_operand *op);
struct ir_operand build_sum(struct parse *p, struct ir_operand op, s64 addend);

/* ---- build_init.c: initialisers ---- */
void build_init_begin(struct parse *p, struct diag_span where);
void build_init_end(struct parse *p, struct diag_span where);
void build_init_open(struct parse *p, struct diag_span where);
void build_init_close(struct parse *p, struct diag_span where);
void build_init_number(struct parse *p, struct build_value v, struct diag_span where);
void build_init_masked(struct parse *p, u64 mask, struct build_value v, struct diag_span where);
void build_init_address(struct parse *p, u64 mask, struct diag_span where);
void build_init_field(struct parse *p, struct str *field, struct str *value, s64 number,
		      struct diag_span where);
void build_address(struct parse *p, struct str *name, const struct build_value *offset,
		   struct diag_span where);
void build_generic(struct parse *p, struct str *word, struct str *name,
		   const struct build_value *offset, struct diag_span where);

/* ---- build_func.c: functions, labels, tables ---- */
void build_function_begin(struct parse *p, bool entry, struct diag_span where);
void build_function_name(struct parse *p, struct str *name, struct diag_span where);
void build_list_begin(struct parse *p, enum build_list list);
void build_list_end(struct parse *p);
void build_perf(struct parse *p, u32 row, struct diag_span where);
void build_perf_value(struct parse *p, u32 i, struct build_value v, struct diag_span where);
void build_function_end(struct parse *p, struct diag_span where);
/* The body is read later: ptx_read_body. */
void build_body_skipped(struct parse *p, struct diag_span where);
void build_body_begin(struct parse *p, struct diag_span where);
void build_body_end(struct parse *p, struct diag_span where);
void build_scope_begin(struct parse *p, struct diag_span where);
void build_scope_end(struct parse *p, struct diag_span where);
void build_alias(struct parse *p, struct str *name, struct str *target, struct diag_span where);
void build_label_name(struct parse *p, struct str *name, struct diag_span where);
void build_label(struct parse *p);
void build_table_begin(struct parse *p, enum ir_table_kind kind);
void build_table_item(struct parse *p, struct str *name, struct diag_span where);
void build_table_range(struct parse *p, struct str *name, struct build_value count,
		       struct diag_span where);
void build_table_end(struct parse *p, struct diag_span where);
void build_prototype_begin(struct parse *p, struct diag_span where);
void build_prototype_end(struct parse *p, struct diag_span where);
void build_resolve_jumps(struct parse *p);
void build_jump(struct parse *p, struct build_jump jump);

/* ---- build_insn.c: operands and instructions ---- */
u32 build_mark(struct parse *p);
void build_push(struct parse *p, struct ir_operand op, struct diag_span where);
struct ir_operand build_name(struct parse *p, struct str *name, struct diag_span where);
struct ir_operand build_name_offset(struct parse *p, struct str *name, struct build_value offset,
				    struct diag_span where);
struct ir_operand build_indexed(struct parse *p, struct str *name, struct build_value index,
				struct diag_span where);
struct ir_operand build_constant(struct parse *p, struct build_value v, struct diag_span where);
struct ir_operand build_sink(struct parse *p);
struct ir_operand build_base(struct parse *p, struct str *name, const struct build_value *offset,
			     struct diag_span where);
struct ir_operand build_vector_end(struct parse *p, u32 mark, enum ir_operand_kind kind);
struct ir_operand build_address_end(struct parse *p, struct ir_operand base,
				    struct diag_span where);
struct ir_operand build_unified_address(struct parse *p, struct ir_operand address,
					struct diag_span where);
void build_guard(struct parse *p, struct str *name, bool negated, struct diag_span where);
void build_opcode(struct parse *p, struct str *opcode, struct diag_span where);
void build_operand(struct parse *p, struct ir_operand op, struct diag_span where, u32 flags);
/* Append `opcode d, a, b` under the guard of the instruction being read. */
void build_add(struct parse *p, const char *opcode, struct ir_operand d, struct ir_operand a,
	       struct ir_operand b);
void build_insn_end(struct parse *p, struct diag_span where);

/* ---- build_debug.c: .file, .loc, .section ---- */
void build_file(struct parse *p, struct build_value number, struct str *path,
		const struct build_value *mtime, const struct build_value *size,
		struct diag_span where);
void build_loc(struct parse *p, struct build_value file, struct build_value line,
	       struct build_value column, struct diag_span where);
void build_loc_function(struct parse *p, struct str *word, struct str *name,
			struct diag_span where);
void build_loc_inlined(struct parse *p, struct str *word, struct build_value file,
		       struct build_value line, struct build_value column, struct diag_span where);
void build_section(struct parse *p, struct str *name, struct diag_span where);
void build_section_end(struct parse *p);
void build_section_label(struct parse *p, struct str *name, struct diag_span where);
void build_section_type(struct parse *p, u32 type, struct diag_span where);
void build_section_number(struct parse *p, struct build_value v, struct diag_span where);
void build_section_address(struct parse *p, struct str *minus, s64 addend, struct diag_span where);
void build_dwarf_line(struct parse *p, const char *s, size_t n);

#endif
