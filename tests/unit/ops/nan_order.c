/*
 * Which NaN stays where operations of f64 meet several, by the order in which a program makes their
 * operands: tests/vectors/nan_order_gh100.tsv, measured on an H200. A line is a name, the
 * statements that make d of the words a, b and c at i, and a letter for each case: the operand that
 * the result is, made quiet (looked for in the order c, b, a; numbers do not count); capital: with
 * the other sign; n: the NaN made of numbers; a point: none of these.
 */
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/api/api_int.h"
#include "tests/check.h"

#include <stdlib.h>

static const u64 values[] = {0x7ff8000000000001, 0xfff8000000000002, 0x7ff0000000000003,
			     0xfff0000000000004, UINT64_MAX,         0x7fffffffffffffff,
			     0x3ff0000000000000};

#define VALUES ((u32)ARRAY_LEN(values))
#define CASES (VALUES * VALUES * VALUES)
#define SIGN ((u64)1 << 63)
#define QUIET ((u64)1 << 51)

static char letter(const u64 *in, u64 result)
{
	for (u32 sign = 0; sign < 2; sign++)
		for (u32 i = 3; i-- > 0;)
			if (in[i] != values[VALUES - 1] &&
			    result == ((in[i] | QUIET) ^ (sign ? SIGN : 0)))
				return (char)((sign ? 'A' : 'a') + i);
	return result == 0xfff8000000000000 ? 'n' : '.';
}

static void check_line(struct ptxloom_device *dev, const char *name, const char *statements,
		       const char *want, u64 *in, u64 *out)
{
	struct ptxloom_config config = {.grid = {1}, .block = {CASES}};
	struct ptxloom_module *mod = NULL;
	struct text ptx = {0};
	char got[CASES + 1] = "";

	text_printf(
		&ptx,
		".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pi, .param .u64 po)\n"
		"{\n.reg .f64 a, b, c, q, d; .reg .b64 i, o; .reg .b32 t;\nld.param.u64 i, [pi];\n"
		"ld.param.u64 o, [po];\nmov.u32 t, %%tid.x; mad.wide.u32 i, t, 24, i; mad.wide.u32 o, t, 8, o;\n"
		"%s\nst.global.f64 [o], d;\nret;\n}\n",
		statements);
	if (CHECK_EQ(ptxloom_module_load(dev, ptx.at, ptx.len, &mod), 0)) {
		CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(mod, "k"), &config,
					(void *[]){&in, &out}),
			 0);
		for (u32 i = 0; i < CASES; i++)
			got[i] = letter(&in[(size_t)3 * i], out[i]);
		if (!CHECK_MSG(!strcmp(got, want), name))
			printf("# got  %s\n# want %s\n", got, want);
	}
	text_fini(&ptx);
}

static void check_all(struct ptxloom_device *dev, char *text)
{
	u64 *in = ptxloom_alloc(dev, (u64)CASES * 24), *out = ptxloom_alloc(dev, (u64)CASES * 8);
	u32 lines = 0;
	char *more = NULL;

	for (u32 i = 0; i < CASES; i++) {
		in[(size_t)3 * i] = values[i / (VALUES * VALUES)];
		in[(size_t)3 * i + 1] = values[i / VALUES % VALUES];
		in[(size_t)3 * i + 2] = values[i % VALUES];
	}
	for (char *line = strtok_r(text, "\n", &more); line; line = strtok_r(NULL, "\n", &more)) {
		char *statements = strchr(line, '\t'),
		     *want = statements ? strchr(statements + 1, '\t') : NULL;

		if (*line == '#' || !want)
			continue;
		*statements++ = *want++ = 0;
		check_line(dev, line, statements, want, in, out);
		lines++;
	}
	CHECK(lines >= 32);
	ptxloom_free(dev, in);
	ptxloom_free(dev, out);
}

int main(void)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "h200"};
	struct ptxloom_device *dev = NULL;
	const char *dir = getenv("srcdir");
	char path[4096], *text;
	struct file f;

	snprintf(path, sizeof(path), "%s/tests/vectors/nan_order_gh100.tsv", dir ? dir : ".");
	if (!CHECK_MSG(file_open(&f, path), "the vectors are there"))
		return check_done();
	text = calloc(1, f.size + 1);
	if (CHECK(text) && CHECK_EQ(ptxloom_device_open(&o, &dev), 0)) {
		memcpy(text, f.data, f.size);
		check_all(dev, text);
		ptxloom_device_close(dev);
	}
	free(text);
	file_close(&f);
	return check_done();
}
