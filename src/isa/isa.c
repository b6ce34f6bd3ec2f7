/*
 * The instruction table as data: words, targets, special registers, and the rows compiled once.
 */
#include "src/isa/isa_int.h"
#include "src/isa/shape.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct word_info {
	const char *text;
	u16 bits; /* types */
	u8 class; /* types */
	u8 kind;
	u8 ptx, sm;
	bool declarable;
};

static const struct word_info words[ISA_WORDS] = {
#define TYPE(name, bits, class, declarable)                                                        \
	[T_##name] = {#name, bits, ISA_##class, ISA_K_TYPE, 0, 0, declarable},
#include "src/isa/types.def"
#undef TYPE
#define MOD(ident, text, kind, ptx, sm) [M_##ident] = {text, 0, 0, ISA_K_##kind, ptx, sm, false},
#include "src/isa/modifiers.def"
#undef MOD
};

static const char *const chapters[] = {
#define CHAPTER(name, title) title,
#include "src/isa/insn/chapters.def"
#undef CHAPTER
};

struct target_info {
	u16 sm;
	char variant;
	u8 ptx;
};

static const struct target_info targets[] = {
#define TARGET(sm, variant, ptx) {sm, variant[0], ptx},
#define GROUP(name, list)
#include "src/isa/targets.def"
#undef GROUP
#undef TARGET
};

static const char *const groups[] = {
#define TARGET(sm, variant, ptx)
#define GROUP(name, list) list,
#include "src/isa/targets.def"
#undef GROUP
#undef TARGET
};

enum group_id {
#define TARGET(sm, variant, ptx)
#define GROUP(name, list) GROUP_##name,
#include "src/isa/targets.def"
#undef GROUP
#undef TARGET
};

static const struct isa_sreg sregs[] = {
#define SREG(ident, name, type, components, varies, ptx, sm)                                       \
	{name, T_##type, components, ptx, sm, ISA_##varies},
#include "src/isa/sregs.def"
#undef SREG
};

static const struct isa_source_row source_rows[] = {
#define SM(n) (n)
#define ON(group) (0x8000 | GROUP_##group)
#define LATER(n, sm, ptx) ((u32)(n) | 0x4000 | (u32)(sm) << 16 | (u32)(ptx) << 24)
#define UNTIL(n, gone_sm, gone_ptx) ((u32)(n) | (u32)(gone_sm) << 16 | (u32)(gone_ptx) << 24)
#define LINT ISA_LINT
#define MULTICAST ISA_MULTICAST
#define FABRIC ISA_FABRIC
#define RUN(rule) ISA_RUN
#define INSN(id, syntax, ptx, target, state) {#id, syntax, ptx, target, state, ISA_CHAPTER},
#include "src/isa/insn/all.def"
#undef INSN
#undef RUN
#undef FABRIC
#undef MULTICAST
#undef LINT
#undef UNTIL
#undef LATER
#undef ON
#undef SM
};

static void table_add_name(struct isa_table *t, const struct isa_row *row, const char *name)
{
	struct str *s = intern_get(&t->names, name, strcspn(name, "."));
	u16 *list = s->user[0], *bigger;
	u32 n = list ? list[0] : 0;

	if (n && list[n] == row->row)
		return;
	if ((n & (n + 1)) == 0) {
		bigger = arena_alloc(&t->arena, sizeof(u16) * (2 * n + 2));
		if (n)
			memcpy(bigger, list, sizeof(u16) * (n + 1));
		s->user[0] = list = bigger;
	}
	list[++list[0]] = row->row;
}

static void table_compile(struct isa_table *t)
{
	intern_init(&t->names, &t->arena);
	intern_init(&t->word_names, &t->arena);
	for (u32 i = 1; i < ISA_WORDS; i++)
		intern_get(&t->word_names, words[i].text, strlen(words[i].text))->user[0] =
			(void *)(uintptr_t)i;
	for (u32 i = 0; i < ISA_SREGS; i++)
		intern_get(&t->word_names, sregs[i].name, strlen(sregs[i].name))->user[1] =
			(void *)(uintptr_t)(i + 1);
}

static void table_compile_rows(struct isa_table *t)
{
	struct text why = {0};

	/*
	 * An upper bound: no alternative or range is shorter than two characters, sets are counted
	 * apart.
	 */
	t->alts = arena_alloc(&t->arena, sizeof(*t->alts) * ISA_ROWS * 64);
	t->ranges = arena_alloc(&t->arena, sizeof(*t->ranges) * ISA_ROWS * 8);
	for (u32 i = 0; i < ISA_ROWS; i++) {
		struct isa_row *row = &t->rows[i];

		if (!isa_compile_row(t, &source_rows[i], row, &why)) {
			fprintf(stderr, "instruction table: %s\n", why.at);
			abort();
		}
		row->row = (u16)i;
		for (u32 k = 0; k < row->names; k++)
			table_add_name(t, row, row->name[k]);
	}
}

static struct isa_table the_table;
static pthread_once_t table_once = PTHREAD_ONCE_INIT, words_once = PTHREAD_ONCE_INIT;

static void words_make(void)
{
	table_compile(&the_table);
}

static void table_make(void)
{
	pthread_once(&words_once, words_make);
	table_compile_rows(&the_table);
}

const struct isa_table *isa_table(void)
{
	pthread_once(&table_once, table_make);
	return &the_table;
}

const struct isa_row *isa_row(u32 row)
{
	return row < ISA_ROWS ? &isa_table()->rows[row] : NULL;
}

const char *isa_chapter_title(u32 chapter)
{
	return chapter < ISA_CHAPTERS ? chapters[chapter] : NULL;
}

enum isa_word isa_word_find(const char *s, size_t n)
{
	const struct str *found;

	pthread_once(&words_once, words_make);
	found = intern_find(&the_table.word_names, s, n);
	return found ? (enum isa_word)(uintptr_t)found->user[0] : ISA_NONE;
}

const char *isa_word_text(u32 word)
{
	return word && word < ISA_WORDS && words[word].text ? words[word].text : "";
}

enum isa_kind isa_word_kind(u32 word)
{
	return word && word < ISA_WORDS ? words[word].kind : ISA_KINDS;
}

u32 isa_type_bits(u32 type)
{
	return type < ISA_TYPES ? words[type].bits : 0;
}

enum isa_class isa_type_class(u32 type)
{
	return type < ISA_TYPES ? words[type].class : ISA_OPAQUE;
}

bool isa_type_declarable(u32 type)
{
	return type < ISA_TYPES && words[type].declarable;
}

void isa_word_minimum(u32 word, u8 *ptx, u8 *sm)
{
	*ptx = words[word].ptx > 10 ? words[word].ptx : 0;
	*sm = words[word].sm > 10 ? words[word].sm : 0;
}

enum isa_varies isa_sreg_varies(u32 id)
{
	return sregs[id].varies;
}

const struct isa_sreg *isa_sreg(u32 id)
{
	return id < ISA_SREGS ? &sregs[id] : NULL;
}

const struct isa_sreg *isa_sreg_find(const char *s, size_t n)
{
	const struct str *found;

	pthread_once(&words_once, words_make);
	found = intern_find(&the_table.word_names, s, n);
	return found && found->user[1] ? &sregs[(uintptr_t)found->user[1] - 1] : NULL;
}

bool isa_target_find(const char *s, size_t n, struct isa_target *out)
{
	const char *end = s + n, *p = s;
	u32 sm = 0;

	if (n > 3 && !strncmp(s, "sm_", 3))
		p += 3;
	else if (n > 8 && !strncmp(s, "compute_", 8))
		p += 8;
	else
		return false;
	while (p < end && *p >= '0' && *p <= '9' && sm < 1000)
		sm = sm * 10 + (u32)(*p++ - '0');
	*out = (struct isa_target){(u16)sm, p + 1 == end ? *p : 0};
	return (p == end || p + 1 == end) && isa_target_ptx(*out);
}

u32 isa_target_ptx(struct isa_target t)
{
	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		if (targets[i].sm == t.sm && targets[i].variant == t.variant)
			return targets[i].ptx;
	return 0;
}

static bool group_has(const char *list, struct isa_target t)
{
	char name[8], *p = name;
	size_t n;

	/* The architecture that came as sm_101 is called sm_110 from PTX 9.0 on. */
	if (t.sm == 101)
		t.sm = 110;
	p += snprintf(name, sizeof(name), "%u%.1s", t.sm % 1000u, t.variant ? &t.variant : "");
	n = (size_t)(p - name);
	for (const char *at = list; (at = strstr(at, name)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

bool isa_form_on_target(const struct isa_form *f, struct isa_target t)
{
	if (f->row->group && !group_has(groups[f->row->group - 1], t))
		return false;
	return t.sm >= f->sm;
}

bool isa_form_gone(const struct isa_form *f, struct isa_target t, u32 ptx10)
{
	return f->row->gone_ptx && t.sm >= f->row->gone_sm && ptx10 >= f->row->gone_ptx;
}

bool isa_form_late(const struct isa_form *f, struct isa_target t, u32 ptx10)
{
	return f->row->late_ptx && t.sm < f->row->late_sm && ptx10 < f->row->late_ptx;
}

void isa_form_target_text(const struct isa_form *f, struct text *out)
{
	if (!f->row->group) {
		text_printf(out, "sm_%u or higher", f->sm);
		return;
	}
	for (const char *p = groups[f->row->group - 1]; *p;) {
		size_t n = strcspn(p, " ");

		text_printf(out, "sm_%.*s%s", (int)n, p, p[n] ? ", " : "");
		p += n + (p[n] != 0);
	}
}

bool isa_version_known(u32 ptx10)
{
	static const u8 last_minor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 3};
	u32 major = ptx10 / 10;

	return major >= 1 && major < ARRAY_LEN(last_minor) && ptx10 % 10 <= last_minor[major];
}

bool isa_form_shape(const struct isa_form *form, u32 *m, u32 *n, u32 *k)
{
	for (u32 i = 0; i < form->row->slots; i++)
		if (form->word[i] != ISA_NONE && isa_word_kind(form->word[i]) == ISA_K_SHAPE &&
		    sscanf(isa_word_text(form->word[i]), "m%un%uk%u", m, n, k) == 3)
			return true;
	return false;
}
