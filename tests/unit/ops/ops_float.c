/*
 * Floating-point operations on the engine, at every host level: measured vectors of
 * tests/vectors, and forms that no vector has, against the numeric primitives. Every form runs
 * in gangs of eight warps as it stands, and once more under a predicate that half of the lanes
 * fail; those must keep what their register held.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"
#include "tests/unit/vectors.h"

#include "src/lower/lower_int.h"
#include "src/num/mufu.h"
#include "src/num/numeric_mini.h"

#define THREADS 250  /* seven full warps and part of one */
#define IN_BYTES 64  /* of a thread: VECTOR_SLOTS operands */
#define OUT_BYTES 16 /* result, result under the predicate */
#define FILL 0x5a

/* One form with one result, and what the lanes read and should write. */
struct form {
	struct vector_form is;
	u64 in[THREADS][VECTOR_SLOTS], want[THREADS];
	u32 lanes; /* further threads repeat them */
};

static const char *const levels[] = {"base", "v2", "v3", "v4"};

static u32 type_bytes(const char *type)
{
	return *type == 'p' ? 1 : (u32)strtoul(type + 1, NULL, 10) / 8;
}

static const char *result_type(const struct form *f)
{
	return f->is.type[f->is.inputs];
}

static void form_store(const struct form *f, struct text *t, u32 at)
{
	const char *type = result_type(f);

	if (*type == 'p')
		text_printf(t, "selp.u32 %%r1, 1, 0, %%d0; st.global.u8 [%%rd2+%u], %%r1;\n", at);
	else
		text_printf(t, "st.global.%s [%%rd2+%u], %%d0;\n", type, at);
}

static void form_kernel(const struct form *f, struct text *t, u32 id)
{
	const char *type = result_type(f);

	text_printf(t, ".visible .entry k%u(.param .u64 pin, .param .u64 pout)\n{\n", id);
	text_printf(t, ".reg .u64 %%rd<3>; .reg .u32 %%r<3>; .reg .pred %%p1; .reg .%s %%d0;\n",
		    type);
	for (u32 i = 0; i < f->is.inputs; i++)
		text_printf(t, ".reg .%s %%a%u;\n", f->is.type[i], i);
	text_printf(t, "mov.u32 %%r0, %%tid.x;\n");
	text_printf(t, "ld.param.u64 %%rd1, [pin]; mad.wide.u32 %%rd1, %%r0, %u, %%rd1;\n",
		    IN_BYTES);
	text_printf(t, "ld.param.u64 %%rd2, [pout]; mad.wide.u32 %%rd2, %%r0, %u, %%rd2;\n",
		    OUT_BYTES);
	for (u32 i = 0; i < f->is.inputs; i++)
		text_printf(t, "ld.global.%s %%a%u, [%%rd1+%u];\n", f->is.type[i], i, 8 * i);
	text_printf(t, "%s;\n", f->is.text);
	form_store(f, t, 0);
	if (*type == 'p')
		text_printf(t, "setp.eq.u32 %%d0, %%r0, %%r0;\n");
	else
		text_printf(t, "ld.global.%s %%d0, [%%rd2+8];\n", type);
	text_printf(t, "and.b32 %%r2, %%r0, 1; setp.ne.u32 %%p1, %%r2, 0;\n");
	text_printf(t, "@%%p1 %s;\n", f->is.text);
	form_store(f, t, 8);
	text_printf(t, "ret;\n}\n");
}

static bool lane_is_exact(const struct form *f, const u8 *out, u32 lane)
{
	u32 bytes = type_bytes(result_type(f));
	u64 want = f->want[lane % f->lanes];
	u8 kept[8];

	memset(kept, *result_type(f) == 'p' ? 1 : FILL, sizeof(kept));
	return !memcmp(out, &want, bytes) && !memcmp(out + 8, lane & 1 ? (u8 *)&want : kept, bytes);
}

static void report(const struct form *f, const u8 *out, u32 lane, const char *level)
{
	u64 got[2], want = f->want[lane % f->lanes];

	memcpy(got, out, sizeof(got));
	printf("# %s at %s: lane %u, in", f->is.text, level, lane);
	for (u32 i = 0; i < f->is.inputs; i++)
		printf(" %llx", (unsigned long long)f->in[lane % f->lanes][i]);
	printf(", got %llx and %llx under the predicate, want %llx\n", (unsigned long long)got[0],
	       (unsigned long long)got[1], (unsigned long long)want);
}

