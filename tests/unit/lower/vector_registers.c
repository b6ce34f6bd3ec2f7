/*
 * Vector registers as whole operands: every program runs with a register of type .v2 or .v4 and
 * with single registers in braces in its place, and leaves the same memory. Programs name the whole
 * vector '$' and its elements '$x' to '$w'.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define THREADS 64u
#define WORDS 4u /* 64-bit words for each thread, input and output */

static const char head[] =
	".version 8.8\n.target %s\n.address_size 64\n"
	".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
	".reg .pred %%p<4>; .reg .b16 %%h<8>; .reg .b32 %%r<16>; .reg .b64 %%rd<16>; .reg .b128 %%q<4>;\n"
	".reg .f32 %%f<8>;\n"
	".shared .align 16 .b8 tile[4096];\n"
	"ld.param.u64 %%rd0, [in]; ld.param.u64 %%rd1, [out]; mov.u32 %%r0, %%tid.x;\n"
	"mad.wide.u32 %%rd0, %%r0, 32, %%rd0; mad.wide.u32 %%rd1, %%r0, 32, %%rd1;\n"
	"ld.global.v2.b64 {%%rd2, %%rd3}, [%%rd0]; ld.global.v2.b64 {%%rd4, %%rd5}, [%%rd0+16];\n"
	"cvt.u32.u64 %%r2, %%rd2; cvt.u32.u64 %%r3, %%rd3; and.b32 %%r4, %%r2, 1; setp.ne.u32 %%p0, %%r4, 0;\n"
	"mov.b32 %%r8, 0; mov.b32 %%r9, 0; mov.b64 %%rd8, 0; mov.b64 %%rd9, 0; mov.b64 %%rd10, 0;\n"
	/* 16 bytes of shared memory for each thread */
	"mov.u32 %%r5, tile; mad.lo.u32 %%r5, %%r0, 16, %%r5; st.shared.v2.b64 [%%r5], {%%rd2, %%rd3}; bar.sync 0;\n";
static const char tail[] =
	"st.global.v2.b64 [%rd1], {%rd8, %rd9}; st.global.b64 [%rd1+16], %rd10;\n"
	"st.global.v2.b32 [%rd1+24], {%r8, %r9}; ret;\n}\n";

struct spelling {
	const char *type;
	u32 n;
	const char *text;
	const char *target; /* NULL: sm_90 */
};

