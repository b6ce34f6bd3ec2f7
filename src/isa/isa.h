/*
 * The instruction table: every form of every PTX instruction as a row, and the lookup from text to
 * row. Knows opcodes, modifiers, types, operand roles, versions and targets; nothing about modules
 * or execution.
 *
 * A row is one line of insn/<chapter>.def:
 *
 *     INSN(id, "syntax", minimum PTX x 10, target, state)
 *
 * state: LINT = parsed and checked; MULTICAST, FABRIC = the same, as emulated devices have no
 * multicast objects or no fabric; RUN(rule) = executed too: lower_<rule> makes micro-ops of it
 * (src/lower/rules). target: SM(n): any target from sm_n on; ON(group): only the
 * architecture-specific targets of that group in targets.def; UNTIL(n, gone_sm, gone_ptx): from
 * sm_n on, but a legacy form that is gone when the target is at least sm_<gone_sm> and the version
 * at least <gone_ptx> (x 10); LATER(n, sm, ptx): from sm_n on, but on targets below sm only from
 * version ptx (x 10) on.
 *
 * The syntax line reads like the manual's, "opcode modifiers operands":
 *
 *   opcode      `add`, or several with equal rows: `(add|sub|mul)`. A `~` ends a compound opcode,
 *               whose words must stand together and in order: `mul.lo~`,
 *               `mbarrier.try_wait.parity~`, `cp.async.bulk~`.
 *   .word       a modifier that must be there           {.word}     one that may be there
 *   .(a|b)      one of these must be there
 *   {.(a|b)}    at most one of these may be there
 *   {.x.y}      both or none
 *   .<NAME>     a set of sets.def, inside or instead of a list: .<INT>, .(pred|<BITS>)
 *   {.(@2.0|a)} at most one, and when there is none PTX 2.0 is needed
 *   a@7.8+90    alternative `a` needs PTX 7.8 and sm_90 at least, instead of what the word needs by
 *               itself
 *   m64n#k16[8..256/8]   a word with a number: allowed range and step; several ranges are joined by
 *                        `,`
 *
 * Modifiers are a bag: ptxas accepts them in any order. Only words of the same kind keep their
 * order, so the slots of types are filled from left to right: they are called T, U, V, W, X in the
 * operands.
 *
 *   d=T         register written, of type T             a:T         register or constant read
 *   a~T         register read and written               a:%T        register only, no constant
 *   d=TT        type twice as wide as T                 b:u32       fixed type
 *   a:T/2#2     bits of half (/4: a quarter of) the size of T: elements of a vector packed into one
 *               T
 *   d=T+        the register may be wider than T (ld, st, cvt); a float then in a register of bits
 *   r:%b32*     only a register of bits: no .u32, .s32 or .f32
 *   a:T$        a special register may stand instead, read as T
 *   m:%b32^     any register of that size, a predicate for 32 bits too, and any constant: ptxas
 *               checks no further
 *   a:u32&(0..15)  only the low 32 bits of a constant count for its range
 *   d=T?        `_` may stand instead                   c:!pred     predicate, `!` allowed
 *   a:-T        `-` may precede the register (video)
 *   a:T.sel     a video selector may follow the register: .sel .b0 ... .b3 .h0 .h1; .mask2 .h0 .h1
 *               .h10; .mask4 .b0 .b1 .b10 ... .b3210 (falling); .lane2 .hXY, X and Y 0..3; .lane4
 *               .bWXYZ, each 0..7
 *   d=u32{|p=pred}   second destination after a bar, optional; `d=u32|p=pred`: mandatory
 *   a:T#4       vector of 4: {a,b,c,d} or a vector register; #v: as many as the .v2/.v4/.v8
 *               modifier says, one plain register without it; #x: by .x1/.x2/...; #n: the number in
 *               the m64n#k.. word; #g: by geometry (1d 1, 2d 2, ...); #t: the same for texels,
 *               whose three coordinates fill a vector of 4; #c: 1 or 2 by .cta_group; #l: any
 *               number, braces or not; a factor or an offset may follow: #n/2, #x*4, #g-2. #g of
 *               one may be in braces or plain; #1, #x, #n and #c need the braces even for one.
 *   a:u32(32|64)   a constant here must be one of these; a:u16#2(0|2)(0..3): constants of the first
 *                  element, and
 *               of those after it
 *   [m~]        address, whose brackets may be missing
 *   [a]         address; its state space is the first space modifier, none = generic. [a:2]: the
 *               second space modifier. [a:shared]: a fixed space
 *   [a:tensor#g]  tensor map address [map, {c0, ...}]
 *   [a:tex#g:U] texture address [tex{, sampler}, {coordinates of type U}]
 *   [a:surf#g]  surface address [surf, {coordinates}]
 *   [a:tex] [a:surf]   the texture or surface alone
 *   [a:tmem]    tensor memory: a 32-bit integer register with offset, no name, no constant;
 *               [a:tmem:b32]: a .b32 register, no .u32 nor .s32
 *   [a:handle]  place in a fabric: [.b32 register, .b64 register]; [a:handle#3]: a third register,
 *               .b64
 *   n:imm       integer constant; n:imm(0..15), n:imm(4|8|16): range or list, `/8` step after a
 *               range
 *   L:label  F:func  K:entry (a kernel's name)  T:targets  P:proto    names of those things
 *   c:call      everything after `call`
 *   s:sreg      special register
 *   a:sym       name of a variable or function, with offset
 *   d=sink      `_`: the instruction has no result here
 *   {, e:T}     operand that may be missing
 *   {, e:T @word}   there exactly if the modifier is
 *   {, e:T @7.1+60}  needs PTX 7.1 and sm_60 when it is there; also {|p=pred @7.1+60}
 *
 * Threads: the compiled table is made once and constant; caches belong to one parser.
 */