/* Run kernel `id` on one level. */
static bool form_is_exact(struct harness *h, const struct form *f, u32 id, u64 memory,
			  const char *level)
{
	struct {
		u64 in, out;
	} params = {memory, memory + THREADS * IN_BYTES};
	u8 *in = (u8 *)(uintptr_t)params.in, *out = (u8 *)(uintptr_t)params.out;
	char name[16];

	snprintf(name, sizeof(name), "k%u", id);
	memset(out, FILL, THREADS * OUT_BYTES);
	for (u32 i = 0; i < THREADS; i++)
		memcpy(in + i * IN_BYTES, f->in[i % f->lanes], IN_BYTES);
	if (harness_run(h, name, 1, THREADS, &params, level) != STOP_DONE) {
		printf("# %s: fault %u\n", f->is.text, h->fault.kind);
		return false;
	}
	for (u32 i = 0; i < THREADS; i++)
		if (!lane_is_exact(f, out + i * OUT_BYTES, i)) {
			report(f, out + i * OUT_BYTES, i, level);
			return false;
		}
	return true;
}

/* All forms as the kernels of one module; `target` as in .target. */
static void check_forms(const struct form *forms, u32 n, const char *target, const char *what)
{
	struct text t = {0};
	struct harness h;
	char message[160];

	text_printf(&t, ".version 8.8\n.target %s\n.address_size 64\n", target);
	for (u32 i = 0; i < n; i++)
		form_kernel(&forms[i], &t, i);
	if (!CHECK(harness_open(&h, t.at)))
		return;
	for (u32 l = 0; l < ARRAY_LEN(levels); l++) {
		u64 bytes = THREADS * (IN_BYTES + OUT_BYTES), memory;
		u32 exact = 0;

		if (!check_level(exec_ops_select(levels[l]), levels[l]))
			continue;
		memory = mem_alloc(&h.mem, bytes, 0, MEM_KIND_DEVICE);
		for (u32 i = 0; i < n; i++)
			exact += form_is_exact(&h, &forms[i], i, memory, levels[l]);
		snprintf(message, sizeof(message), "%s at %s: %u of %u forms exact", what,
			 levels[l], exact, n);
		CHECK_MSG(n && exact == n, message);
	}
	harness_close(&h);
	text_fini(&t);
}

/* ---- measured vectors ---- */

static bool is_float_form(const char *text)
{
	return strstr(text, "f16") || strstr(text, "f32") || strstr(text, "f64");
}

static void form_of_vector(struct form *f, const struct vector *v)
{
	memset(f, 0, sizeof(*f));
	f->is = v->form;
	f->lanes = v->lanes;
	memcpy(f->in, v->in, sizeof(v->in));
	for (u32 i = 0; i < v->lanes; i++)
		f->want[i] = v->want[i][0];
}

/* Forms with several results have no place in these kernels: tests/unit/ops/vectors.c runs them. */
static void check_file(const char *name)
{
	struct vector_list list;
	struct form *forms;
	char path[64];
	u32 n = 0;

	snprintf(path, sizeof(path), "%s.vec", name);
	vector_list_read(&list, path);
	forms = calloc(list.n + 1, sizeof(*forms));
	if (!forms)
		abort();
	for (u32 i = 0; i < list.n; i++)
		if (is_float_form(list.at[i].form.text) && list.at[i].form.results == 1)
			form_of_vector(&forms[n++], &list.at[i]);
	check_forms(forms, n, "sm_90", name);
	free(forms);
	vector_list_free(&list);
}

/* ---- forms of later targets ---- */

struct later {
	const char *text;
	u64 (*one)(u64 a, u64 b, u64 c, u64 d, u64 e);
};

#define HALVES(f, mode)                                                                            \
	(f((u32)a, (u32)b, mode) | (u64)f((u32)(a >> 32), (u32)(b >> 32), mode) << 32)
#define LATER(id, text, expr)                                                                      \
	static u64 later_##id(u64 a, u64 b, u64 c, u64 d, u64 e)                                   \
	{                                                                                          \
		(void)a, (void)b, (void)c, (void)d, (void)e;                                       \
		return (expr);                                                                     \
	}
#include "tests/unit/ops/ops_float.def"
#undef LATER

static const struct later laters[] = {
#define LATER(id, text, expr) {text, later_##id},
#include "tests/unit/ops/ops_float.def"
#undef LATER
};

