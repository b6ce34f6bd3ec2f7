/*
 * Lane operations under guards and in divergent code, for every shape of handler; 16-bit registers
 * whatever the upper half of their row holds; carry flags across branches. What the operations
 * compute is checked by exec_vectors.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define THREADS 300u
#define VARIANTS 6u

enum { NOTHING, PLAIN, GUARDED, BRANCHED, WHOLE_WARPS, GUARDED_NOT };

/* Result type and instruction; %d is the result. */
struct form {
	const char *type, *text;
};

static const struct form forms[] = {
	{"b16", "add.u16 %d,%h,%i"},
	{"b16", "min.s16 %d,%h,%i"},
	{"b16", "addc.u16 %d,%h,%i"},
	{"b16", "madc.hi.s16 %d,%h,%i,%h"},
	{"b16", "cvt.s16.s8 %d,%a"},
	{"b16", "cvt.u16.s8 %d,%a"},
	{"b16", "set.lt.u16.f16 %d,%h,%i"},
	{"b32", "not.b32 %d,%a"},
	{"b32", "popc.b64 %d,%x"},
	{"b32", "clz.b64 %d,%x"},
	{"b32", "sub.u32 %d,%a,%b"},
	{"b32", "mad.lo.u32 %d,%a,%b,%c"},
	{"b32", "bfi.b32 %d,%a,%b,%c,%e"},
	{"b32", "bfe.s32 %d,%a,40,20"},
	{"b32", "prmt.b32 %d,%a,%b,0x9180"},
	{"b32", "prmt.b32.rc8 %d,%a,%b,%c"},
	{"b32", "fns.b32 %d,%a,0,3"},
	{"b32", "lop3.b32 %d,%a,%b,%c,0x96"},
	{"b32", "lop3.b32 %d,%a,%b,%c,0x2d"},
	{"b32", "lop3.or.b32 %d|%q,%a,%b,%c,0x80,!%p"},
	{"b32", "selp.b32 %d,%a,%b,%r"},
	{"b32", "slct.b32.s32 %d,%a,%b,%c"},
	{"b32", "set.lt.and.u32.s64 %d,%x,%y,%r"},
	{"b32", "set.leu.xor.u32.f16x2 %d,%a,%b,!%r"},
	{"b32", "dp4a.u32.s32 %d,%a,%b,%c"},
	{"b32", "vadd2.s32.s32.u32.sat %d,%a,%b,%c"},
	{"b32", "vadd.s32.s32.u32.sat.min %d,%a.h1,%b.b0,%c"},
	{"b32", "vmad.s32.s32.u32.shr7 %d,%a.b3,-%b.h0,%c"},
	{"b32", "cvt.sat.s8.u64 %d,%x"},
	{"b32", "cvt.pack.sat.u8.s32.b32 %d,%a,%b,%c"},
	{"b32", "mov.u32 %d,%laneid"},
	{"b32", "cvt.u32.u32 %d,%tid.x"},
	{"b32", "add.cc.u32 %d,%a,%b"},
	{"b32", "addc.u32 %d,%a,%b"},
	{"b32", "addc.cc.u32 %d,%a,%b"},
	{"b32", "subc.cc.u32 %d,%a,%b"},
	{"b32", "mad.hi.cc.u32 %d,%a,%b,%c"},
	{"b32", "madc.lo.u32 %d,%a,%b,%c"},
	{"b32", "madc.lo.cc.u32 %d,%a,%b,%c"},
	{"b64", "not.b64 %d,%x"},
	{"b64", "shl.b64 %d,%x,%c"},
	{"b64", "mul.wide.s32 %d,%a,%b"},
	{"b64", "mad.wide.u32 %d,%a,%b,%x"},
	{"b64", "mad.hi.s64 %d,%x,%y,%x"},
	{"b64", "bfe.u64 %d,%x,%e,%e"},
	{"b64", "bfi.b64 %d,%x,%y,%e,%e"},
	{"b64", "selp.b64 %d,%x,%y,%r"},
	{"b64", "slct.u64.f32 %d,%x,%y,%f"},
	{"b64", "cvt.s64.s16 %d,%a"},
	{"b64", "cvt.sat.u64.s32 %d,%a"},
	{"b64", "cvt.s16.s32 %d,%a"},
	{"b64", "div.s64 %d,%x,%y"},
	{"b64", "sub.cc.u64 %d,%x,%y"},
	{"b64", "subc.u64 %d,%x,%y"},
	{"b64", "addc.cc.u64 %d,%x,%y"},
	{"b64", "mad.lo.cc.u64 %d,%x,%y,%x"},
	{"b64", "madc.hi.u64 %d,%x,%y,%x"},
	{"b64", "madc.hi.cc.s64 %d,%x,%y,%x"},
	{"pred", "setp.lt.u32 %d,%a,%b"},
	{"pred", "setp.ge.s16 %d,%h,%i"},
	{"pred", "setp.gt.s64 %d,%x,%y"},
	{"pred", "setp.ne.xor.b32 %d|%q,%a,%b,%r"},
	{"pred", "setp.ltu.or.f16x2 %q|%d,%a,%b,!%r"},
	{"pred", "setp.eq.f32 %q|%d,%f,%f"},
	{"pred", "lop3.and.b32 _|%d,%a,%b,%c,0x01,%r"},
	{"pred", "xor.pred %d,%r,!%p"},
	{"pred", "not.pred %d,%r"},
	{"pred", "mov.pred %d,!%r"},
	{"pred", "testp.normal.f64 %d,%x"},
};

