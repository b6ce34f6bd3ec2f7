/*
 * Why an opcode matches no row. Each row with its mnemonic is tried as far as it goes and gets a
 * price for what does not fit; the cheapest one is the one that was meant. Where the spelling of a
 * word is near to one that the row accepts there, it was meant, too.
 */
#include "src/isa/isa_int.h"

#include "src/base/nearest.h"

/*
 * Prices. A type says more about what was meant than any modifier; an unknown word is wrong in
 * each row, and says nothing.
 */
enum { PRICE_NEAR = 1, PRICE_MISSING = 2, PRICE_WRONG = 3, PRICE_TYPE = 6, PRICE_LEGACY = 4 };

/* One row, and what is wrong with the opcode if that is the one. */
struct attempt {
	const struct isa_row *row;
	u32 price, name;  /* name: which of the row's */
	u32 wrong;        /* the first word that does not fit, 0: none */
	const char *near; /* what it may have meant, or NULL */
	size_t near_len;
	u32 missing;              /* how many that must be there are not */
	const char *missing_name; /* the first one, if it is a part of the row's name, else NULL */
	u32 missing_slot;
};

static void complain(struct attempt *a, u32 word, u32 price, const struct nearest *n)
{
	a->price += price;
	if (a->wrong)
		return;
	a->wrong = word;
	a->near = n ? n->best : NULL;
	a->near_len = a->near ? strcspn(a->near, ".") : 0;
}

/* The nearest of the words that the row's free slots take. */
static void offer_slots(const struct isa_form *f, struct nearest *n)
{
	for (u32 k = 0; k < f->row->slots; k++) {
		const struct isa_alt *alt = isa_alts(f->row->slot[k].first_alt);

		for (u32 i = 0; i < f->row->slot[k].alts && !f->word[k]; i++)
			nearest_offer(n, isa_word_text(alt[i].word),
				      strlen(isa_word_text(alt[i].word)));
	}
}

/* The dotted words of the row's name. Returns the first word of the opcode after it. */
static u32 try_name(const struct isa_opcode *op, const char *name, struct attempt *a)
{
	const char *part = strchr(name, '.');
	u32 at = 1;

	for (; part; part = strchr(part, '.')) {
		size_t n = strcspn(++part, ".");
		struct nearest near;

		if (at < op->words && op->size[at] == n &&
		    !memcmp(op->text + op->at[at], part, n)) {
			at++;
			continue;
		}
		nearest_init(&near, op->text + op->at[at < op->words ? at : 0],
			     at < op->words ? op->size[at] : 0);
		if (at < op->words && !op->word[at])
			nearest_offer(&near, part, n);
		if (near.best) {
			complain(a, at++, PRICE_NEAR, &near);
			continue;
		}
		a->price += PRICE_MISSING;
		if (!a->missing++)
			a->missing_name = part;
	}
	return at;
}

static void try_words(const struct isa_opcode *op, u32 first, struct isa_form *f, struct attempt *a)
{
	bool lost[ISA_OPCODE_WORDS] = {false};

	for (u32 i = first; i < op->words; i++)
		lost[i] = !op->word[i] || (!isa_place(op, i, f) && !isa_may_repeat(op, i) &&
					   !isa_is_overlooked(op, i, f));
	for (u32 i = first; i < op->words; i++) {
		struct nearest near;

		if (!lost[i])
			continue;
		nearest_init(&near, op->text + op->at[i], op->size[i]);
		if (!op->word[i])
			offer_slots(f, &near);
		complain(a, i,
			 near.best                                ? PRICE_NEAR
			 : op->word[i] && op->word[i] < ISA_TYPES ? PRICE_TYPE
								  : PRICE_WRONG,
			 &near);
	}
}

static void try_row(const struct isa_opcode *op, const struct isa_row *row, u32 name,
		    struct attempt *a)
{
	struct isa_form f = {.row = row, .name = (u8)name};
	u32 first;

	*a = (struct attempt){.row = row, .name = name, .price = row->gone_ptx ? PRICE_LEGACY : 0};
	first = try_name(op, row->name[name], a);
	try_words(op, first, &f, a);
	for (u32 k = 0; k < row->slots; k++) {
		bool needed = !row->slot[k].optional;

		/* A word that is misspelled, or wrong, stands for what is missing. */
		if (f.word[k] || !needed || a->wrong)
			continue;
		a->price += PRICE_MISSING;
		if (!a->missing++)
			a->missing_slot = k;
	}
}

