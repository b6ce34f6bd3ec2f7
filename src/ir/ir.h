/*
 * The module as parsed: variables, functions, instructions with resolved operands. Everything later
 * (linking, lowering, printing, the debugger) reads this. Knows nothing of text; grammar/ builds
 * it, src/ir checks and prints it.
 *
 * Ownership: a module owns one arena with all of it, strings included. Source text is borrowed.
 * Indices, not pointers, join the parts, so structures stay small: a register is an index into its
 * function's `regs`, a variable into the module's `vars`, a function into `funcs`. Source: PTX ISA
 * "Syntax", "State Spaces, Types, and Variables", "Instruction Operands".
 */
#ifndef PL_IR_H
#define PL_IR_H

#include "src/base/diag.h"
#include "src/base/intern.h"
#include "src/base/vec.h"
#include "src/isa/isa.h"

#define IR_NONE UINT32_MAX
#define IR_DIMS 8

/* What an operand is; the fields of struct ir_operand that matter follow. */
enum ir_operand_kind {
	IR_OP_NONE,
	/*
	 * index: register of the function; part: component of a vector register or video selector
	 */
	IR_OP_REG,
	IR_OP_SREG,     /* index: enum isa_sreg_id; part: component */
	IR_OP_INT,      /* imm; type T_s64 or T_u64 */
	IR_OP_FLOAT,    /* imm: bits; type T_f64 (decimal or 0d) or T_f32 (0f) */
	IR_OP_VAR,      /* address of a variable: index, imm = byte offset */
	IR_OP_FUNC,     /* address of a function: index */
	IR_OP_LABEL,    /* index: label of the function */
	IR_OP_TABLE,    /* index: branch targets, call targets or prototype of the function */
	IR_OP_SINK,     /* _ */
	IR_OP_VEC,      /* {..}: index = first in the function's operand pool, imm = how many */
	IR_OP_ADDR_REG, /* [reg + imm] */
	IR_OP_ADDR_VAR, /* [var + imm] */
	IR_OP_ADDR_INT, /* [imm] */
	IR_OP_COMPOUND, /* [a, b, ..]: tensor, texture, surface address; index, imm as IR_OP_VEC */
	IR_OP_LIST,     /* (..): call arguments and results; index, imm as IR_OP_VEC */
	IR_OP_NAME,     /* not resolved (yet): index into the module's `names` */
};

enum ir_operand_flag {
	IR_NOT = 1,     /* !p */
	IR_NEG = 2,     /* -r, video instructions */
	IR_BAR = 4,     /* joined by | to the operand before it */
	IR_UNIFIED = 8, /* [..].unified */
	IR_INDEXED =
		16,    /* var[i]: an address when the instruction wants one, else the value of it */
	IR_HEX = 32,   /* floating-point constant written as bits */
	IR_PAREN = 64, /* constant written in parentheses */
};

/* Components and selectors after a register: %tid.x, V.w, %r1.h0. */
enum ir_part {
	IR_PART_NONE,
	IR_PART_X,
	IR_PART_Y,
	IR_PART_Z,
	IR_PART_W,
	IR_PART_BYTES,  /* .b0, .b3210: imm = digits as hexadecimal | count << 16 */
	IR_PART_HALVES, /* .h1, .h10: likewise */
};

struct ir_operand {
	u8 kind, flags, type, part;
	u32 index;
	s64 imm;
};

struct ir_insn {
	/* NULL: poison, executing it faults; its text is in the function's `poisons` */
	const struct isa_form *form;
	u32 first_op; /* in the function's operand pool */
	u16 ops;
	u8 guard_not; /* @!p */
	u8 pad;
	u32 guard; /* predicate register, IR_NONE: none */
	u32 loc;   /* index in the module's `locs`, IR_NONE: none */
	u32 begin; /* byte offset of the opcode in the source */
};

/* ISA_OPCODES: poison. */
static inline enum isa_mnemonic ir_opcode(const struct ir_insn *in)
{
	return in->form ? isa_form_opcode(in->form) : ISA_OPCODES;
}

/* Does the instruction write its operand i? */
static inline bool ir_insn_writes(const struct ir_insn *in, u32 i)
{
	return in->form && i < in->form->row->operands &&
	       in->form->row->operand[i].role & ISA_WRITE;
}

/* One name or family of a .reg declaration: `%r<100>` has count 100, `x` has count 0. */
struct ir_regdecl {
	struct str *name; /* the part before the number */
	u32 count;
	bool family;  /* `%r<0>` has no members */
	u8 type, vec; /* vec: 1, 2 or 4 components */
	/* the function's own one of a register at module scope: not declared in the body */
	bool of_module;
	u32 scope;
	u32 begin; /* source offset of the name */
};

struct ir_reg {
	u32 decl;
	u32 number; /* of a family member; unused for single names */
	u8 type, vec;
};

struct ir_label {
	struct str *name;
	u32 scope;
	u32 insn; /* the instruction it stands before; may be the end */
	u32 begin;
};

enum ir_table_kind { IR_BRANCH_TARGETS, IR_CALL_TARGETS, IR_PROTOTYPE };