#ifndef PL_ISA_H
#define PL_ISA_H

#include "src/base/intern.h"
#include "src/base/text.h"

/* Types first, then modifiers, so that `word < ISA_TYPES` asks for a type. */
enum isa_word {
	ISA_NONE = 0,
#define TYPE(name, bits, class, declarable) T_##name,
#include "src/isa/types.def"
#undef TYPE
	ISA_TYPES,
	ISA_TYPES_END = ISA_TYPES - 1,
#define MOD(ident, text, kind, ptx, sm) M_##ident,
#include "src/isa/modifiers.def"
#undef MOD
	ISA_WORDS
};

enum isa_kind {
#define MODKIND(name) ISA_K_##name,
#include "src/isa/modkinds.def"
#undef MODKIND
	ISA_KINDS
};

enum isa_class { ISA_PRED, ISA_BITS, ISA_UINT, ISA_SINT, ISA_FLOAT, ISA_ALT, ISA_OPAQUE };

enum isa_state { ISA_LINT, ISA_MULTICAST, ISA_FABRIC, ISA_RUN };

/* "cp.async.bulk" is OPCODE_cp_async_bulk. */
enum isa_mnemonic {
#define OPCODE(ident, text) OPCODE_##ident,
#include "src/isa/opcodes.def"
#undef OPCODE
	ISA_OPCODES
};

enum isa_row_id {
#define INSN(id, syntax, ptx, target, state) I_##id,
#include "src/isa/insn/all.def"
#undef INSN
	ISA_ROWS
};

enum isa_chapter {
#define CHAPTER(name, title) ISA_CH_##name,
#include "src/isa/insn/chapters.def"
#undef CHAPTER
	ISA_CHAPTERS
};

#define ISA_SLOTS 16 /* modifiers a row may have */
#define ISA_OPERANDS 16
#define ISA_TYPE_SLOTS 6

/*
 * A texture, sampler or surface given by a register instead of its name needs this PTX version x
 * 10.
 */
#define ISA_BINDLESS_PTX 31

/* What an operand may be. */
enum isa_operand_kind {
	ISA_OP_VALUE,   /* register, vector, constant of `type` */
	ISA_OP_ADDRESS, /* [..] in `space` */
	ISA_OP_TENSOR,  /* [map, {coordinates}] */
	ISA_OP_TEX,     /* [tex{, sampler}, {coordinates}] */
	ISA_OP_SURF,    /* [surf, {coordinates}] */
	ISA_OP_IMM,     /* integer constant */
	ISA_OP_LABEL,
	ISA_OP_FUNC,
	ISA_OP_TARGETS,
	ISA_OP_PROTO,
	ISA_OP_CALL,
	ISA_OP_SREG,   /* special register */
	ISA_OP_SYMBOL, /* variable or function name */
	ISA_OP_ENTRY,  /* name of a kernel */
	ISA_OP_SINK,   /* `_` and nothing else */
	ISA_OP_TMEM,   /* [register + offset] in tensor memory */
	ISA_OP_HANDLE, /* [endpoint, offset{, offset of a counter}] in a fabric: registers */
};

enum isa_role { ISA_READ = 1, ISA_WRITE = 2 };

/* Video selectors an operand may have. */
enum isa_select {
	ISA_SEL_NONE,
	ISA_SEL_SUBWORD,
	ISA_SEL_MASK2,
	ISA_SEL_MASK4,
	ISA_SEL_LANE2,
	ISA_SEL_LANE4
};