static bool has_name(const struct isa_opcode *op, const char *name)
{
	size_t n = op->size[0];

	return !strncmp(name, op->text, n) && (!name[n] || name[n] == '.');
}

/* Calls fn for each row and name that the mnemonic may mean. */
static void each_attempt(const struct isa_opcode *op, void (*fn)(void *, const struct attempt *),
			 void *user)
{
	const u16 *rows = isa_rows_of(op);

	for (u32 i = 1; i <= rows[0]; i++) {
		const struct isa_row *row = isa_row(rows[i]);

		for (u32 k = 0; k < row->names; k++) {
			struct attempt a;

			if (!has_name(op, row->name[k]))
				continue;
			try_row(op, row, k, &a);
			fn(user, &a);
		}
	}
}

static void keep_best(void *user, const struct attempt *a)
{
	struct attempt *best = user;

	if (!best->row || a->price < best->price)
		*best = *a;
}

/* ---- what is missing ---- */

#define LISTED_MAX 12

struct listing {
	const struct attempt *best;
	const char *word[LISTED_MAX];
	u32 len[LISTED_MAX], words;
	/*
	 * bits: 1 a rounding, 2 .approx, 4 a comparison, 8 a space, 16 .ftz, 32 a type, 64 others
	 */
	u32 kinds;
};

static u32 kind_bit(u32 word)
{
	switch (isa_word_kind(word)) {
	case ISA_K_ROUND:
	case ISA_K_IROUND:
		return 1;
	case ISA_K_APPROX:
		return 2;
	case ISA_K_CMP:
		return 4;
	case ISA_K_SPACE:
		return 8;
	case ISA_K_FTZ:
		return 16;
	case ISA_K_TYPE:
		return 32;
	default:
		return 64;
	}
}

static void list(struct listing *l, const char *word, size_t n)
{
	for (u32 i = 0; i < l->words; i++)
		if (l->len[i] == n && !memcmp(l->word[i], word, n))
			return;
	if (l->words == LISTED_MAX)
		return;
	l->word[l->words] = word;
	l->len[l->words++] = (u32)n;
}

/* What the rows lack that fit as well as the best one. */
static void list_missing(void *user, const struct attempt *a)
{
	struct listing *l = user;
	const struct isa_slot *s;

	if (a->price != l->best->price || a->wrong != l->best->wrong || !a->missing)
		return;
	if (a->missing_name) {
		list(l, a->missing_name, strcspn(a->missing_name, "."));
		l->kinds |= 32;
		return;
	}
	s = &a->row->slot[a->missing_slot];
	for (u32 i = 0; i < s->alts; i++) {
		u32 word = isa_alts(s->first_alt)[i].word;

		list(l, isa_word_text(word), strlen(isa_word_text(word)));
		l->kinds |= kind_bit(word);
	}
}

static void say_missing(const struct isa_opcode *op, const struct listing *l,
			struct isa_complaint *c)
{
	const char *name = l->best->row->name[l->best->name];
	int n = (int)min_u64(op->len, 128);

	if (l->best->missing_name)
		name = op->text;
	text_printf(&c->text, "a modifier is missing in '%.*s'", n, op->text);
	for (u32 i = 0; i < l->words; i++)
		text_printf(&c->text, "%s.%.*s",
			    !i                  ? ": "
			    : i + 1 == l->words ? " or "
						: ", ",
			    (int)l->len[i], l->word[i]);
	n = (int)(name == op->text ? op->size[0] : strlen(name));
	if ((l->kinds & 3) == 3)
		text_printf(
			&c->words,
			"Rounding modifier or '.approx' modifier required for instruction '%.*s'",
			n, name);
	else if (l->kinds & 1)
		text_printf(&c->words, "Rounding modifier required for instruction '%.*s'", n,
			    name);
	else if (l->kinds & 2)
		text_printf(&c->words, ".approx modifier required for instruction '%.*s'", n, name);
	else if (l->kinds & 4)
		text_printf(&c->words, "Comparison modifier required for instruction '%.*s'", n,
			    name);
	else if (l->kinds & 8)
		text_printf(&c->words, "State space modifier required for instruction '%.*s'", n,
			    name);
	else if (l->kinds & 16)
		text_printf(&c->words, "'.ftz' modifier required for instruction '%.*s'",
			    (int)op->len, op->text);
	else
		text_printf(&c->words, "Unexpected instruction types specified for '%.*s'", n,
			    name);
}