/* Values that differ by lane, p alternating within warps, w the same in a warp, r of no order. */
static const char prologue[] =
	".reg .b64 %out; .reg .b32 %t; .reg .b64 %x, %y, %v; .reg .b32 %a, %b, %c, %e, %k, %s; "
	".reg .f32 %f; .reg .b16 %h, %i;\n"
	".reg .pred %p, %q, %r, %w;\n"
	"ld.param.u64 %out,[out]; mov.u32 %t,%tid.x; mad.wide.u32 %out,%t,96,%out;\n"
	"mad.lo.u32 %a,%t,0x9e3779b1,0x12345; mad.lo.u32 %b,%a,0x85ebca6b,77; "
	"mad.lo.u32 %c,%b,%b,%a; and.b32 %e,%c,63;\n"
	"xor.b32 %k,%a,%c; mov.b64 %x,{%b,%k}; mov.b64 %y,{%c,%a}; mov.b32 {%h,%i},%k; mov.b32 %f,%c;\n"
	"and.b32 %s,%b,5; setp.eq.u32 %p,%s,1; and.b32 %s,%t,32; setp.ne.u32 %w,%s,0; setp.lt.s32 %r,%c,0;\n";

static void write_variant(struct text *out, const struct form *f, u32 n)
{
	bool pred = !strcmp(f->type, "pred"), wide = !strcmp(f->type, "b64"),
	     narrow = !strcmp(f->type, "b16");

	/* What a lane that takes no part keeps: a mark in d, and the carry of a + b. */
	if (pred)
		text_puts(out, "setp.gt.u32 %d,%b,0x60000000;\n");
	else
		text_printf(out, "mov.%s %%d,%s;\n", f->type, wide ? "%y" : narrow ? "%h" : "%c");
	text_puts(out, "add.cc.u32 %s,%a,%k;\n");
	switch (n) {
	case NOTHING:
		break;
	case PLAIN:
		text_printf(out, "%s;\n", f->text);
		break;
	case GUARDED:
		text_printf(out, "@%%p %s;\n", f->text);
		break;
	case BRANCHED:
		text_printf(out, "@!%%p bra SKIP; %s; SKIP:\n", f->text);
		break;
	case WHOLE_WARPS:
		text_printf(out, "@%%w %s;\n", f->text);
		break;
	default:
		text_printf(out, "@!%%p %s;\n", f->text);
		break;
	}
	text_puts(out, "addc.u32 %s,0,0;\n");
	text_puts(out, pred     ? "selp.u64 %v,1,0,%d;\n"
		       : wide   ? "mov.b64 %v,%d;\n"
		       : narrow ? "cvt.u64.u16 %v,%d;\n"
				: "cvt.u64.u32 %v,%d;\n");
	text_printf(
		out,
		"st.global.u64 [%%out+%u],%%v; st.global.u32 [%%out+%u],%%s; selp.u32 %%s,1,0,%%p; "
		"st.global.u32 [%%out+%u],%%s;\n",
		16 * n, 16 * n + 8, 16 * n + 12);
}

