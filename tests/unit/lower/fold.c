/*
 * Approximations of constants: what ptxas computes of them itself. The same of numbers that it
 * cannot know are the device's, which are not always as near.
 */
#include "tests/check.h"
#include "src/api/api_int.h"
#include "src/base/text.h"

static const struct {
	const char *op;
	u32 from, to;
} cases[] = {
#define FOLD(op, from, to) {op, from, to},
#include "tests/unit/lower/fold.def"
#undef FOLD
};

#define CASES ((u32)ARRAY_LEN(cases))

/*
 * Each case several ways: an operand that is the number, one that a register is set to, one through
 * two copies; then the cases that are not folded: set twice, and loaded.
 */
#define WAYS 5u

static void put_case(struct text *t, u32 i)
{
	const char *op = cases[i].op;
	u32 from = cases[i].from, at = i * WAYS * 4;

	text_printf(t, "%s %%f0, 0f%08x; st.global.f32 [%%rd0+%u], %%f0;\n", op, from, at);
	text_printf(t, "mov.f32 %%a%u, 0f%08x; %s %%f1, %%a%u; st.global.f32 [%%rd0+%u], %%f1;\n",
		    i, from, op, i, at + 4);
	text_printf(t, "mov.b32 %%b%u, %%a%u; mov.f32 %%c%u, %%b%u; @%%p %s %%f2, %%c%u; ", i, i, i,
		    i, op, i);
	text_printf(t, "st.global.f32 [%%rd0+%u], %%f2;\n", at + 8);
	text_printf(t, "mov.f32 %%t, 0f%08x; %s %%f3, %%t; st.global.f32 [%%rd0+%u], %%f3;\n", from,
		    op, at + 12);
	text_printf(
		t,
		"ld.global.f32 %%f4, [%%rd1+%u]; %s %%f5, %%f4; st.global.f32 [%%rd0+%u], %%f5;\n",
		i * 4, op, at + 16);
}

static void write_kernel(struct text *t)
{
	text_printf(
		t,
		".version 7.8\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
		".reg .pred %%p; .reg .f32 %%f<6>, %%t, %%a<%u>, %%b<%u>, %%c<%u>; .reg .b64 %%rd<2>;\n"
		"ld.param.u64 %%rd0, [out]; ld.param.u64 %%rd1, [in]; setp.eq.u64 %%p, %%rd0, %%rd0;\n",
		CASES, CASES, CASES);
	for (u32 i = 0; i < CASES; i++)
		put_case(t, i);
	text_printf(t, "ret;\n}\n");
}

static void test(struct ptxloom_device *dev, struct ptxloom_module *mod)
{
	struct ptxloom_config c = {.grid = {1}, .block = {1}};
	u32 *out = ptxloom_alloc(dev, CASES * WAYS * 4), *in = ptxloom_alloc(dev, CASES * 4),
	    others = 0;

	for (u32 i = 0; i < CASES; i++)
		in[i] = cases[i].from;
	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(mod, "k"), &c, (void *[]){&out, &in}), 0);
	for (u32 i = 0; i < CASES; i++) {
		for (u32 w = 0; w < 3; w++)
			if (!CHECK_EQ(out[i * WAYS + w], cases[i].to))
				printf("# %s of %08x, way %u\n", cases[i].op, cases[i].from, w);
		CHECK_EQ(out[i * WAYS + 3], out[i * WAYS + 4]);
		others += out[i * WAYS + 4] != cases[i].to;
	}
	CHECK(others > CASES / 20);
	ptxloom_free(dev, out);
	ptxloom_free(dev, in);
}

int main(void)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "h200"};
	struct ptxloom_device *dev = NULL;
	struct ptxloom_module *mod = NULL;
	struct text t = {0};

	write_kernel(&t);
	if (CHECK_EQ(ptxloom_device_open(&o, &dev), 0) &&
	    CHECK_EQ(ptxloom_module_load(dev, t.at, t.len, &mod), 0))
		test(dev, mod);
	ptxloom_device_close(dev);
	text_fini(&t);
	return check_done();
}