/* Where the number of vector elements comes from: value = base * mul / div - less. */
enum isa_count {
	ISA_COUNT_FIXED,
	ISA_COUNT_VEC,
	ISA_COUNT_X,
	ISA_COUNT_NUMBER,
	ISA_COUNT_GEOM,
	ISA_COUNT_CTA,
	ISA_COUNT_TEXEL,
	ISA_COUNT_LOOSE
};

struct isa_range {
	s64 lo, hi, step;
};

struct isa_operand {
	char name[8];
	u8 kind;        /* enum isa_operand_kind */
	u8 role;        /* enum isa_role bits; addresses are read */
	u8 type;        /* fixed type, or ISA_NONE when it comes from a slot */
	u8 type_slot;   /* 0..5: T U V W X Y */
	bool twice;     /* type twice as wide as the slot's */
	u8 narrow;      /* 2, 4: bits of that part of the slot's size; 0: the type itself */
	bool wider;     /* the register may be wider */
	bool wraps;     /* only the low 32 bits of a constant are compared with `ranges` */
	bool special;   /* a special register may stand here */
	bool any;       /* any register of the size and any constant */
	bool bare;      /* addresses: brackets may be missing */
	bool bits_only; /* the register must be of a bit type */
	bool sink;      /* `_` may stand here */
	bool negate;    /* `!` may precede */
	bool minus;     /* `-` may precede */
	bool register_only;
	bool bar;      /* joined to the operand before it by `|` */
	bool optional; /* may be missing; with `only_with`: there exactly if the modifier is */
	bool braces;   /* a #count was given: braces needed even for one, but for #g only allowed */
	u8 count_from; /* enum isa_count */
	u8 mul, div, less;
	u8 select;     /* enum isa_select */
	u8 space_slot; /* addresses: 1, 2: which space modifier; 0: `space` */
	u16 space;     /* fixed M_ word or ISA_NONE */
	u16 only_with; /* M_ word or ISA_NONE */
	u8 ptx, sm;    /* minimum when an optional operand is there, 0 none */
	u16 first_range,
		ranges; /* allowed constants, of a vector: of its first element; none: any */
	u16 rest_range,
		rest_ranges; /* allowed constants of the other elements of a vector; none: any */
};

struct isa_alt {
	u16 word;
	u8 ptx; /* minimum PTX x 10 from `@`, 0 none */
	u8 sm;
	u16 first_range, ranges; /* of the number in the word */
};

struct isa_slot {
	u16 first_alt, alts;
	bool optional;
	u8 group;   /* slots of one {.x.y} share a number; 0: alone */
	u8 ptx, sm; /* minimum when the slot stays empty, 0 none */
};

struct isa_row {
	const char *id;     /* "add_int" */
	const char *syntax; /* as written in the table */
	const char *hint;   /* for messages: roles stripped, sets written out */
	u16 row;            /* enum isa_row_id */
	u8 chapter, state;
	u8 ptx;   /* minimum x 10 */
	u8 sm;    /* minimum, 0 when `group` decides */
	u8 group; /* index + 1 into the target groups, 0: none */
	/* some operand is `any`, `bare` or loose: what is accepted need not be meaningful */
	bool lax;
	/* legacy form: illegal for targets from gone_sm on in versions from gone_ptx on */
	u8 gone_sm, gone_ptx;
	/* targets below sm_<late_sm> have it from version late_ptx on; 0 0: no such rule */
	u8 late_sm, late_ptx;
	u8 names;                /* how many opcodes share the row */
	const char *const *name; /* "add", "mul.lo" */
	const u16 *opcode;       /* enum isa_mnemonic of each name */
	u8 slots, operands;
	const struct isa_slot *slot;
	const struct isa_operand *operand;
};

/* One opcode text matched to one row: shared by all instructions with the same text. */
struct isa_form {
	const struct isa_row *row;
	const struct isa_form
		*next;           /* further rows that the text matches, told apart by operands */
	void *user;              /* for lowering: a cache slot */
	u8 name;                 /* which of row->name */
	u8 types;                /* filled type slots */
	u8 type[ISA_TYPE_SLOTS]; /* T_ words, left to right */
	u8 ptx;                  /* minimum of row and modifiers, x 10 */
	u8 sm;
	u16 number;          /* of the word with '#', else 0 */
	u16 word[ISA_SLOTS]; /* per slot of the row, ISA_NONE when absent */
};

/* A `.target`: sm_90a is {90, 'a'}. */
struct isa_target {
	u16 sm;
	char variant; /* 0, 'a' or 'f' */
};

/*
 * Rows in table order; NULL when `row` is out of range. Compiles the table on first use; never
 * fails.
 */
const struct isa_row *isa_row(u32 row);
const char *isa_chapter_title(u32 chapter);

/*
 * Words. isa_word_find returns ISA_NONE for an unknown word; it does not know words with numbers.
 */
