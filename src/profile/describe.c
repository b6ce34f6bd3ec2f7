/*
 * Instructions as rows: what they are, and where they come from.
 */
#include "src/profile/describe.h"
#include "src/profile/table/shared.h"

#include "src/base/demangle.h"
#include "src/base/map.h"
#include "src/dev/place.h"
#include "src/isa/shape.h"
#include "src/profile/report.h"

#include <stdlib.h>

/* ---- what instructions are ---- */

static const struct {
	u16 opcode;
	u8 kind; /* 0: addition, 1: multiplication, 2: both */
} arithmetic[] = {
	{OPCODE_add, 0}, {OPCODE_sub, 0}, {OPCODE_mul, 1}, {OPCODE_fma, 2}, {OPCODE_mad, 2},
};

static const struct {
	u16 type;
	u16 first; /* VALUE_fadd and the like: addition, then multiplication, then both */
	u8 lanes;  /* of a packed type */
} floats[] = {
	{T_f32, VALUE_fadd, 1},   {T_f64, VALUE_dadd, 1},   {T_f16, VALUE_hadd, 1},
	{T_bf16, VALUE_hadd, 1},  {T_f16x2, VALUE_hadd, 2}, {T_bf16x2, VALUE_hadd, 2},
	{T_f32x2, VALUE_fadd, 2},
};

static void shape_arithmetic(const struct isa_form *form, u32 kind, struct profile_shape *s)
{
	for (size_t i = 0; i < ARRAY_LEN(floats); i++)
		if (form->types && form->type[0] == floats[i].type) {
			s->work = WORK_ARITHMETIC;
			s->value = (u16)(floats[i].first + kind);
			s->flops = floats[i].lanes * (kind == 2 ? 2u : 1u);
		}
}

/*
 * Instructions that make requests to the first cache without asking for data, as an H200 counts
 * them: fences wait for what is under way, and drop what is there if they are wider than the CTA,
 * as acquiring loads do; copies are closed by a mark.
 */
static u8 requests_without_data(const struct isa_form *form)
{
	bool is_wide = isa_form_has(form, M_gpu) || isa_form_has(form, M_sys) ||
		       isa_form_has(form, M_cluster);

	switch (isa_form_opcode(form)) {
	case OPCODE_fence:
		return is_wide ? 2 : 1;
	case OPCODE_fence_proxy:
		return isa_form_has(form, M_async);
	case OPCODE_membar:
		return isa_form_has(form, M_cta) ? 1 : 2;
	case OPCODE_ld:
		return is_wide && isa_form_has(form, M_acquire);
	case OPCODE_cp_async_commit_group:
	case OPCODE_cp_async_wait_all:
		return 1;
	case OPCODE_cp_async_bulk_wait_group:
		return !isa_form_has(form, M_read);
	case OPCODE_mbarrier_arrive_expect_tx:
		return 2;
	default:
		return 0;
	}
}

/* Operations of the warp; a wgmma's are those of four warps. */
static u32 tensor_flops(const struct isa_form *form, bool of_warpgroup)
{
	u32 m, n, k;

	if (!isa_form_shape(form, &m, &n, &k))
		return 0;
	return 2 * m * n * k / (of_warpgroup ? WARPGROUP_WARPS : 1);
}

static bool describe_is_barrier(enum isa_mnemonic op)
{
	static const u16 barriers[] = {
		OPCODE_bar_sync,     OPCODE_bar_arrive,      OPCODE_bar_red,
		OPCODE_bar_cta_sync, OPCODE_bar_cta_arrive,  OPCODE_bar_cta_red,
		OPCODE_barrier,      OPCODE_barrier_red,     OPCODE_barrier_arrive,
		OPCODE_barrier_cta,  OPCODE_barrier_cta_red, OPCODE_barrier_cta_arrive,
	};

	for (size_t i = 0; i < ARRAY_LEN(barriers); i++)
		if (barriers[i] == op)
			return true;
	return false;
}

static void shape_insn(const struct place *at, struct profile_shape *s)
{
	const struct isa_form *form = at->in->form;
	enum isa_mnemonic op = isa_form_opcode(form);

	s->is_constant =
		op == OPCODE_ld && (isa_form_has(form, M_const) || isa_form_has(form, M_param));
	s->lg_requests = requests_without_data(form);
	if (op == OPCODE_bra)
		s->work = WORK_BRANCH;
	else if (describe_is_barrier(op))
		s->work = WORK_BARRIER;
	if (op == OPCODE_mma || op == OPCODE_wmma_mma || op == OPCODE_wgmma_mma_async) {
		s->flops = tensor_flops(form, op == OPCODE_wgmma_mma_async);
		s->work = WORK_TENSOR;
	}
	for (size_t i = 0; i < ARRAY_LEN(arithmetic); i++)
		if (arithmetic[i].opcode == op)
			shape_arithmetic(form, arithmetic[i].kind, s);
}

/* ---- rows ---- */

static u64 row_key(u32 func, u32 ir)
{
	return ((u64)func << 32 | ir) + 1;
}