/* Moderate numbers, any bits, and special values of all widths. */
static u64 some_bits(u32 lane, u32 operand)
{
	static const u32 special[] = {0,          0x80000000, 1,          0x7f800000,
				      0xff800000, 0x7fc00000, 0x3f800000, 0x007fffff};
	u64 r = (lane * 8 + operand + 1) * 0x9e3779b97f4a7c15u;

	r = (r ^ r >> 29) * 0xbf58476d1ce4e5b9u;
	r ^= r >> 32;
	if (r % 5 == 0)
		return (u64)special[r >> 8 & 7] << 32 | special[r >> 16 & 7];
	return r % 5 < 3 ? (r & 0x83ffffff83ffffffu) | 0x3c0000003c000000u : r;
}

static void check_later(void)
{
	struct form *forms = calloc(ARRAY_LEN(laters), sizeof(*forms));

	if (!forms)
		abort();
	for (u32 i = 0; i < ARRAY_LEN(laters); i++) {
		struct form *f = &forms[i];

		CHECK_MSG(vector_parse_form(&f->is, laters[i].text), laters[i].text);
		f->lanes = THREADS;
		for (u32 l = 0; l < THREADS; l++) {
			for (u32 k = 0; k < f->is.inputs; k++)
				f->in[l][k] = some_bits(l, k);
			f->want[l] = laters[i].one(f->in[l][0], f->in[l][1], f->in[l][2],
						   f->in[l][3], f->in[l][4]);
		}
	}
	check_forms(forms, ARRAY_LEN(laters), "sm_103a", "later forms");
	free(forms);
}

/* ---- every combination of modifiers of every row ---- */

struct combos {
	const struct isa_row *row;
	struct arena arena;
	char missing[160];
	u32 tried, found;
};

static void try_form(struct combos *c, const char *text)
{
	const struct isa_form *form = isa_match(&c->arena, text, strlen(text));
	struct lower_key key;
	s64 imm;

	while (form && form->row != c->row)
		form = form->next;
	if (!form)
		return;
	c->tried++;
	lower_key_of(form, &key);
	if (lower_find_op(&key) != EXEC_OPS || lower_mode_op(form, &imm) != EXEC_OPS)
		c->found++;
	else
		snprintf(c->missing, sizeof(c->missing), "%s", text);
}

/* Fill slot `i` and those after it in every way; slots of one group are all filled or all empty. */
static void fill_slots(struct combos *c, u32 i, const char *text, bool group_filled)
{
	const struct isa_slot *slot = &c->row->slot[i];
	bool follows;
	char longer[160];

	if (i == c->row->slots) {
		try_form(c, text);
		return;
	}
	follows = i && slot->group && slot->group == slot[-1].group;
	if (slot->optional && !(follows && group_filled))
		fill_slots(c, i + 1, text, false);
	if (follows && !group_filled)
		return;
	for (u32 k = 0; k < slot->alts; k++) {
		u32 word = isa_alts(slot->first_alt)[k].word;

		if (!word)
			continue;
		snprintf(longer, sizeof(longer), "%.140s.%s", text, isa_word_text(word));
		fill_slots(c, i + 1, longer, true);
	}
}

static bool is_float_row(const struct isa_row *row)
{
	bool cvt = row->chapter == ISA_CH_cvt && is_float_form(row->syntax);
	bool arithmetic = row->chapter == ISA_CH_float || row->chapter == ISA_CH_half;

	return row->state == ISA_RUN && (cvt || arithmetic);
}

static void check_combinations(void)
{
	u32 rows = 0;

	for (u32 r = 0; r < ISA_ROWS; r++) {
		struct combos c = {.row = isa_row(r)};
		char message[300];

		if (!is_float_row(c.row))
			continue;
		rows++;
		for (u32 i = 0; i < c.row->names; i++)
			fill_slots(&c, 0, c.row->name[i], false);
		snprintf(message, sizeof(message), "%s: %u of %u forms have an operation %s",
			 c.row->id, c.found, c.tried, c.missing);
		CHECK_MSG(c.tried && c.found == c.tried, message);
		arena_fini(&c.arena);
	}
	CHECK(rows > 90);
}

int main(void)
{
	static const char *const files[] = {
		"add", "sub", "mul",  "fma", "mad", "div", "rcp", "sqrt",     "rsqrt", "sin", "cos",
		"lg2", "ex2", "tanh", "min", "max", "abs", "neg", "copysign", "testp", "cvt",
	};

	for (u32 i = 0; i < ARRAY_LEN(files); i++)
		check_file(files[i]);
	check_later();
	check_combinations();
	CHECK_MSG(!lower_unread_ops(), "every spelling in the tables of lane operations is a form");
	return check_done();
}