/* ---- what is wrong ---- */

static void say_wrong(const struct isa_opcode *op, const struct attempt *a, struct isa_complaint *c)
{
	u32 i = a->wrong, word = op->word[i];
	const char *name = a->row->name[a->name], *at = op->text + op->at[i];
	int size = op->size[i];

	c->begin = (u32)(op->at[i] - 1);
	c->end = c->begin + 1 + op->size[i];
	if (!word)
		text_printf(&c->text, "unknown modifier '.%.*s' on '%.*s'", size, at, op->size[0],
			    op->text);
	else if (word < ISA_TYPES)
		text_printf(&c->text, "illegal modifier '.%.*s' on '%s'", size, at, name);
	else
		text_printf(&c->text, "illegal modifier '.%.*s' on '%.*s%.*s'", size, at,
			    (int)c->begin, op->text, (int)min_u64(op->len - c->end, 128),
			    op->text + c->end);
	if (a->near)
		text_printf(&c->text, "; did you mean '.%.*s'?", (int)a->near_len, a->near);
	if (!word)
		text_printf(&c->words, "Unknown modifier '.%.*s'", size, at);
	else if (word < ISA_TYPES)
		text_printf(&c->words, "Unexpected instruction types specified for '%s'", name);
	else if (kind_bit(word) == 1)
		text_printf(&c->words, "Illegal rounding modifier for instruction '%s'", name);
	else if (kind_bit(word) == 8)
		text_printf(&c->words, "State space incorrect for instruction '%s'", name);
	else
		text_printf(&c->words, "Illegal modifier '.%.*s' for instruction '%s'", size, at,
			    name);
}

static void say_unknown(const char *opcode, size_t n, struct isa_complaint *c)
{
	size_t word = strcspn(opcode, ".");
	const char *near;

	word = word < n ? word : n;
	near = isa_near_mnemonic(opcode, word);
	c->end = (u32)word;
	text_printf(&c->text, "unknown instruction '%.*s'", (int)min_u64(word, 64), opcode);
	if (near && strcspn(near, ".") == word && !memcmp(near, opcode, word))
		text_printf(&c->text, " with %zu bytes of modifiers, or too many of them",
			    n - word);
	else if (near)
		text_printf(&c->text, "; did you mean '%.*s'?", (int)strcspn(near, "."), near);
	text_printf(&c->words, "Not a name of any known instruction: '%.*s'",
		    (int)min_u64(word, 64), opcode);
}

void isa_explain(const char *opcode, size_t n, struct isa_complaint *c)
{
	struct attempt best = {0};
	struct listing l = {.best = &best};
	struct isa_opcode op;

	*c = (struct isa_complaint){.end = (u32)n};
	if (!isa_split(&op, opcode, n) || !isa_rows_of(&op)) {
		say_unknown(opcode, n, c);
		return;
	}
	each_attempt(&op, keep_best, &best);
	c->row = best.row;
	if (best.wrong) {
		say_wrong(&op, &best, c);
	} else {
		each_attempt(&op, list_missing, &l);
		say_missing(&op, &l, c);
	}
}

void isa_complaint_fini(struct isa_complaint *c)
{
	text_fini(&c->text);
	text_fini(&c->words);
}

const char *isa_near_mnemonic(const char *s, size_t n)
{
	struct nearest near;

	nearest_init(&near, s, n);
	for (u32 i = 0; i < ISA_ROWS; i++)
		for (u32 k = 0; k < isa_row(i)->names; k++)
			nearest_offer(&near, isa_row(i)->name[k],
				      strcspn(isa_row(i)->name[k], "."));
	return near.best;
}

const struct isa_sreg *isa_near_sreg(const char *s, size_t n)
{
	const struct isa_sreg *found = NULL;
	struct nearest near;

	nearest_init(&near, s, n);
	for (u32 i = 0; i < ISA_SREGS; i++) {
		u32 before = near.distance;

		nearest_offer(&near, isa_sreg(i)->name, strlen(isa_sreg(i)->name));
		if (near.distance < before)
			found = isa_sreg(i);
	}
	return found;
}
