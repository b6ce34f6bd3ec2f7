/*
 * The module that the runs of a program become, and what is left to the interpreter.
 */
#include "src/base/stats.h"
#include "src/tier/tier_int.h"

#include <stdlib.h>

/* Micro-ops that are compiled at a time: a process that ends waits for them. */
#define BATCH 64u

static struct tier_counts counts; /* atomic */

struct tier_counts tier_counts(void)
{
	return (struct tier_counts){__atomic_load_n(&counts.made, __ATOMIC_RELAXED),
				    __atomic_load_n(&counts.failed, __ATOMIC_RELAXED)};
}

bool tier_stats_text(char *out, size_t size)
{
	struct stats_total runs = stats_get(STATS_RUNS), code = stats_get(STATS_CODE);

	snprintf(out, size,
		 "%5.1f %%   of %llu micro-ops in runs, warp by warp; runs have %llu of %llu in "
		 "kernels",
		 code.times ? 100.0 * (double)code.amount / (double)code.times : 0,
		 (unsigned long long)code.times, (unsigned long long)runs.amount,
		 (unsigned long long)runs.times);
	return runs.times != 0;
}

void tier_set_state(struct tier_run *r, enum tier_state s)
{
	__atomic_store_n(&r->state, (u8)s, __ATOMIC_RELEASE);
}

enum tier_state tier_state_of(const struct tier_run *r)
{
	return (enum tier_state)__atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
}

void tier_leave_run(struct tier *t, struct tier_run *r)
{
	struct uop *in = &t->uop[r->first];

	tier_set_state(r, TIER_OFF);
	if (in->op == OP_tier_counted) /* what is interpreted, too */
		return;
	__atomic_store_n(&in->op, in->inner, __ATOMIC_RELEASE);
}

void tier_leave_waiting(struct tier *t)
{
	for (u32 i = 0; i < t->run_len; i++)
		if (tier_state_of(&t->runs[i]) == TIER_WAIT)
			tier_leave_run(t, &t->runs[i]);
}

static void put_frame(const struct tier *t, struct text *out)
{
	bool v4 = !strcmp(t->ops->level, "v4");

	text_printf(out,
		    "attributes #0 = { nounwind \"target-cpu\"=\"x86-64-%s\" "
		    "\"tune-cpu\"=\"%s\" \"prefer-vector-width\"=\"%u\" "
		    "\"min-legal-vector-width\"=\"%u\" }\n",
		    t->ops->level, v4 ? "icelake-server" : "skylake", v4 ? 512 : 256,
		    v4 ? 512 : 256);
}

static void declare_rows(bool opaque, u32 n, u32 bits, struct text *out)
{
	char vector[32], pointer[48], suffix[64];

	snprintf(vector, sizeof(vector), "<%u x i%u>", n, bits);
	snprintf(pointer, sizeof(pointer), opaque ? "ptr" : "%s*", vector);
	snprintf(suffix, sizeof(suffix), opaque ? "v%ui%u.p0" : "v%ui%u.p0v%ui%u", n, bits, n,
		 bits);
	text_printf(out,
		    "declare %s @llvm.masked.load.%s(%s, i32, <%u x i1>, %s)\n"
		    "declare void @llvm.masked.store.%s(%s, %s, i32, <%u x i1>)\n",
		    vector, suffix, pointer, n, vector, suffix, vector, pointer, n);
}

static void declare_gathers(bool opaque, u32 bits, struct text *out)
{
	char vector[32], pointer[48], suffix[64];

	snprintf(vector, sizeof(vector), "<32 x i%u>", bits);
	snprintf(pointer, sizeof(pointer), opaque ? "<32 x ptr>" : "<32 x i%u*>", bits);
	snprintf(suffix, sizeof(suffix), opaque ? "v32i%u.v32p0" : "v32i%u.v32p0i%u", bits, bits);
	text_printf(out,
		    "declare %s @llvm.masked.gather.%s(%s, i32, <32 x i1>, %s)\n"
		    "declare void @llvm.masked.scatter.%s(%s, %s, i32, <32 x i1>)\n",
		    vector, suffix, pointer, vector, suffix, vector, pointer);
}