/* Micro-ops that lowering has made for none of the instructions get the first row. */
static bool fill_rows(struct profile_rows *r)
{
	const struct program *p = r->program;
	struct map row_at = {0};
	bool ok = true;

	for (u32 i = 0; i < p->insn_len; i++) {
		struct place at = place_of_insn(p, p->insns[i].func, p->insns[i].ir);

		if (at.in && at.in->form)
			shape_insn(&at, &r->shape[i]);
		ok &= map_set(&row_at, row_key(p->insns[i].func, p->insns[i].ir), i);
	}
	for (u32 pc = 0; pc < p->uops; pc++) {
		const u64 *at = map_get(&row_at, row_key(p->uop[pc].func, p->uop[pc].ir));

		r->row_of[pc] = at ? (u32)*at : 0;
	}
	map_fini(&row_at);
	return ok;
}

struct profile_rows *profile_rows_new(const struct program *p)
{
	struct profile_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->program = p;
	r->uops = p->uops;
	r->len = p->insn_len;
	r->row_of = calloc(p->uops + 1, sizeof(*r->row_of));
	r->shape = calloc(p->insn_len + 1, sizeof(*r->shape));
	if (r->row_of && r->shape && fill_rows(r))
		return r;
	profile_rows_free(r);
	return NULL;
}

void profile_rows_free(struct profile_rows *r)
{
	if (!r)
		return;
	profile_program_free(r->described);
	free(r->row_of);
	free(r->shape);
	profile_shared_places_free(r->shared);
	free(r);
}

/* ---- in words ---- */

/* Strings of a program, each kept once: by the place where the program's own is. */
struct kept {
	struct profile_program *of;
	struct map by_place; /* number in of->strings + 1 */
	bool failed;
};

/* NULL: it is NULL, or without memory. */
static const char *keep(struct kept *k, const char *s, bool is_function)
{
	struct text t = {0};
	const u64 *slot = s ? map_get(&k->by_place, map_key(s)) : NULL;

	if (!s)
		return NULL;
	if (slot)
		return k->of->strings.at[*slot - 1];
	if (is_function)
		demangle(s, &t);
	else
		text_puts(&t, s);
	if (t.at && VEC_PUSH(&k->of->strings, t.at)) {
		map_set(&k->by_place, map_key(s), k->of->strings.len);
		return t.at;
	}
	text_fini(&t);
	k->failed = true;
	return NULL;
}

/* Lines of the PTX may be long, as those of tables of branches are. */
#define TEXT_MAX 200u

static void describe_insn(struct kept *k, const struct place *at)
{
	struct source_line s = place_source(at);
	struct profile_insn x = {.ptx_line = at->line, .line = s.line};
	struct text t = {0};

	text_puts(&t, "");
	if (at->in)
		ir_print_insn(at->func->module, at->func->func, at->in, &t);
	if (t.len > TEXT_MAX) {
		t.len = TEXT_MAX;
		text_puts(&t, "..");
	}
	x.function = keep(k, at->func ? at->func->func->name->text : "", true);
	x.file = keep(k, s.file, false);
	x.text = t.at;
	if (t.at && VEC_PUSH(&k->of->strings, t.at) && VEC_PUSH(&k->of->insns, x))
		return;
	k->failed = true;
}

/* The comments that PTX begins with: the words behind `what`, up to the end of the line. */
static void add_comment(const struct diag_source *s, const char *what, struct text *out)
{
	size_t n = strlen(what);

	for (size_t at = 0;
	     s->text && at + 2 <= s->size && s->text[at] == '/' && s->text[at + 1] == '/';) {
		const char *line = s->text + at, *end = memchr(line, '\n', s->size - at);
		size_t len = end ? (size_t)(end - line) : s->size - at;

		for (size_t i = 0; i + n <= len && !out->len; i++)
			if (!memcmp(line + i, what, n))
				text_add(out, line + i + n, min_u64(len - i - n, 100));
		at += len + 1;
	}
}

/* "NVVM Compiler V13.0.88, PTX 9.0, debug" (-G): by what compilers write first; NULL without memory. */
static char *ptx_compiler(const struct ir_module *m)
{
	struct text t = {0}, version = {0};

	add_comment(&m->source, "Generated by NVIDIA ", &t);
	add_comment(&m->source, "Generated by ", &t);
	add_comment(&m->source, "Cuda compilation tools, ", &version);
	text_printf(&t, "%s%s%sPTX %u.%u%s", version.len ? " " : "", version.len ? version.at : "",
		    t.len || version.len ? ", " : "", m->version / 10, m->version % 10,
		    m->debug ? ", debug" : "");
	text_fini(&version);
	if (!t.failed)
		return t.at;
	text_fini(&t);
	return NULL;
}

struct profile_program *profile_rows_describe(const struct profile_rows *r, const char *kernel)
{
	const struct ir_module *m = r->program->func_len ? r->program->funcs[0].module : NULL;
	struct profile_program *p = calloc(1, sizeof(*p));
	struct kept k = {.of = p};
	struct text name = {0};

	if (!p)
		return NULL;
	demangle(kernel, &name);
	p->kernel = strdup(kernel);
	p->name = name.at;
	p->ptx = strdup(m ? m->source.name : "");
	p->compiler = m ? ptx_compiler(m) : NULL;
	for (u32 i = 0; i < r->len && !k.failed; i++) {
		struct place at = place_of_insn(r->program, r->program->insns[i].func,
						r->program->insns[i].ir);

		describe_insn(&k, &at);
	}
	map_fini(&k.by_place);
	if (!k.failed && p->kernel && p->name && p->ptx)
		return p;
	profile_program_free(p);
	return NULL;
}
