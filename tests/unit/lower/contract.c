/*
 * Products in sums: which mul and add become one fma. Each case says so by its results. A = f0 * f1
 * is x * x and B = f2 * f3 is -(x * x), where x * x = r + e is rounded to r; f4 is -r and f5 is r.
 * A sum that takes A is e (or has -e for its opposite), one that takes B is -e, and one of rounded
 * products is zero. The expectations are what ptxas 13.0 makes of the same text, read from its
 * code.
 */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#include <stdio.h>

struct rule {
	const char *what, *body; /* TT: the type; XX: x */
	const char *want;        /* of f10, f11 ..: + e, - minus e, 0; . anything */
};

#define A "mul.TT f20, f0, f1; "
#define B "mul.TT f21, f2, f3; "

static const struct rule rules[] = {
	{"a product and an addend", A "add.TT f10, f20, f4;", "+"},
	{"the other way round", A "add.TT f10, f4, f20;", "+"},
	{"ab - c", A "sub.TT f10, f20, f5;", "+"},
	{"c - ab", A "sub.TT f10, f5, f20;", "-"},
	{"the product is stored, too", A "add.TT f10, f20, f4; st.global.TT [%rd1], f20;", "0"},
	{"two sums", A "add.TT f10, f20, f4; sub.TT f11, f5, f20;", "+-"},
	{"two sums, one of them rounded", A "add.TT f10, f20, f4; add.rn.TT f11, f20, f4;", "00"},
	{"a sum and a product",
	 A "add.TT f10, f20, f4; mul.TT f22, f20, f5;st.global.TT [%rd1], f22;", "0"},
	{"a sum and a fused one", A "add.TT f10, f20, f4; fma.rn.TT f11, f20, f5, f5;", "0."},
	{"the first of two products", A B "add.TT f10, f20, f21;", "+"},
	{"in the order of operands, not of the text", A B "add.TT f10, f21, f20;", "-"},
	{"ab - cd", A "mul.TT f21, f3, f3; sub.TT f10, f20, f21;", "+"},
	{"twice the same", A "add.TT f22, f20, f20; add.TT f10, f22, f4; add.TT f11, f10, f4;",
	 ".0"},
	{"a product rounded by request", "mul.rn.TT f20, f0, f1; add.TT f10, f20, f4;", "0"},
	{"a sum rounded by request", A "add.rn.TT f10, f20, f4;", "0"},
	{"other blocks",
	 A "setp.lt.TT %p1, f4, f5; @%p1 bra L; bra M; L: add.TT f10, f20, f4; M:", "0"},
	{"other blocks, a constant factor",
	 "mul.TT f20, f0, XX; setp.lt.TT %p1, f5, f4; @%p1 bra L; bar.sync 0; add.TT f10, f20, f4; L:",
	 "+"},
	{"other blocks, two sums",
	 "mov.TT f22, XX; mul.TT f20, f22, f0; add.TT f11, f20, f4; "
	 "setp.lt.TT %p1, f5, f4; @%p1 bra L; bar.sync 0; add.TT f10, f20, f4; L:",
	 "++"},
	{"other blocks, a sum and something else",
	 "mul.TT f20, f0, XX; add.TT f11, f20, f4; "
	 "setp.lt.TT %p1, f5, f4; @%p1 bra L; st.global.TT [%rd1], f20; add.TT f10, f20, f4; L:",
	 "00"},
	{"a guarded sum", A "setp.lt.TT %p1, f4, f5; @%p1 add.TT f10, f20, f4;", "+"},
	{"a guarded product",
	 "mov.TT f20, f5; setp.lt.TT %p1, f4, f5; @%p1 " A "add.TT f10, f20, f4;", "0"},
	{"a guarded store between",
	 A "setp.lt.TT %p1, f4, f5; @%p1 st.global.TT [%rd1], f5; add.TT f10, f20, f4;", "0"},
	{"guarded arithmetic between",
	 A "setp.lt.TT %p1, f4, f5; @%p1 add.s32 %r1, %r2, 1; add.TT f10, f20, f4;", "+"},
	{"a label that nothing jumps to", A "L: add.TT f10, f20, f4;", "+"},
	{"a barrier between", A "bar.sync 0; add.TT f10, f20, f4;", "+"},
	{"a fence between", A "fence.acq_rel.gpu; add.TT f10, f20, f4;", "0"},
	{"membar between", A "membar.cta; add.TT f10, f20, f4;", "0"},
	{"a fence of proxies between", A "fence.proxy.async; add.TT f10, f20, f4;", "+"},
	{"a division between",
	 A "div.s32 %r1, %r1, %r2; st.global.b32 [%rd1+128], %r1; add.TT f10, f20, f4;", "0"},
	{"an unsigned division between", A "div.u32 %r1, %r1, %r2; add.TT f10, f20, f4;", "+"},
	{"a reciprocal between", A "rcp.rn.f64 %rd2, %rd2; add.TT f10, f20, f4;", "0"},
	{"a reciprocal of a number between",
	 A "rcp.rn.f64 %rd2, 0d4008000000000000; add.TT f10, f20, f4;", "+"},
	{"a root of a number between",
	 A "sqrt.rn.f64 %rd2, 0d4008000000000000; add.TT f10, f20, f4;", "+"},
	{"a root between", A "sqrt.rn.f64 %rd2, %rd2; add.TT f10, f20, f4;", "0"},
	{"A has another sum", A B "add.TT f10, f20, f21; add.TT f11, f20, f4;", "-0"},
	{"B has another sum", A B "add.TT f10, f20, f21; add.TT f11, f21, f5;", "+0"},
	{"B has another sum before", A B "add.TT f11, f21, f5; add.TT f10, f20, f21;", "+0"},
	{"both have others, before",
	 A B "add.TT f10, f20, f4; add.TT f11, f21, f5; add.TT f12, f20, f21;", "+-+"},
	{"both have others, behind",
	 A B "add.TT f12, f20, f21; add.TT f10, f20, f4; add.TT f11, f21, f5;", "+0+"},
	{"sum and difference", A B "add.TT f10, f20, f21; add.TT f11, f21, f20;", "++"},
	{"a factor is overwritten", A "add.TT f0, f4, f4; add.TT f10, f20, f4;", "+"},
	{"the product's register is used again",
	 A "add.TT f10, f20, f4; mul.TT f20, f2, f3; add.TT f11, f20, f5;", "+-"},
	{"the product's register lives on",
	 A "add.TT f10, f20, f4; setp.lt.TT %p1, f5, f4; @%p1 bra M; st.global.TT [%rd1], f20; "
	   "M: mul.TT f20, f2, f3; add.TT f12, f20, f5;",
	 "0.-"},
};