struct ir_func;

struct ir_table {
	struct str *name;
	u32 scope;
	u8 kind;
	u32 len;
	u32 *at;               /* labels or functions */
	struct ir_func *proto; /* IR_PROTOTYPE: parameters and results only */
	u32 begin;             /* source offset of the name */
};

/* A { } in a body. Scope 0 is the body itself. */
struct ir_scope {
	u32 parent;
	u32 first_insn, end_insn;
	u32 begin, end; /* source offsets of the braces */
	bool closed;    /* read to the end */
};

/* .pragma: of a statement, or of the whole function when it stands before the body. */
struct ir_pragma {
	struct str *text;
	u32 begin;
};

struct ir_poison {
	u32 insn;
	const char *text;   /* the statement as written */
	const char *reason; /* "unknown instruction 'foo.b32'" */
};

enum ir_linkage { IR_LOCAL, IR_EXTERN, IR_VISIBLE, IR_WEAK, IR_COMMON };

/* An address inside initial data: the value of symbol + addend is stored at `at`. */
struct ir_reloc {
	u32 at;       /* byte offset in the variable */
	u8 size;      /* bytes stored */
	u8 shift;     /* byte-mask operator: right shift before storing (0, 8, .. 56) */
	bool masked;  /* byte-mask operator: only the lowest byte is left after the shift */
	bool generic; /* generic(sym) */
	bool is_func;
	u32 index; /* in the module's vars or funcs */
	s64 addend;
};

struct ir_var {
	struct str *name;
	/* M_global, M_const, M_shared, M_local, M_param, M_reg (parameters; at module scope) */
	u16 space;
	u8 type, vec, linkage;
	bool is_array, unsized, managed, unified, ptr, has_init;
	bool of_module; /* the function's own one of a .local variable at module scope */
	u16 ptr_space;  /* .ptr .space, ISA_NONE: generic */
	u32 ptr_align;
	u32 align; /* bytes, power of two; never 0 */
	u32 dims;
	u64 dim[IR_DIMS];
	u64 size_bytes; /* 0 for unsized */
	u8 *data;       /* the first data_len initial bytes, the others are zero; NULL: all are */
	u64 data_len;
	struct ir_reloc *relocs;
	u32 relocs_len;
	u64 unified_id[2];
	/* `= { field = value, .. }` of opaque types: pairs of names or NULL */
	struct str **sampler_fields;
	s64 *sampler_values;
	u32 sampler_len;
	u32 func; /* owner, IR_NONE for module scope */
	u32 scope;
	u32 reg;      /* .reg parameters: their register */
	u32 begin;    /* source offset of the name */
	u32 declared; /* the same of its first declaration, when an .extern stands before it */
	struct ir_var
		*definition; /* after linking: where an .extern is defined; itself otherwise */
};

enum ir_perf {
	IR_MAXNTID,
	IR_REQNTID,
	IR_MINNCTAPERSM,
	IR_MAXNCTAPERSM,
	IR_MAXNREG,
	IR_REQNCTAPERCLUSTER,
	IR_MAXCLUSTERRANK,
	IR_EXPLICITCLUSTER,
	IR_BLOCKSARECLUSTERS,
	IR_NORETURN,
	IR_ABI_PRESERVE,
	IR_ABI_PRESERVE_CONTROL,
	IR_PERFS
};

struct ir_func {
	struct str *name;
	u32 index;
	u8 linkage;
	bool is_entry, has_body, variadic;
	u32 params_len, rets_len;
	u32 *params, *rets; /* variables of space .param or .reg, in order */
	bool has_perf[IR_PERFS];
	u32 perf[IR_PERFS][3]; /* x, y, z or one number in [0] */
	struct str *alias_of;  /* .alias */
	VEC(struct ir_insn) insns;
	VEC(struct ir_operand) operands;
	VEC(struct ir_regdecl) regdecls;
	VEC(struct ir_reg) regs;
	VEC(struct ir_label) labels;
	VEC(struct ir_table) tables;
	VEC(struct ir_scope) scopes;
	VEC(struct ir_poison) poisons;
	VEC(u32) vars; /* variables declared inside */
	VEC(struct ir_pragma) pragmas;
	u32 begin;    /* source offset of the name */
	u32 declared; /* the same of its first declaration */
	bool unified; /* .attribute(.unified(..)) */
	u64 unified_id[2];
	u32 later; /* its body has not been read yet (ptx_read_body); 0: it has, or there is none */
	struct ir_func *definition;
};

static inline const struct ir_operand *ir_insn_operand(const struct ir_func *f,
						       const struct ir_insn *in, u32 i)
{
	return &f->operands.at[in->first_op + i];
}

/* .loc: source position of the instructions that follow. */
struct ir_loc {
	u32 file, line, column;
	u32 inlined_at;       /* index in locs, IR_NONE: not inlined */
	struct str *function; /* label in .debug_str, NULL: none */
	s64 function_offset;
	u32 begin;
};

struct ir_file {
	u32 number;
	const char *path;
	u64 mtime, size;
	bool has_mtime, is_toolkit; /* the latter: ir_is_toolkit_path */
};

