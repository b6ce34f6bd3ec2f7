/*
 * Which lane operation runs an instruction. The tables of lane operations spell the forms that each
 * serves, "add.sat.s32"; these are read once for the process, into keys: the opcode and the words
 * of the form in row order. Lowering makes the same key of a form and compares no text.
 */
#include "src/base/map.h"
#include "src/lower/lower_int.h"

#include <pthread.h>
#include <stdlib.h>

static const char *const op_texts[EXEC_OPS] = {
#define OP(id, texts, shape, expr) [OP_##id] = texts,
#include "src/uop/table/all.def"
#undef OP
};

struct find_table {
	struct map of_hash; /* key -> operation + 1 */
	u32 unread;         /* spellings that are no form */
};

static struct find_table ops;
static pthread_once_t ops_once = PTHREAD_ONCE_INIT;

void lower_key_begin(struct lower_key *k, u32 opcode)
{
	*k = (struct lower_key){.len = 1, .at = {(u16)opcode}};
}

void lower_key_add(struct lower_key *k, u32 word)
{
	if (k->len < ARRAY_LEN(k->at))
		k->at[k->len] = (u16)word;
	k->len++;
}

void lower_key_of(const struct isa_form *form, struct lower_key *k)
{
	lower_key_begin(k, isa_form_opcode(form));
	for (u32 i = 0; i < form->row->slots; i++)
		if (form->word[i])
			lower_key_add(k, form->word[i]);
}

/* Keys of more words than any form has are equal to none. */
static bool key_fits(const struct lower_key *k)
{
	return k->len <= ARRAY_LEN(k->at);
}

static u64 hash_of(const struct lower_key *k)
{
	return hash_bytes(k->at, k->len * sizeof(k->at[0]));
}

/* The opcode that the spelling begins with, the longest of them; *n: its length. */
static u32 read_opcode(const char *text, size_t len, size_t *n)
{
	for (*n = len; *n; (*n)--) {
		u32 opcode = text[*n] == '.' || *n == len ? isa_opcode_find(text, *n) : ISA_OPCODES;

		if (opcode != ISA_OPCODES)
			return opcode;
	}
	return ISA_OPCODES;
}

/* One part of a spelling after the opcode. False: it is no word. */
static bool read_word(struct lower_key *k, const char *s, size_t n)
{
	enum isa_word word = isa_word_find(s, n);
	char *end;

	if (word != ISA_NONE)
		lower_key_add(k, word);
	else if (n == 1 && *s == '*')
		lower_key_add(k, LOWER_KEY_MODE);
	else if (k->at[0] == OPCODE_lop3 && n == 2)
		lower_key_add(k, LOWER_KEY_TABLE | (u32)strtoul(s, &end, 16));
	else
		return false;
	return true;
}

static bool read_key(struct lower_key *k, const char *text, size_t len)
{
	size_t n;
	u32 opcode = read_opcode(text, len, &n);
	bool three = false;

	if (opcode == ISA_OPCODES) { /* min3, max3: operations of three values */
		size_t dot = strcspn(text, ".");

		three = dot < len && dot > 1 && text[dot - 1] == '3';
		opcode = three ? isa_opcode_find(text, dot - 1) : ISA_OPCODES;
		n = dot;
	}
	if (opcode == ISA_OPCODES)
		return false;
	lower_key_begin(k, opcode);
	if (three)
		lower_key_add(k, LOWER_KEY_THREE);
	while (n < len) {
		size_t part = strcspn(text + n + 1, ". ");

		if (!read_word(k, text + n + 1, part))
			return false;
		n += 1 + part;
	}
	return key_fits(k);
}

static void read_texts(void)
{
	for (u32 i = 0; i < EXEC_OPS; i++) {
		const char *p = op_texts[i] ? op_texts[i] : "";

		while (*p) {
			size_t n = strcspn(p, " ");
			struct lower_key k;

			if (!read_key(&k, p, n) || !map_set(&ops.of_hash, hash_of(&k), i + 1))
				ops.unread++;
			p += n + (p[n] == ' ');
		}
	}
}

enum exec_op lower_find_op(const struct lower_key *k)
{
	const u64 *at;

	pthread_once(&ops_once, read_texts);
	at = key_fits(k) ? map_get(&ops.of_hash, hash_of(k)) : NULL;
	return at ? (enum exec_op)(*at - 1) : EXEC_OPS;
}

u32 lower_unread_ops(void)
{
	pthread_once(&ops_once, read_texts);
	return ops.unread;
}

bool lower_is_arithmetic(const struct isa_form *form)
{
	switch (form->row->chapter) {
	case ISA_CH_int:
	case ISA_CH_float:
	case ISA_CH_half:
	case ISA_CH_cmp:
	case ISA_CH_logic:
	case ISA_CH_cvt:
	case ISA_CH_move:
		return true;
	default:
		return false;
	}
}