static const struct type {
	const char *name, *bits, *x_text;
	u32 size;
	u64 x, r, e;
} types[] = {
	{"f32", "b32", "0f3f800800", 4, 0x3f800800, 0x3f801000, 0x33800000},
	{"f64", "b64", "0d3ff0000002000000", 8, 0x3ff0000002000000, 0x3ff0000004000000,
	 0x3c90000000000000},
	{"f16", "b16", NULL, 2, 0x3c10, 0x3c20, 0x0c00},
};

/*
 * The body with registers and types filled in, between loads of f0 to f5 and stores of f10 to f12.
 */
static void write_kernel(char *out, size_t size, const struct type *t, const char *body)
{
	size_t n = (size_t)snprintf(
		out, size,
		".version 8.0\n.target sm_90\n.address_size 64\n"
		".visible .entry k(.param .u64 p)\n{\n.reg .%s %%f<40>; .reg .b64 %%rd<4>; "
		".reg .pred %%p<4>; .reg .b32 %%r<4>;\nld.param.u64 %%rd1, [p];\n",
		t->bits);

	for (u32 i = 0; i < 6; i++)
		n += (size_t)snprintf(out + n, size - n, "ld.global.%s %%f%u, [%%rd1+%u];\n",
				      t->bits, i, (i + 1) * t->size);
	for (u32 i = 10; i < 13; i++)
		n += (size_t)snprintf(out + n, size - n, "mov.%s %%f%u, %%f5;\n", t->bits, i);
	for (const char *s = body; *s && n + 8 < size;) {
		bool store = (s > body + 10 && !strncmp(s - 10, "st.global.", 10)) ||
			     (s >= body + 4 && !strncmp(s - 4, "mov.", 4));

		if (!strncmp(s, "TT", 2)) {
			n += (size_t)snprintf(out + n, size - n, "%s", store ? t->bits : t->name);
			s += 2;
			continue;
		}
		if (!strncmp(s, "XX", 2)) {
			n += (size_t)snprintf(out + n, size - n, "%s", t->x_text);
			s += 2;
			continue;
		}
		if (*s == 'f' && s[1] >= '0' && s[1] <= '9' && (s == body || s[-1] == ' '))
			out[n++] = '%';
		out[n++] = *s++;
	}
	for (u32 i = 0; i < 3; i++)
		n += (size_t)snprintf(out + n, size - n, "st.global.%s [%%rd1+%u], %%f%u;\n",
				      t->bits, 64 + i * t->size, 10 + i);
	snprintf(out + n, size - n, "ret;\n}\n");
}