enum isa_word isa_word_find(const char *s, size_t n);
const char *isa_word_text(u32 word);
enum isa_kind isa_word_kind(u32 word);
u32 isa_type_bits(u32 type);
enum isa_class isa_type_class(u32 type);
bool isa_type_declarable(u32 type);

const struct isa_range *isa_ranges(u32 first);
const struct isa_alt *isa_alts(u32 first);

/* The opcode with this text, ISA_OPCODES: there is none. */
enum isa_mnemonic isa_opcode_find(const char *s, size_t n);
/*
 * All rows that the opcode text (without guard and operands, e.g. "ld.global.v4.f32") matches,
 * first the one that comes first in the table. Forms are allocated in `arena` and cached in
 * opcode->user[1] by the caller. Returns NULL when no row matches, or when memory is out.
 */
const struct isa_form *isa_match(struct arena *arena, const char *opcode, size_t n);

/* Why isa_match found nothing. */
struct isa_complaint {
	struct text text;  /* "unknown modifier '.s33' of 'add'; did you mean '.s32'?"; owned */
	struct text words; /* the message of ptxas; owned, may be empty */
	const struct isa_row *row; /* whose hint helps, or NULL */
	u32 begin, end; /* the part of the opcode that is meant; a modifier with its dot */
};

/* Fills *c, which isa_complaint_fini frees. */
void isa_explain(const char *opcode, size_t n, struct isa_complaint *c);
void isa_complaint_fini(struct isa_complaint *c);
/* A mnemonic that is spelled much like this one, up to a dot or the end; NULL: none. */
const char *isa_near_mnemonic(const char *s, size_t n);
/* A special register that is spelled much like this one, NULL: none. */
const struct isa_sreg *isa_near_sreg(const char *s, size_t n);

static inline enum isa_mnemonic isa_form_opcode(const struct isa_form *f)
{
	return f->row->opcode[f->name];
}

static inline bool isa_form_has(const struct isa_form *f, u32 word)
{
	for (u32 i = 0; i < f->row->slots; i++)
		if (f->word[i] == word)
			return true;
	return false;
}

/* The n-th (from 0) word of this kind, or ISA_NONE. */
u32 isa_form_word(const struct isa_form *f, enum isa_kind kind, u32 n);

/*
 * Type of an operand of a form; ISA_NONE when it has none. Only twice-as-wide types need a lookup.
 */
u32 isa_operand_type(const struct isa_form *f, const struct isa_operand *o);
/* Vector elements of an operand of a form: 1 for scalars. */
u32 isa_operand_count(const struct isa_form *f, const struct isa_operand *o);
/* Space word of an address operand of a form: M_global ..., ISA_NONE = generic. */
u32 isa_operand_space(const struct isa_form *f, const struct isa_operand *o);

/* Targets. "sm_90a", "compute_75". Returns false when unknown. */
bool isa_target_find(const char *s, size_t n, struct isa_target *out);
/* Minimum .version x 10 for a target. */
u32 isa_target_ptx(struct isa_target t);
/* Does the target satisfy the row (and the form's modifiers)? */
bool isa_form_on_target(const struct isa_form *f, struct isa_target t);
/* Is the form a legacy one that this target in this version (x 10) no longer has? */
bool isa_form_gone(const struct isa_form *f, struct isa_target t, u32 ptx10);
/*
 * Did the form come later to this target than to others, and is this version (x 10) too old for it?
 */
bool isa_form_late(const struct isa_form *f, struct isa_target t, u32 ptx10);
/* "sm_90 or higher", "sm_90a", "sm_100f, sm_100a, ...": what the form needs, for messages. */
void isa_form_target_text(const struct isa_form *f, struct text *out);
/* Known PTX version (x 10)? The newest: */
#define PTX_NEWEST 93u
bool isa_version_known(u32 ptx10);

/* What the value of a special register depends on. */
enum isa_varies { ISA_LAUNCH, ISA_CTA, ISA_LANE, ISA_TIME };

/* Special registers: rows of sregs.def. */
struct isa_sreg {
	const char *name; /* "%tid" */
	u8 type;          /* T_ of one component */
	u8 components;    /* 1, or 4 for .x .y .z .w */
	u8 ptx, sm;
	u8 varies; /* enum isa_varies */
};

enum isa_sreg_id {
#define SREG(ident, name, type, components, varies, ptx, sm) SR_##ident,
#include "src/isa/sregs.def"
#undef SREG
	ISA_SREGS
};

/* NULL when no special register has that name (with its %). */
const struct isa_sreg *isa_sreg_find(const char *s, size_t n);
const struct isa_sreg *isa_sreg(u32 id);
enum isa_varies isa_sreg_varies(u32 id);

#endif