static const struct spelling programs[] = {
	/* unpacking and packing, every width */
	{"b64", 2,
	 "mov.b128 %q0, {%rd2, %rd3}; mov.b128 $, %q0; mov.b64 %rd8, $x; "
	 "mov.b64 %rd9, $y;",
	 NULL},
	{"b64", 2,
	 "mov.v2.b64 $, {%rd3, %rd2}; mov.b128 %q0, $; "
	 "mov.b128 {%rd8, %rd9}, %q0;",
	 NULL},
	{"b32", 4,
	 "mov.b128 %q0, {%rd2, %rd3}; mov.b128 $, %q0; mov.b64 %rd8, {$w, $x}; "
	 "mov.b64 %rd9, {$z, $y};",
	 NULL},
	{"u32", 4,
	 "mov.b64 {$x, $y}, %rd3; mov.b64 {$w, $z}, %rd2; mov.b128 %q0, $; "
	 "mov.b128 {%rd8, %rd9}, %q0;",
	 NULL},
	{"b32", 2, "mov.b64 $, %rd2; mov.b32 %r8, $y; mov.b32 %r9, $x;", NULL},
	{"u32", 2, "mov.b32 $x, %r3; mov.b32 $y, %r2; mov.b64 %rd8, $;", NULL},
	{"f32", 2, "mov.b64 $, %rd2; add.f32 $x, $x, $y; mov.b64 %rd8, $;", NULL},
	{"b16", 4, "mov.b64 $, %rd2; mov.b64 %rd8, {$w, $z, $y, $x}; mov.b64 %rd9, $;", NULL},
	{"u16", 4, "mov.b64 $, %rd3; add.u16 $z, $z, $w; mov.b64 %rd9, $;", NULL},
	{"f16", 2, "mov.b32 $, %r2; add.f16 $y, $x, $y; mov.b32 %r8, $;", NULL},
	{"b16", 2, "mov.b32 $, %r2; mov.b32 %r8, {$y, $x}; mov.b32 %r9, $;", NULL},
	{"s16", 2, "mov.b32 {$y, $x}, %r3; mov.b32 %r8, $;", NULL},
	{"b8", 4, "mov.b32 $, %r2; mov.b32 %r8, {$y, $w, $x, $z}; mov.b32 %r9, $;", NULL},
	{"b8", 2,
	 "cvt.u16.u32 %h0, %r2; mov.b16 $, %h0; mov.b16 %h1, {$y, $x}; "
	 "mov.b16 %h2, $; cvt.u32.u16 %r8, %h1; "
	 "cvt.u32.u16 %r9, %h2;",
	 NULL},
	{"b32", 2, "mov.b64 $, 0x123456789abcdef0; mov.b64 %rd8, {$y, $x};", NULL},
	{"b16", 2, "mov.b32 $, %tid.x; mov.b32 %r8, {$y, $x};", NULL},
	/* only where the guard holds */
	{"b32", 2, "mov.b64 $, %rd2; @%p0 mov.b64 $, %rd3; mov.b64 %rd8, {$y, $x};", NULL},
	{"b32", 2, "mov.b64 $, %rd2; @!%p0 mov.b64 %rd8, $;", NULL},
	{"b16", 4,
	 "mov.b64 $, %rd2; @%p0 bra L; mov.b64 $, %rd3; "
	 "L: mov.b64 %rd8, {$y, $x, $w, $z};",
	 NULL},
	/* element by element */
	{"b32", 2, "mov.b64 $, %rd2; mov.v2.b32 $, {$y, $x}; mov.b64 %rd8, {$x, $y};", NULL},
	{"f32", 4,
	 "mov.v4.f32 $, {1.0, 0f40000000, 3.0, 0.5}; mov.b64 %rd8, {$w, $x}; "
	 "mov.b64 %rd9, {$z, $y};",
	 NULL},
	{"u32", 4, "mov.v4.u32 $, %tid; add.u32 %r8, $x, $y; add.u32 %r9, $z, $w;", NULL},
	{"b64", 2, "mov.v2.b64 $, {%rd3, %rd2}; mov.v2.b64 {%rd8, %rd9}, $;", NULL},
	/* loads, stores, atomics */
	{"u32", 2,
	 "ld.global.v2.u32 $, [%rd0+8]; sub.u32 $x, $x, $y; "
	 "st.global.v2.u32 [%rd1], $; mov.b64 %rd8, $;",
	 NULL},
	{"f32", 4,
	 "ld.global.v4.f32 $, [%rd0]; mov.b64 %rd8, {$w, $z}; "
	 "mov.b64 %rd9, {$y, $x};",
	 NULL},
	{"u16", 4, "ld.global.v4.u8 $, [%rd0+3+1]; mov.b64 %rd8, $;", NULL},
	{"s32", 4,
	 "ld.shared.v4.s8 $, [%r5]; mov.b64 %rd8, {$x, $y}; "
	 "mov.b64 %rd9, {$z, $w};",
	 NULL},
	{"b64", 2, "ld.global.v2.b64 $, [%rd0+16]; mov.v2.b64 {%rd9, %rd8}, $;", NULL},
	{"b16", 4, "mov.b64 $, %rd5; st.shared.v4.b16 [%r5], $; ld.shared.b64 %rd8, [%r5];", NULL},
	{"f32", 2,
	 "mov.v2.f32 $, {1.0, 2.0}; red.global.add.v2.f32 [%rd0], $; "
	 "ld.global.b64 %rd8, [%rd0];",
	 NULL},
	{"f32", 4,
	 "mov.v4.f32 $, {1.0, 2.0, 4.0, 8.0}; atom.global.add.v4.f32 $, [%rd0], $; "
	 "mov.b64 %rd8, {$x, $w}; "
	 "mov.b64 %rd9, {$z, $y}; ld.global.b64 %rd10, [%rd0+8];",
	 NULL},
	/* matrices */
	{"b32", 2,
	 "mov.u32 %r6, tile; and.b32 %r7, %r0, 15; mad.lo.u32 %r6, %r7, 16, %r6;"
	 "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 $, [%r6]; mov.b64 %rd8, $;",
	 NULL},
	{"b32", 4,
	 "mov.u32 %r6, tile; and.b32 %r7, %r0, 31; mad.lo.u32 %r6, %r7, 16, %r6;"
	 "ldmatrix.sync.aligned.m8n8.x4.shared.b16 $, [%r6]; mov.b128 %q0, $; mov.b128 {%rd8, %rd9}, %q0;"
	 "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r6], $; bar.sync 0; "
	 "ld.shared.b64 %rd10, [%r5+8];",
	 NULL},
	{"f32", 4,
	 "mov.v4.f32 $, {1.0, 2.0, 3.0, 4.0}; and.b32 %r2, %r2, 0x3fff3fff; "
	 "and.b32 %r3, %r3, 0xbfffbfff;"
	 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 $, {%r2, %r3}, {%r2}, $;"
	 "mov.b64 %rd8, {$x, $y}; mov.b64 %rd9, {$z, $w};",
	 NULL},
	{"b32", 2,
	 "mov.b64 $, %rd2; and.b32 $x, $x, 0x3fff3fff; and.b32 $y, $y, 0x3fff3fff; "
	 "mov.f32 %f0, 0f00000000;"
	 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, $, {%r4}, "
	 "{%f0, %f0, %f0, %f0};"
	 "mov.b64 %rd8, {%f1, %f2}; mov.b64 %rd9, {%f3, %f4};",
	 NULL},
	/* conversions of several values */
	{"f32", 4,
	 "mov.v4.f32 $, {1.0, 2.0, 3.0, 4.5}; mov.b32 $y, %r2; "
	 "cvt.rs.satfinite.e4m3x4.f32 %r8, $, %r3;",
	 "sm_100a"},
	/* calls */
	{"b32", 2,
	 "{ .param .align 8 .b8 a[8]; mov.b64 $, %rd3; st.param.v2.b32 [a], $; "
	 "ld.param.b64 %rd8, [a]; }",
	 NULL},
};