static void check_rule(const struct rule *r, const struct type *t)
{
	u64 sign = (u64)1 << (8 * t->size - 1), out, got,
	    in[6] = {t->x, t->x, t->x | sign, t->x, t->r | sign, t->r};
	struct harness h;
	char text[4096];
	bool good = true;

	write_kernel(text, sizeof(text), t, r->body);
	if (!CHECK(harness_open(&h, text)))
		return;
	h.contract = true;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < 6; i++)
		memcpy((u8 *)(uintptr_t)out + (i + 1) * t->size, &in[i], t->size);
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, NULL), STOP_DONE);
	for (u32 i = 0; r->want[i]; i++) {
		u64 want = r->want[i] == '0' ? 0 : r->want[i] == '+' ? t->e : t->e | sign;

		got = 0;
		memcpy(&got, (u8 *)(uintptr_t)out + 64 + i * t->size, t->size);
		good &= r->want[i] == '.' || got == want;
	}
	snprintf(text, sizeof(text), "%s: %s", t->name, r->what);
	CHECK_MSG(good, text);
	harness_close(&h);
}

/* Quotients end with a product: 1 / 3 is rounded twice, or once in a sum. */
static void check_quotient(const char *div, const char *add, const char *sum)
{
	f32 in[3] = {1, 3, 0}, r;
	u32 bits[2];
	struct harness h;
	char text[1024];
	u64 out;

	snprintf(
		text, sizeof(text),
		".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
		".reg .f32 %%f<9>; .reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
		"ld.global.f32 %%f0, [%%rd1]; ld.global.f32 %%f1, [%%rd1+4];\n"
		"rcp.approx.f32 %%f4, %%f1; mul.rn.f32 %%f5, %%f0, %%f4; neg.f32 %%f5, %%f5;\n"
		"%s %%f2, %%f0, %%f1; %s %%f3, %%f2, %%f5; st.global.f32 [%%rd1+12], %%f3;\n"
		"fma.rn.f32 %%f6, %%f0, %%f4, %%f5; st.global.f32 [%%rd1+16], %%f6; ret;\n}\n",
		div, add);
	if (!CHECK(harness_open(&h, text)))
		return;
	h.contract = true;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	in[0] = 1.3f;
	memcpy((void *)(uintptr_t)out, in, sizeof(in));
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, NULL), STOP_DONE);
	memcpy(bits, (u8 *)(uintptr_t)out + 12, 8);
	memcpy(&r, &bits[1], 4);
	CHECK(r != 0);
	snprintf(text, sizeof(text), "%s in %s: %s", div, add, sum);
	CHECK_MSG((bits[0] == bits[1]) == (*sum == 'f') && (bits[0] == 0) == (*sum == '0'), text);
	harness_close(&h);
}

/* 1 / 0x3f8005a9 is 0x3f7ff4af; the reciprocal unit says 0x3f7ff4ae. */
static void check_number(const char *div, const char *number, u32 want)
{
	struct harness h;
	char text[1024];
	u64 out;
	u32 got;

	snprintf(
		text, sizeof(text),
		".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
		".reg .f32 %%f<9>; .reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
		"ld.global.f32 %%f0, [%%rd1]; ld.global.f32 %%f2, [%%rd1+4]; mov.f32 %%f1, 0f3f8005a9;\n"
		"%s %%f3, %%f0, %s; st.global.f32 [%%rd1+8], %%f3; ret;\n}\n",
		div, number);
	if (!CHECK(harness_open(&h, text)))
		return;
	h.contract = true;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	((u32 *)(uintptr_t)out)[0] = 0x3f800000;
	((u32 *)(uintptr_t)out)[1] = 0x3f8005a9;
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, NULL), STOP_DONE);
	got = ((u32 *)(uintptr_t)out)[2];
	CHECK_EQ(got, want);
	harness_close(&h);
}