struct record {
	u64 d;
	u32 carry, p;
};

static bool same(const struct record *a, const struct record *b)
{
	return a->d == b->d && a->carry == b->carry;
}

/* Also false when the instruction changes nothing: then it would prove nothing. */
static bool masks_hold(const struct record *all)
{
	bool changes = false;

	for (u32 t = 0; t < THREADS; t++) {
		const struct record *r = all + t * VARIANTS, *on = &r[PLAIN], *off = &r[NOTHING];
		bool p = r->p, w = t & 32;

		changes |= !same(on, off);
		if (!same(&r[GUARDED], p ? on : off) || !same(&r[BRANCHED], p ? on : off) ||
		    !same(&r[GUARDED_NOT], p ? off : on) || !same(&r[WHOLE_WARPS], w ? on : off)) {
			printf("# thread %u: p %d w %d\n", t, p, w);
			for (u32 i = 0; i < VARIANTS; i++)
				printf("# %u: %llx carry %u\n", i, (unsigned long long)r[i].d,
				       r[i].carry);
			return false;
		}
	}
	return changes;
}

static void test_masks(const char *level)
{
	for (u32 i = 0; i < ARRAY_LEN(forms); i++) {
		struct text ptx = {NULL, 0, 0, false};
		struct harness h;
		char what[160];
		bool ok = false;
		u64 out;

		text_printf(
			&ptx,
			".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n%s",
			prologue);
		text_printf(&ptx, ".reg .%s %%d;\n", forms[i].type);
		for (u32 n = 0; n < VARIANTS; n++)
			write_variant(&ptx, &forms[i], n);
		text_puts(&ptx, "ret;\n}\n");
		if (harness_open(&h, ptx.at)) {
			out = mem_alloc(&h.mem, sizeof(struct record) * VARIANTS * THREADS, 0,
					MEM_KIND_DEVICE);
			ok = harness_run(&h, "k", 1, THREADS, &out, level) == STOP_DONE &&
			     masks_hold((const struct record *)(uintptr_t)out);
		}
		snprintf(what, sizeof(what), "%s: masked lanes keep what they had on %s",
			 forms[i].text, level);
		CHECK_MSG(ok, what);
		harness_close(&h);
		text_fini(&ptx);
	}
}

/* %h: the same 16 bits, once sign-extended in its row and once not. */
static const struct form readers[] = {
	{"b16", "add.u16 %d,%h,1"},
	{"b16", "sub.s16 %d,7,%h"},
	{"b16", "mul.hi.u16 %d,%h,%h"},
	{"b16", "mad.hi.s16 %d,%h,%h,%h"},
	{"b16", "div.u16 %d,%h,3"},
	{"b16", "rem.s16 %d,%h,7"},
	{"b16", "max.u16 %d,%h,5"},
	{"b16", "min.s16 %d,%h,5"},
	{"b16", "sad.u16 %d,%h,9,%h"},
	{"b16", "abs.s16 %d,%h"},
	{"b16", "neg.s16 %d,%h"},
	{"b16", "not.b16 %d,%h"},
	{"b16", "cnot.b16 %d,%h"},
	{"b16", "shr.u16 %d,%h,3"},
	{"b16", "shr.s16 %d,%h,3"},
	{"b16", "shl.b16 %d,%h,3"},
	{"b16", "and.b16 %d,%h,0x7fff"},
	{"b16", "xor.b16 %d,%h,%h"},
	{"b16", "mov.b16 %d,%h"},
	{"b16", "cvt.u16.u16 %d,%h"},
	{"b16", "addc.u16 %d,%h,%h"},
	{"b16", "madc.hi.u16 %d,%h,%h,%h"},
	{"b32", "mul.wide.u16 %d,%h,%h"},
	{"b32", "mul.wide.s16 %d,%h,%h"},
	{"b32", "mad.wide.u16 %d,%h,%h,3"},
	{"b32", "cvt.u32.u16 %d,%h"},
	{"b32", "cvt.s32.s16 %d,%h"},
	{"b32", "cvt.u32.u8 %d,%h"},
	{"b32", "cvt.sat.s8.s16 %d,%h"},
	{"b32", "cvt.sat.u8.u16 %d,%h"},
	{"b32", "mov.b32 %d,{%h,%h}"},
	{"b32", "set.lt.u32.u16 %d,%h,0x8000"},
	{"b32", "set.gt.s32.s16 %d,%h,-5"},
	{"b32", "set.eq.u32.b16 %d,%h,-1"},
	{"b32", "set.neu.u32.f16 %d,%h,%h"},
	{"b64", "cvt.u64.u16 %d,%h"},
	{"b64", "cvt.s64.s16 %d,%h"},
	{"b64", "mov.b64 %d,{%h,%h,%h,%h}"},
};

