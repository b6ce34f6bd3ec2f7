/*
 * Local memory: stores and loads of every width, at addresses that all lanes have in common or that
 * differ, of all lanes and of some, through the local and the generic address; what they leave is
 * computed in C as well. At every level of the host, with a whole gang and with one that ends in
 * part of a warp.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "src/base/text.h"
#include "tests/unit/exec_harness.h"

#include <stdio.h>

#define BYTES 64u /* of the array of each thread */
#define STEPS 6u
#define WORDS (BYTES / 4 + 1) /* that a thread writes: the array, and what its loads gave */

static const struct shape {
	const char *type; /* of memory */
	u32 size, count;
	bool is_signed;
} shapes[] = {
	{"u8", 1, 1, false},  {"s8", 1, 1, true},   {"u16", 2, 1, false}, {"s16", 2, 1, true},
	{"u32", 4, 1, false}, {"s32", 4, 1, true},  {"u64", 8, 1, false}, {"u8", 1, 4, false},
	{"u16", 2, 2, false}, {"u32", 4, 2, false}, {"u32", 4, 4, false}, {"u64", 8, 2, false},
};

enum lanes { ALL, GUARDED, BRANCHED, ONE, LANES_KINDS };

struct trial {
	const struct shape *s;
	bool apart, generic, wide; /* wide: the data is in 64-bit registers */
	enum lanes lanes;
};

static bool takes_part(const struct trial *t, u32 thread)
{
	return t->lanes == ALL || (t->lanes == ONE ? thread == 37 : thread % 3 != 0);
}

/* Where a thread's access of a step begins. */
static u32 offset_of(const struct trial *t, u32 step, u32 thread)
{
	u32 width = t->s->size * t->s->count, places = BYTES / width;

	return (step * 5 + 1 + (t->apart ? thread * 7 : 0)) % places * width;
}

static u64 value_of(u32 step, u32 e, u32 thread)
{
	return ((u64)thread * 0x9e3779b1u + (u32)(step * 0x85ebca6bu + e * 0xc2b2ae35u)) *
	       0x100000001b3u;
}

/* ---- as PTX ---- */

static void put_list(const struct trial *t, struct text *o, const char *reg)
{
	if (t->s->count == 1) {
		text_printf(o, "%s0", reg);
		return;
	}
	for (u32 e = 0; e < t->s->count; e++)
		text_printf(o, "%s%s%u", e ? "," : "{", reg, e);
	text_puts(o, "}");
}

static void put_access(const struct trial *t, struct text *o, bool store, const char *reg)
{
	char vec[16] = "";

	if (t->s->count > 1)
		snprintf(vec, sizeof(vec), ".v%u", t->s->count);
	text_printf(o, "%s%s%s%s.%s ", t->lanes == GUARDED ? "@%p " : "", store ? "st" : "ld",
		    t->generic ? "" : ".local", vec, t->s->type);
	if (store)
		text_puts(o, "[%at],");
	put_list(t, o, reg);
	text_puts(o, store ? ";\n" : ",[%at];\n");
}

static void put_step(const struct trial *t, struct text *o, u32 step)
{
	u32 width = t->s->size * t->s->count;
	const char *reg = t->wide ? "%y" : "%w";

	text_printf(o,
		    "mad.lo.u32 %%i,%%m,%u,%u; rem.u32 %%i,%%i,%u; mul.wide.u32 %%at,%%i,%u;\n"
		    "add.u64 %%at,%%at,%%l;\n",
		    t->apart ? 7u : 0u, step * 5 + 1, BYTES / width, width);
	for (u32 e = 0; e < t->s->count; e++)
		text_printf(
			o,
			"mad.wide.u32 %%y%u,%%m,0x9e3779b1,%llu; mul.lo.u64 %%y%u,%%y%u,0x100000001b3;"
			"cvt.u32.u64 %%w%u,%%y%u;\n",
			e, (unsigned long long)(u32)(step * 0x85ebca6bu + e * 0xc2b2ae35u), e, e, e,
			e);
	if (t->lanes == BRANCHED || t->lanes == ONE)
		text_printf(o, "@!%%p bra S%u;\n", step);
	put_access(t, o, true, reg);
	put_access(t, o, false, reg);
	for (u32 e = 0; e < t->s->count; e++) {
		if (t->wide)
			text_printf(o, "mov.b64 {%%c,%%k},%%y%u; xor.b32 %%c,%%c,%%k;\n", e);
		else
			text_printf(o, "mov.b32 %%c,%%w%u;\n", e);
		text_printf(o, "%smad.lo.u32 %%x,%%x,31,%%c;\n", t->lanes == GUARDED ? "@%p " : "");
	}
	text_printf(o, "S%u:\n", step);
}