#define DIVISORS 64u

static u32 divisor(u32 exponent, u32 i)
{
	return exponent << 23 | ((i + 1) * 0x12345b & 0x7fffff);
}

/*
 * Which divisors are products with the reciprocal rounded to nearest is a matter of their exponent:
 * of many with the same one, all are, or some are what the reciprocal unit gives.
 */
static void check_exponent(const char *div, u32 exponent, bool nearest)
{
	const u32 x = (exponent << 23) + 0x00a66666;
	u32 wrong = 0, *memory;
	struct text t = {0};
	struct harness h;
	char what[80];
	u64 out;

	text_puts(&t, ".version 8.0\n.target sm_90\n.address_size 64\n"
		      ".visible .entry k(.param .u64 p)\n{\n.reg .f32 %f<2>; .reg .b64 %rd<2>;\n"
		      "ld.param.u64 %rd1, [p]; ld.global.f32 %f0, [%rd1];\n");
	for (u32 i = 0; i < DIVISORS; i++)
		text_printf(&t, "%s %%f1, %%f0, 0f%08x; st.global.f32 [%%rd1+%u], %%f1;\n", div,
			    divisor(exponent, i), 4 * i + 4);
	text_puts(&t, "ret;\n}\n");
	if (!CHECK(harness_open(&h, t.at)))
		return;
	h.contract = true;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	memory = (u32 *)(uintptr_t)out;
	memory[0] = x;
	CHECK_EQ(harness_run(&h, "k", 1, 1, &out, NULL), STOP_DONE);
	for (u32 i = 0; i < DIVISORS; i++) {
		f32 reciprocal = (f32)(1.0 / (f64)f32_bits(divisor(exponent, i)));

		wrong += memory[i + 1] != bits_f32(f32_bits(x) * reciprocal);
	}
	snprintf(what, sizeof(what), "%s by numbers of exponent %u: %u of %u are not products", div,
		 exponent, wrong, DIVISORS);
	CHECK_MSG(!wrong == nearest, what);
	harness_close(&h);
	text_fini(&t);
}

/* As for debuggers: nothing is put together. */
static void check_debug(void)
{
	static const struct rule plain = {"for debugging", A "add.TT f10, f20, f4;", "0"};
	u64 sign = (u64)1 << 31, out,
	    in[6] = {types[0].x, types[0].x, 0, 0, types[0].r | sign, types[0].r};
	struct harness h;
	char text[4096];
	u32 got;

	write_kernel(text, sizeof(text), &types[0], plain.body);
	for (u32 i = 0; i < 2; i++) {
		if (!CHECK(harness_open(&h, text)))
			return;
		h.m->debug = i;
		h.contract = true;
		out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
		for (u32 k = 0; k < 6; k++)
			memcpy((u8 *)(uintptr_t)out + (k + 1) * 4, &in[k], 4);
		CHECK_EQ(harness_run(&h, "k", 1, 32, &out, NULL), STOP_DONE);
		memcpy(&got, (u8 *)(uintptr_t)out + 64, 4);
		CHECK_EQ(got, i ? 0 : (u32)types[0].e);
		harness_close(&h);
	}
}

int main(void)
{
	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
		for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
			if (types[t].x_text || !strstr(rules[i].body, "XX"))
				check_rule(&rules[i], &types[t]);
	check_quotient("div.approx.f32", "add.f32", "fused");
	check_quotient("div.approx.ftz.f32", "add.ftz.f32", "fused");
	check_quotient("div.full.f32", "add.f32", "fused");
	check_quotient("div.full.ftz.f32", "add.ftz.f32", "fused");
	check_quotient("div.approx.f32", "add.rn.f32", "0");
	check_quotient("div.approx.ftz.f32", "add.f32", "0");
	check_number("div.approx.f32", "0f3f8005a9", 0x3f7ff4af);
	check_number("div.full.ftz.f32", "%f1", 0x3f7ff4af);
	check_number("div.approx.ftz.f32", "%f2", 0x3f7ff4ae);
	for (u32 i = 0; i < 2; i++) {
		const char *div = i ? "div.full.f32" : "div.approx.f32";

		check_exponent(div, 0, false);
		check_exponent(div, 1, true);
		check_exponent(div, 251, true);
		check_exponent(div, 252, false);
	}
	check_debug();
	return check_done();
}
