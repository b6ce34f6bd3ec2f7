/*
 * From opcode text to rows: modifiers are a bag, words of a kind keep their order.
 */
#include "src/isa/isa_int.h"

/* "m64n128k16" -> M_m64nNk16 and 128. */
static enum isa_word find_numbered(const char *s, size_t n, u16 *number)
{
	char pattern[32];
	size_t from = 0, to;
	u32 v = 0;
	enum isa_word w;

	if (n < 6 || n >= sizeof(pattern) || strncmp(s, "m64n", 4))
		return ISA_NONE;
	from = 4;
	for (to = from; to < n && s[to] >= '0' && s[to] <= '9' && v < 1000; to++)
		v = v * 10 + (u32)(s[to] - '0');
	if (to == from || s[from] == '0')
		return ISA_NONE;
	memcpy(pattern, s, from);
	pattern[from] = '#';
	memcpy(pattern + from + 1, s + to, n - to);
	w = isa_word_find(pattern, n - (to - from) + 1);
	*number = (u16)v;
	return w;
}

bool isa_split(struct isa_opcode *op, const char *s, size_t n)
{
	size_t at = 0;

	*op = (struct isa_opcode){.text = s, .len = n};
	if (n > UINT16_MAX)
		return false;
	while (at <= n) {
		const char *dot = memchr(s + at, '.', n - at);
		size_t size = dot ? (size_t)(dot - s) - at : n - at;
		u32 i = op->words;

		if (i == ISA_OPCODE_WORDS)
			return false;
		op->at[i] = (u16)at;
		op->size[i] = (u16)size;
		op->word[i] = (u16)isa_word_find(s + at, size);
		if (!op->word[i])
			op->word[i] = (u16)find_numbered(s + at, size, &op->number[i]);
		op->words++;
		at += size + 1;
	}
	return true;
}

const u16 *isa_rows_of(const struct isa_opcode *op)
{
	const struct str *name = intern_find(&isa_table()->names, op->text, op->size[0]);

	return name ? name->user[0] : NULL;
}

/* Words taken by the opcode name, 0 when the text does not begin with it. */
static u32 name_words(const struct isa_opcode *op, const char *name)
{
	size_t n = strlen(name);
	u32 words = 1;

	if (op->len < n || memcmp(op->text, name, n) || (op->len > n && op->text[n] != '.'))
		return 0;
	for (const char *p = name; (p = strchr(p, '.')); p++)
		words++;
	return words;
}

static bool in_ranges(u32 first, u32 count, s64 v)
{
	const struct isa_range *r = isa_ranges(first);

	for (u32 i = 0; i < count; i++)
		if (v >= r[i].lo && v <= r[i].hi && (v - r[i].lo) % r[i].step == 0)
			return true;
	return !count;
}

static const struct isa_alt *slot_takes(const struct isa_slot *s, u32 word, u32 number)
{
	const struct isa_alt *alt = isa_alts(s->first_alt);

	for (u32 i = 0; i < s->alts; i++, alt++)
		if (alt->word == word && in_ranges(alt->first_range, alt->ranges, number))
			return alt;
	return NULL;
}

static void raise(u8 *a, u8 b)
{
	if (*a < b)
		*a = b;
}

/*
 * Words of these kinds keep their order, as ptxas wants it: none may go before one of its kind that
 * is already placed. (Others, such as .sync and .aligned, may be swapped.)
 */
static bool is_late(const struct isa_form *f, u32 slot, u32 word)
{
	enum isa_kind kind = isa_word_kind(word);

	if (kind != ISA_K_TYPE && kind != ISA_K_LAYOUT && kind != ISA_K_OP && kind != ISA_K_SPACE)
		return false;
	for (u32 k = slot + 1; k < f->row->slots; k++)
		if (f->word[k] && isa_word_kind(f->word[k]) == kind)
			return true;
	return false;
}