/* Writes the text with '$' as a vector register, or as registers in braces. */
static void spell(char *out, const struct spelling *p, bool braces)
{
	static const char names[] = "xyzw";

	for (const char *s = p->text; *s; s++) {
		const char *part = strchr(names, s[1]);

		if (*s != '$') {
			*out++ = *s;
		} else if (part && s[1]) {
			out += sprintf(out, braces ? "v%c" : "v.%c", *++s);
		} else if (!braces) {
			*out++ = 'v';
		} else {
			out += sprintf(out, "{vx, vy");
			out += p->n == 4 ? sprintf(out, ", vz, vw}") : sprintf(out, "}");
		}
	}
	*out = '\0';
}

static bool run(const struct spelling *p, bool braces, const char *level, u64 *result)
{
	static char text[8192];
	const char *target = p->target ? p->target : "sm_90";
	struct harness h;
	u64 params[2], *in;
	int n = snprintf(text, sizeof(text), head, target);
	bool done;

	n += braces ? sprintf(text + n, ".reg .%s vx, vy, vz, vw;\n", p->type)
		    : sprintf(text + n, ".reg .v%u .%s v;\n", p->n, p->type);
	spell(text + n, p, braces);
	strcat(text, "\n");
	strcat(text, tail);
	if (!CHECK(harness_open(&h, text)))
		return false;
	harness_place_vars(&h);
	params[0] = mem_alloc(&h.mem, THREADS * WORDS * 8, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, THREADS * WORDS * 8, 0, MEM_KIND_DEVICE);
	in = (u64 *)(uintptr_t)params[0];
	for (u32 i = 0; i < THREADS * WORDS; i++)
		in[i] = (i + 1) * 0x9e3779b97f4a7c15u;
	memset((void *)(uintptr_t)params[1], 0xcd, THREADS * WORDS * 8);
	done = CHECK_EQ(harness_run(&h, "k", 1, THREADS, params, level), STOP_DONE);
	if (!done)
		printf("# %s\n# %s\n", p->text, h.fault.text);
	memcpy(result, (void *)(uintptr_t)params[1], THREADS * WORDS * 8);
	harness_close(&h);
	return done;
}

static void test_programs(const char *level)
{
	static u64 vector[THREADS * WORDS], single[THREADS * WORDS];

	if (!check_level(exec_ops_select(level), level))
		return;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		if (!run(&programs[i], false, level, vector) ||
		    !run(&programs[i], true, level, single))
			continue;
		if (!CHECK(!memcmp(vector, single, sizeof(vector))))
			printf("# %s: %s\n", level, programs[i].text);
	}
}

/* Element 0 has the least significant bits: against plain C, as both spellings could be wrong. */
static void test_order(void)
{
	static const struct spelling p = {"b16", 4,
					  "mov.b64 $, %rd2; mov.b64 %rd9, $; cvt.u32.u16 %r8, $x; "
					  "cvt.u32.u16 %r9, $w;",
					  NULL};
	u64 out[THREADS * WORDS];
	u32 bad = 0;

	if (!run(&p, false, NULL, out))
		return;
	for (u32 t = 0; t < THREADS; t++) {
		u64 x = (t * WORDS + 1) * 0x9e3779b97f4a7c15u;

		bad += out[t * WORDS + 1] != x ||
		       out[t * WORDS + 3] != ((x & 0xffff) | (x >> 48) << 32);
	}
	CHECK_EQ(bad, 0);
}

int main(void)
{
	test_programs("base");
	test_programs("v3");
	test_order();
	return check_done();
}