/* A DWARF section: bytes, with places where labels or symbols are added. */
struct ir_section_reloc {
	u32 at;
	u8 size;
	struct str *plus, *minus; /* value = plus - minus + addend; minus may be NULL */
	s64 addend;
};

struct ir_section {
	struct str *name; /* ".debug_info" */
	VEC(u8) bytes;
	VEC(struct ir_section_reloc) relocs;
	VEC(struct ir_label) labels; /* insn = byte offset */
};

struct ir_module {
	struct arena arena;
	struct intern names_table;
	struct diag_source source;
	u32 *line_breaks; /* in the text before each 4 KiB; made when first asked for: ir_line_of */
	u32 version;      /* x 10 */
	struct isa_target target;
	const char *target_text; /* "sm_90a, debug" */
	bool texmode_independent, debug, map_f64_to_f32;
	u32 address_size; /* 32 or 64 */
	VEC(struct ir_var *) vars;
	VEC(struct ir_func *) funcs;
	VEC(struct ir_func *)
	owned; /* every function ever begun: declarations, prototypes, broken ones */
	VEC(struct ir_loc) locs;
	VEC(struct ir_file) files;
	VEC(struct ir_section *) sections;
	VEC(struct str *) pragmas;
	VEC(struct str *) names;       /* texts of IR_OP_NAME */
	VEC(const char *) dwarf_lines; /* @@DWARF */
};

struct ir_module *ir_module_new(const struct diag_source *source, size_t memory_limit);
void ir_module_free(struct ir_module *m);

/*
 * First variable or function of that name at module scope (any linkage), NULL when there is none.
 */
struct ir_var *ir_find_var(const struct ir_module *m, const char *name);
struct ir_func *ir_find_func(const struct ir_module *m, const char *name);

/* Why an instruction does not fit a form. */
struct ir_mismatch {
	u32 operand; /* of the instruction, from 0; past the end: missing */
	u32 score;   /* twice the operands that fit before it, and 1 when it is of the right kind */
	char text[192];
};

/*
 * Do these operands fit the form? Vectors are looked up in f's operand pool. Names not yet resolved
 * count as labels. Returns true, or false with the reason in `why`. Source: PTX ISA "Type
 * Information for Instructions and Operands", checked against ptxas 13.0.
 */
bool ir_check_insn(const struct ir_module *m, const struct ir_func *f, const struct isa_form *form,
		   const struct ir_operand *ops, u32 n, struct ir_mismatch *why);
/*
 * PTX version x 10 and target that form and operands need: optional operands and special registers
 * may need more.
 */
void ir_insn_minima(const struct ir_func *f, const struct isa_form *form,
		    const struct ir_operand *ops, u32 n, u32 minima[2]);
/*
 * Of operands that fit: does every element of a vector fit by itself too, and are vectors as long
 * as the form says? ptxas accepts some that do not, such as predicates among integers; the manual
 * does not define those.
 */
bool ir_check_plain(const struct ir_module *m, const struct ir_func *f, const struct isa_form *form,
		    const struct ir_operand *ops, u32 n);
/* Is it one value in braces where a value without them is meant? */
bool ir_check_needless_braces(const struct isa_form *form, const struct isa_operand *o,
			      const struct ir_operand *op);
/*
 * The operand of the row that operand `i` of an instruction of this form fills, NULL for operands
 * of call.
 */
const struct isa_operand *ir_operand_spec(const struct isa_form *form, const struct ir_operand *ops,
					  u32 n, u32 i);

/* Name of a register as declared: "%r12". Valid until the buffer is reused. */
const char *ir_reg_name(const struct ir_func *f, u32 reg, char *buffer, size_t size);

/* Print a module as PTX that parses to the same module. */
void ir_print_module(const struct ir_module *m, struct text *out);
/* One instruction, without guard indentation or newline: "@%p1 add.s32 %r1, %r2, 5;". */
void ir_print_insn(const struct ir_module *m, const struct ir_func *f, const struct ir_insn *in,
		   struct text *out);
/*
 * One line per instruction: row, then every operand with its role, type and count (`ptxloom lint
 * --dump`).
 */
void ir_dump_module(const struct ir_module *m, struct text *out);

/*
 * Are the two modules the same but for source offsets? For tests of the printer. On a difference
 * returns false and says where in `why`.
 */
bool ir_equal(const struct ir_module *a, const struct ir_module *b, struct text *why);

/*
 * Link units: every .extern variable and function gets its `definition` from another unit's
 * .visible, .weak or .common one; double definitions and missing ones are errors on `d`. Names
 * resolved by the host or device runtime are passed in `allowed` (NULL-terminated, may be NULL).
 * Returns false on errors. IR_LINK_WHOLE: the units are a whole program. As ptxas does, a missing
 * variable whose size is declared becomes a definition, with a warning.
 */
enum ir_link_mode { IR_LINK_PARTS, IR_LINK_WHOLE };
bool ir_link(struct ir_module *const *units, size_t n, enum ir_link_mode mode,
	     const char *const *allowed, struct diag *d);

#endif