static const char *const predicates[LANES_KINDS] = {
	"setp.eq.u32 %p,0,0;", "rem.u32 %i,%m,3; setp.ne.u32 %p,%i,0;",
	"rem.u32 %i,%m,3; setp.ne.u32 %p,%i,0;", "setp.eq.u32 %p,%m,37;"};

static void put(const struct trial *t, struct text *o)
{
	text_puts(
		o,
		".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n"
		"{ .reg .u64 %o,%l,%at,%y<4>; .reg .u32 %m,%i,%c,%k,%x,%w<4>; .reg .pred %p;\n"
		".local .align 16 .b8 before[16]; .local .align 16 .b8 loc[64];\n"
		"ld.param.u64 %o,[out]; mov.u32 %m,%tid.x; mov.u64 %l,loc; mov.b32 %x,0;\n");
	text_printf(o, "%s\n%s\nst.local.u32 [before+12],-1;\n",
		    t->generic ? "cvta.local.u64 %l,%l;" : "", predicates[t->lanes]);
	for (u32 i = 0; i < BYTES / 4; i++)
		text_printf(o, "st.local.u32 [loc+%u],%u;\n", 4 * i, i * 0x01010101u);
	for (u32 k = 0; k < STEPS; k++)
		put_step(t, o, k);
	text_printf(o, "mad.wide.u32 %%o,%%m,%u,%%o;\n", 4 * WORDS);
	for (u32 i = 0; i < BYTES / 4; i++)
		text_printf(o, "ld.local.u32 %%c,[loc+%u]; st.global.u32 [%%o+%u],%%c;\n", 4 * i,
			    4 * i);
	text_printf(o, "st.global.u32 [%%o+%u],%%x; ret; }\n", BYTES);
}

/* ---- as C ---- */

static u64 extended(const struct shape *s, u64 v)
{
	u32 shift = 64 - 8 * s->size;

	return s->is_signed ? (u64)((s64)(v << shift) >> shift) : v << shift >> shift;
}

static void compute(const struct trial *t, u32 thread, u32 *want)
{
	u8 *bytes = (u8 *)want;
	u32 x = 0;

	for (u32 i = 0; i < BYTES / 4; i++)
		want[i] = i * 0x01010101u;
	for (u32 k = 0; k < STEPS && takes_part(t, thread); k++)
		for (u32 e = 0; e < t->s->count; e++) {
			u64 v = value_of(k, e, thread);

			memcpy(bytes + offset_of(t, k, thread) + e * t->s->size, &v, t->s->size);
			v = extended(t->s, v);
			x = x * 31 + ((u32)v ^ (t->wide ? (u32)(v >> 32) : 0));
		}
	want[BYTES / 4] = x;
}

static bool is_right(const struct trial *t, const char *level, u32 threads, const u32 *out)
{
	for (u32 i = 0; i < threads; i++) {
		u32 want[WORDS];

		compute(t, i, want);
		for (u32 k = 0; k < WORDS; k++)
			if (out[i * WORDS + k] != want[k]) {
				printf("# %s: thread %u word %u is %#x, not %#x\n", level, i, k,
				       out[i * WORDS + k], want[k]);
				return false;
			}
	}
	return true;
}

static bool run(const struct trial *t)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	static const u32 threads[] = {256, 45, 300};
	struct text ptx = {0};
	struct harness h;
	u64 params[1];
	bool ok = true;

	put(t, &ptx);
	if (!harness_open(&h, ptx.at)) {
		printf("%s\n", ptx.at);
		return false;
	}
	params[0] = mem_alloc(&h.mem, 300 * 4 * WORDS, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; ok && i < ARRAY_LEN(levels) * ARRAY_LEN(threads); i++) {
		const char *level = levels[i % ARRAY_LEN(levels)];
		u32 n = threads[i / ARRAY_LEN(levels)];

		if (!check_level(exec_ops_select(level), level))
			continue;
		ok = harness_run(&h, "k", 1, n, params, level) == STOP_DONE &&
		     is_right(t, level, n, (const u32 *)(uintptr_t)params[0]);
	}
	if (!ok)
		printf("%s\n", ptx.at);
	harness_close(&h);
	text_fini(&ptx);
	return ok;
}

int main(void)
{
	for (u32 i = 0; i < ARRAY_LEN(shapes) * 8 * LANES_KINDS; i++) {
		struct trial t = {.s = &shapes[i / (8 * LANES_KINDS)],
				  .apart = i & 1,
				  .generic = i & 2,
				  .wide = i & 4 || shapes[i / (8 * LANES_KINDS)].size == 8,
				  .lanes = (enum lanes)(i / 8 % LANES_KINDS)};
		char name[96];

		snprintf(name, sizeof(name), "%s x %u, %s, %s addresses, %s registers, lanes %u",
			 t.s->type, t.s->count, t.apart ? "apart" : "common",
			 t.generic ? "generic" : "local", t.wide ? "64-bit" : "32-bit", t.lanes);
		CHECK_MSG(run(&t), name);
	}
	return check_done();
}
