/*
 * Private to src/isa: the compiled table and its compiler.
 */
#ifndef PL_ISA_INT_H
#define PL_ISA_INT_H

#include "src/base/map.h"
#include "src/isa/isa.h"

/* What a line of a .def says before its syntax is compiled. */
struct isa_source_row {
	const char *id, *syntax;
	u8 ptx;
	/*
	 * SM(n): n; ON(g): 0x8000 | index of g; UNTIL(n, s, p): n | s << 16 | p << 24; LATER: +
	 * 0x4000
	 */
	u32 target;
	u8 state, chapter;
};

struct isa_table {
	struct arena arena;
	struct isa_row rows[ISA_ROWS];
	struct isa_alt *alts;
	struct isa_range *ranges;
	u32 alts_len, ranges_len;
	struct intern names; /* first words of opcodes; user[0]: u16 list of rows, count first */
	struct map words;    /* interned word -> enum isa_word */
	struct intern word_names;
	struct map sregs;
};

#define ISA_OPCODE_WORDS 32

/* An opcode's text, split at its dots; word 0 is the mnemonic. */
struct isa_opcode {
	const char *text;
	size_t len;
	u32 words;
	u16 at[ISA_OPCODE_WORDS], size[ISA_OPCODE_WORDS];
	u16 word[ISA_OPCODE_WORDS];   /* enum isa_word; ISA_NONE: unknown */
	u16 number[ISA_OPCODE_WORDS]; /* of words with '#' */
};

/* False when there are too many words. */
bool isa_split(struct isa_opcode *op, const char *s, size_t n);
/* The rows whose name begins with the mnemonic, their number first; NULL: none. */
const u16 *isa_rows_of(const struct isa_opcode *op);
/* Put word i into the first free slot of f's row that accepts it. */
bool isa_place(const struct isa_opcode *op, u32 i, struct isa_form *f);
/* Words that need no slot. */
bool isa_may_repeat(const struct isa_opcode *op, u32 i);
bool isa_is_overlooked(const struct isa_opcode *op, u32 i, const struct isa_form *f);

/*
 * The table, compiled on first use. Aborts on a faulty row: that is a bug in the table, caught by
 * its test.
 */
const struct isa_table *isa_table(void);

/* Compile one row. Returns false and explains in `why` when the syntax line is faulty. */
/* Minimum PTX x 10 and sm that a word brings wherever it is used; 0: none. */
void isa_word_minimum(u32 word, u8 *ptx, u8 *sm);

bool isa_compile_row(struct isa_table *t, const struct isa_source_row *from, struct isa_row *row,
		     struct text *why);

#endif