/* Put word i into the first free slot that accepts it. */
bool isa_place(const struct isa_opcode *op, u32 i, struct isa_form *f)
{
	const struct isa_row *row = f->row;

	for (u32 k = 0; k < row->slots; k++) {
		const struct isa_alt *alt;
		u8 ptx, sm;

		if (f->word[k] || !(alt = slot_takes(&row->slot[k], op->word[i], op->number[i])) ||
		    is_late(f, k, op->word[i]))
			continue;
		f->word[k] = op->word[i];
		isa_word_minimum(op->word[i], &ptx, &sm);
		raise(&f->ptx, alt->ptx ? alt->ptx : ptx);
		raise(&f->sm, alt->sm ? alt->sm : sm);
		if (op->number[i])
			f->number = op->number[i];
		return true;
	}
	return false;
}

/* ptxas accepts these flags twice; any other word stands once. */
bool isa_may_repeat(const struct isa_opcode *op, u32 i)
{
	static const u16 flags[] = {M_NaN,       M_approx,   M_cc,   M_relu, M_sat,
				    M_satfinite, M_shiftamt, M_sync, M_uni};
	bool is_flag = false;

	for (u32 k = 0; k < ARRAY_LEN(flags); k++)
		is_flag |= op->word[i] == flags[k];
	for (u32 k = 1; k < i && is_flag; k++)
		if (op->word[k] == op->word[i])
			return true;
	return false;
}

/*
 * Modifiers that ptxas overlooks, because they mean nothing there: a layout on matrix instructions
 * whose form fixes it, .uni on texture fetches, a scope on bulk copies.
 */
bool isa_is_overlooked(const struct isa_opcode *op, u32 i, const struct isa_form *f)
{
	static const struct {
		const char *name; /* the first word, or all of the name */
		u8 kind;
	} table[] = {
		{"ldmatrix", ISA_K_LAYOUT},  {"stmatrix", ISA_K_LAYOUT},
		{"movmatrix", ISA_K_LAYOUT}, {"wgmma", ISA_K_LAYOUT},
		{"tcgen05", ISA_K_LAYOUT},   {"cp.async.bulk", ISA_K_SCOPE},
	};
	const char *name = f->row->name[f->name];

	if ((op->size[0] == 3 && !memcmp(op->text, "tex", 3)) ||
	    (op->size[0] == 4 && !memcmp(op->text, "tld4", 4)))
		return op->word[i] == M_uni;
	for (u32 k = 0; k < ARRAY_LEN(table) && op->word[i]; k++)
		if ((strlen(table[k].name) == op->size[0] &&
		     !memcmp(table[k].name, op->text, op->size[0])) ||
		    !strcmp(table[k].name, name))
			return isa_word_kind(op->word[i]) == table[k].kind &&
			       op->word[i] != M_trans;
	return false;
}

/* Mandatory slots filled, groups all or none. */
static bool complete(struct isa_form *f)
{
	const struct isa_slot *s = f->row->slot;

	for (u32 k = 0; k < f->row->slots; k++) {
		if (!f->word[k] && !s[k].optional)
			return false;
		if (!f->word[k]) {
			raise(&f->ptx, s[k].ptx);
			raise(&f->sm, s[k].sm);
		}
		if (k && s[k].group && s[k].group == s[k - 1].group &&
		    !f->word[k] != !f->word[k - 1])
			return false;
	}
	return true;
}

static bool match_row(const struct isa_opcode *op, const struct isa_row *row, struct isa_form *f)
{
	u32 taken = 0;

	*f = (struct isa_form){.row = row, .ptx = row->ptx, .sm = row->sm};
	for (u32 k = 0; k < row->names; k++) {
		u32 n = name_words(op, row->name[k]);

		if (n > taken) {
			taken = n;
			f->name = (u8)k;
		}
	}
	if (!taken)
		return false;
	for (u32 i = taken; i < op->words; i++)
		if (!op->word[i] || (!isa_place(op, i, f) && !isa_may_repeat(op, i) &&
				     !isa_is_overlooked(op, i, f)))
			return false;
	if (!complete(f))
		return false;
	for (u32 k = 0; k < row->slots; k++)
		if (f->word[k] && f->word[k] < ISA_TYPES && f->types < ISA_TYPE_SLOTS)
			f->type[f->types++] = (u8)f->word[k];
	return true;
}