static void test_16_bit(const char *level)
{
	for (u32 i = 0; i < ARRAY_LEN(readers); i++) {
		struct text ptx = {NULL, 0, 0, false};
		struct harness h;
		char what[160];
		bool ok = false;
		u64 out, *at;

		text_printf(
			&ptx,
			".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
			".reg .b64 %%out; .reg .b32 %%t, %%w; .reg .b16 %%h; .reg .%s %%d;\n"
			"ld.param.u64 %%out,[out]; mov.u32 %%t,%%tid.x; mad.wide.u32 %%out,%%t,16,%%out;\n"
			"cvt.s16.s8 %%h,%%t; %s; st.global.%s [%%out],%%d;\n"
			"cvt.s32.s8 %%w,%%t; mov.b32 {%%h,_},%%w; %s; st.global.%s [%%out+8],%%d;\nret;\n}\n",
			readers[i].type, readers[i].text, readers[i].type, readers[i].text,
			readers[i].type);
		if (harness_open(&h, ptx.at)) {
			out = mem_alloc(&h.mem, 16 * 256, 0, MEM_KIND_DEVICE);
			at = (u64 *)(uintptr_t)out;
			ok = harness_run(&h, "k", 1, 256, &out, level) == STOP_DONE;
			for (u32 t = 0; t < 256; t++)
				ok &= at[2 * t] == at[2 * t + 1];
		}
		snprintf(what, sizeof(what), "%s: the upper half does not matter on %s",
			 readers[i].text, level);
		CHECK_MSG(ok, what);
		harness_close(&h);
		text_fini(&ptx);
	}
}