/* Intrinsics by the types of pointers. */
static void put_declarations(bool opaque, struct text *out)
{
	static const char *const plain[] = {
		"<32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)",
		"<32 x double> @llvm.fma.v32f64(<32 x double>, <32 x double>, <32 x double>)",
		"<32 x float> @llvm.sqrt.v32f32(<32 x float>)",
		"<32 x double> @llvm.sqrt.v32f64(<32 x double>)",
		"<32 x float> @llvm.fabs.v32f32(<32 x float>)",
		"<32 x double> @llvm.fabs.v32f64(<32 x double>)",
		"<32 x i32> @llvm.fshr.v32i32(<32 x i32>, <32 x i32>, <32 x i32>)",
		"<32 x i64> @llvm.fshr.v32i64(<32 x i64>, <32 x i64>, <32 x i64>)",
		"i32 @llvm.cttz.i32(i32, i1)",
		"i32 @llvm.ctlz.i32(i32, i1)",
	};
	const char *byte = opaque ? "ptr" : "i8*", *of = opaque ? "" : "i8";

	for (u32 i = 0; i < ARRAY_LEN(plain); i++)
		text_printf(out, "declare %s\n", plain[i]);
	text_printf(out, "declare void @llvm.prefetch.p0%s(%s, i32, i32, i32)\n", of, byte);
	for (u32 bytes = 1; bytes <= 8; bytes *= 2) {
		declare_rows(opaque, 16, bytes * 8, out);
		declare_rows(opaque, 32, bytes * 8, out);
		if (bytes >= 4)
			declare_gathers(opaque, bytes * 8, out);
	}
}

/* It stays as long as the program: gangs may be in it. */
static bool keep_code(struct tier *t, struct tier_code *c)
{
	struct tier_code **more = realloc(t->code, (t->code_len + 1) * sizeof(struct tier_code *));

	if (!more)
		return false;
	t->code = more;
	t->code[t->code_len++] = c;
	return true;
}

static void name_run(const struct tier *t, const struct tier_run *r, char *name, size_t size)
{
	snprintf(name, size, "run_%u", (u32)(r - t->runs));
}

/* Once for a process, where code is asked for. */
static void tell_why(const struct text *why)
{
	static bool told; /* atomic */

	if (tier_chosen() == TIER_TWO && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"ptxloom: note: PTXLOOM_TIER=2: micro-ops are interpreted that LLVM does not "
			"compile: %s\n",
			why->len ? why->at : "no reason was given");
}

static tier_function *find_spans(struct tier_code *c, const char *name)
{
	char own[48];

	snprintf(own, sizeof(own), "%s" TIER_SPANS, name);
	return tier_llvm_function(c, own);
}

/* Code of all runs `in` the text, used from now on. Returns of how many there is some. */
static u32 compile_text(struct tier *t, struct text *out, const bool *in)
{
	struct text why = {0};
	struct tier_code *c = NULL;
	u32 made = 0;

	if (!out->failed)
		c = tier_llvm_compile(out->at, out->len, &why);
	if (c && !keep_code(t, c)) {
		tier_llvm_free(c);
		c = NULL;
	}
	if (!c)
		tell_why(&why);
	for (u32 i = 0; i < t->run_len; i++) {
		struct tier_run *r = &t->runs[i];
		char name[32];

		if (!in[i])
			continue;
		name_run(t, r, name, sizeof(name));
		r->code = c ? tier_llvm_function(c, name) : NULL;
		r->spans = c && r->has_spans ? find_spans(c, name) : NULL;
		__atomic_fetch_add(r->code ? &counts.made : &counts.failed, 1, __ATOMIC_RELAXED);
		made += r->code != NULL;
		if (r->code)
			tier_set_state(r, TIER_READY);
		else
			tier_leave_run(t, r);
	}
	text_fini(&why);
	return made;
}

/* Text of runs that wait, of BATCH micro-ops or one run. Returns how many micro-ops. */
static u32 emit_waiting(struct tier *t, bool opaque, bool *in, struct text *out)
{
	u32 n = 0;

	for (u32 i = 0; i < t->run_len && n < BATCH; i++) {
		struct tier_run *r = &t->runs[i];
		char name[32];

		if (tier_state_of(r) != TIER_WAIT)
			continue;
		name_run(t, r, name, sizeof(name));
		in[i] = tier_emit(t->program, t->live, r, name, opaque, out);
		n += in[i] ? r->n : 0;
		if (!in[i])
			tier_leave_run(t, r);
	}
	return n;
}

bool tier_compile_some(struct tier *t)
{
	struct text out = {0};
	bool *in = calloc(t->run_len, sizeof(bool)), opaque;
	u64 began = stats_begin(), runs = 0;
	u32 n;

	if (!in || !tier_llvm_ready()) {
		tier_leave_waiting(t);
		free(in);
		return false;
	}
	opaque = tier_llvm_opaque();
	put_declarations(opaque, &out);
	put_frame(t, &out);
	n = emit_waiting(t, opaque, in, &out);
	if (n)
		runs = compile_text(t, &out, in);
	stats_end(STATS_COMPILE, began, runs);
	text_fini(&out);
	free(in);
	return n != 0;
}