const struct isa_form *isa_match(struct arena *arena, const char *opcode, size_t n)
{
	const struct isa_form *first = NULL, **tail = &first;
	const u16 *rows;
	struct isa_opcode op;

	if (!isa_split(&op, opcode, n) || !(rows = isa_rows_of(&op)))
		return NULL;
	for (u32 i = 1; i <= rows[0]; i++) {
		struct isa_form f, *kept;

		if (!match_row(&op, isa_row(rows[i]), &f))
			continue;
		kept = arena_copy(arena, &f, sizeof(f));
		if (!kept)
			return NULL;
		*tail = kept;
		tail = (const struct isa_form **)&kept->next;
	}
	return first;
}

const struct isa_range *isa_ranges(u32 first)
{
	return &isa_table()->ranges[first];
}

const struct isa_alt *isa_alts(u32 first)
{
	return &isa_table()->alts[first];
}

u32 isa_form_word(const struct isa_form *f, enum isa_kind kind, u32 n)
{
	for (u32 i = 0; i < f->row->slots; i++)
		if (f->word[i] && isa_word_kind(f->word[i]) == kind && n-- == 0)
			return f->word[i];
	return ISA_NONE;
}

static u32 bits_type(u32 bits)
{
	static const u8 of_size[] = {T_b8, T_b16, T_b32, T_b64};
	u32 i = 0;

	while (i < ARRAY_LEN(of_size) && isa_type_bits(of_size[i]) != bits)
		i++;
	return i < ARRAY_LEN(of_size) ? of_size[i] : ISA_NONE;
}

u32 isa_operand_type(const struct isa_form *f, const struct isa_operand *o)
{
	static const u8 twice[ISA_TYPES] = {
		[T_u8] = T_u16,  [T_s8] = T_s16,   [T_b8] = T_b16,  [T_u16] = T_u32,
		[T_s16] = T_s32, [T_b16] = T_b32,  [T_u32] = T_u64, [T_s32] = T_s64,
		[T_b32] = T_b64, [T_b64] = T_b128,
	};
	u32 type = o->type;

	if (!type && o->type_slot < f->types)
		type = f->type[o->type_slot];
	if (o->narrow)
		return bits_type(isa_type_bits(type) / o->narrow);
	return o->twice ? twice[type] : type;
}

u32 isa_operand_space(const struct isa_form *f, const struct isa_operand *o)
{
	return o->space_slot ? isa_form_word(f, ISA_K_SPACE, o->space_slot - 1u) : o->space;
}

static u32 count_base(const struct isa_form *f, u32 from)
{
	static const u8 by_word[ISA_WORDS] = {
		[M_v2] = 2,   [M_v4] = 4,    [M_v8] = 8,          [M_x1] = 1,
		[M_x2] = 2,   [M_x4] = 4,    [M_x8] = 8,          [M_x16] = 16,
		[M_x32] = 32, [M_x64] = 64,  [M_x128] = 128,      [M_1d] = 1,
		[M_2d] = 2,   [M_3d] = 3,    [M_4d] = 4,          [M_5d] = 5,
		[M_a1d] = 2,  [M_a2d] = 4,   [M_cube] = 4,        [M_acube] = 4,
		[M_2dms] = 4, [M_a2dms] = 4, [M_cta_group_1] = 1, [M_cta_group_2] = 2,
	};
	static const u8 kinds[] = {
		[ISA_COUNT_VEC] = ISA_K_VEC,    [ISA_COUNT_X] = ISA_K_COUNT,
		[ISA_COUNT_GEOM] = ISA_K_GEOM,  [ISA_COUNT_CTA] = ISA_K_CTAGROUP,
		[ISA_COUNT_TEXEL] = ISA_K_GEOM,
	};
	u32 n;

	if (from == ISA_COUNT_FIXED || from == ISA_COUNT_LOOSE)
		return 1;
	if (from == ISA_COUNT_NUMBER)
		return f->number;
	n = by_word[isa_form_word(f, kinds[from], 0)];
	if (from == ISA_COUNT_TEXEL && n == 3)
		return 4;
	return n ? n : 1;
}

u32 isa_operand_count(const struct isa_form *f, const struct isa_operand *o)
{
	u32 n = count_base(f, o->count_from) * o->mul;

	/* Every operand of every instruction comes by here: a division is worth a branch. */
	return (o->div == 1 ? n : n / o->div) - o->less;
}