/* The lanes part between the words of a sum; then each adds a number of times that is its own. */
static const char chain[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
	".reg .b64 %in, %out; .reg .b32 %t, %a, %b, %c, %lo, %mid, %hi, %n, %sum, %carries; .reg .pred %p;\n"
	"ld.param.u64 %in,[in]; ld.param.u64 %out,[out]; mov.u32 %t,%tid.x; "
	"mad.wide.u32 %in,%t,12,%in; mad.wide.u32 %out,%t,20,%out;\n"
	"ld.global.u32 %a,[%in]; ld.global.u32 %b,[%in+4]; ld.global.u32 %c,[%in+8]; "
	"and.b32 %n,%t,3; setp.eq.u32 %p,%n,1;\n"
	"add.cc.u32 %lo,%a,%b;\n"
	"@%p bra ODD;\n"
	"addc.cc.u32 %mid,%b,%c; bra JOIN;\n"
	"ODD: subc.cc.u32 %mid,%b,%c;\n"
	"JOIN: addc.u32 %hi,0,0;\n"
	"and.b32 %n,%t,15; mov.u32 %sum,0; mov.u32 %carries,0;\n"
	"LOOP: add.cc.u32 %sum,%sum,%a; setp.eq.u32 %p,%n,0; @%p bra DONE;\n"
	"addc.u32 %carries,%carries,0; sub.u32 %n,%n,1; bra LOOP;\n"
	"DONE: addc.u32 %carries,%carries,0;\n"
	"st.global.u32 [%out],%lo; st.global.u32 [%out+4],%mid; st.global.u32 [%out+8],%hi;\n"
	"st.global.u32 [%out+12],%sum; st.global.u32 [%out+16],%carries; ret;\n}\n";

static bool chain_is_right(const u32 *in, const u32 *out, u32 t)
{
	u64 lo = (u64)in[0] + in[1],
	    mid = (u64)in[1] + ((t & 3) == 1 ? ~in[2] : in[2]) + (lo >> 32),
	    sum = (u64)in[0] * ((t & 15) + 1);

	return out[0] == (u32)lo && out[1] == (u32)mid && out[2] == mid >> 32 &&
	       out[3] == (u32)sum && out[4] == sum >> 32;
}

static void test_carry_chain(const char *level)
{
	struct {
		u64 in, out;
	} params;
	struct harness h;
	u32 *in, *out, seed = 1;
	bool good = true;

	if (!CHECK(harness_open(&h, chain)))
		return;
	params.in = mem_alloc(&h.mem, 12 * THREADS, 0, MEM_KIND_DEVICE);
	params.out = mem_alloc(&h.mem, 20 * THREADS, 0, MEM_KIND_DEVICE);
	in = (u32 *)(uintptr_t)params.in;
	out = (u32 *)(uintptr_t)params.out;
	for (u32 i = 0; i < 3 * THREADS; i++)
		in[i] = seed = seed * 1664525 + 1013904223;
	CHECK_EQ(harness_run(&h, "k", 1, THREADS, &params, level), STOP_DONE);
	for (u32 t = 0; t < THREADS; t++)
		good &= chain_is_right(in + 3 * t, out + 5 * t, t);
	CHECK(good);
	harness_close(&h);
}

/* 128-bit registers decomposed and composed in every way; the parts trade places. */
static const char quads[] =
	".version 8.3\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 out)\n{\n"
	".reg .b64 %out, %x<4>; .reg .b32 %r<8>; .reg .b128 %q<3>; .reg .b16 %h<4>;\n"
	"ld.param.u64 %out,[out];\n"
	"mov.b64 %x0,0x0123456789abcdef; mov.b64 %x1,0x1122334455667788;\n"
	"mov.b128 %q0,{%x0,%x1}; mov.b128 {%r0,%r1,%r2,%r3},%q0; mov.b128 %q1,{%r3,%r2,%r1,%r0}; mov.b128 %q2,%q1;\n"
	"mov.b128 {%x1,%x0},%q2; st.global.v2.u64 [%out],{%x0,%x1};\n"
	"mov.b64 {%h0,%h1,%h2,%h3},%x0; mov.b64 %x2,{%h3,%h2,%h1,%h0}; st.global.u64 [%out+16],%x2;\n"
	"mov.v2.b32 {%r4,%r5},{%r1,%r0}; mov.v2.b32 {%r4,%r5},{%r5,%r4}; "
	"st.global.v2.u32 [%out+24],{%r4,%r5}; ret;\n}\n";

static void test_parts(const char *level)
{
	struct harness h;
	u64 out, *at;

	if (!CHECK(harness_open(&h, quads)))
		return;
	out = mem_alloc(&h.mem, 64, 0, MEM_KIND_DEVICE);
	at = (u64 *)(uintptr_t)out;
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, level), STOP_DONE);
	CHECK_EQ(at[0], 0x89abcdef01234567);
	CHECK_EQ(at[1], 0x5566778811223344);
	CHECK_EQ(at[2], 0x45670123cdef89ab);
	CHECK_EQ(at[3], 0x0123456789abcdef);
	harness_close(&h);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (u32 i = 0; i < ARRAY_LEN(levels); i++) {
		if (!check_level(exec_ops_select(levels[i]), levels[i]))
			continue;
		test_masks(levels[i]);
		test_16_bit(levels[i]);
		test_carry_chain(levels[i]);
		test_parts(levels[i]);
	}
	return check_done();
}
