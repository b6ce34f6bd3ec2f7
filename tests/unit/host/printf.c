/*
 * printf of device code against what an H200 printed: tests/vectors/printf_gh100.tsv, a line for
 * each call: which arguments (a row of `rows` below), the format, what it returns or "fault", the
 * text.
 */
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/api/api_int.h"
#include "tests/check.h"

#include <stdlib.h>

static const char ptx[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".visible .entry k(.param .u64 pf, .param .u64 pa, .param .u64 po)\n{\n"
	".reg .b64 f, a, o; .reg .b32 n; .param .b64 x; .param .b64 y; .param .b32 z;\n"
	"ld.param.u64 f, [pf]; ld.param.u64 a, [pa]; ld.param.u64 o, [po]; st.param.b64 [x], f; st.param.b64 [y], a;\n"
	"call.uni (z), vprintf, (x, y); ld.param.b32 n, [z]; st.global.u32 [o], n;\nret;\n}\n";

/* Memory of the device: a format, arguments, texts that they point to. */
struct place {
	char format[512];
	u8 args[512];
	char abc[16], a[16], bcd[16];
	u32 wide[16], high[16];
	s32 result;
};

/* Arguments one behind the other: i 4 bytes, l 8 bytes, d a double, each at its alignment. */
static void put(struct place *p, const char *kinds, const u64 *values)
{
	size_t at = 0;

	memset(p->args, 0, sizeof(p->args));
	for (; *kinds; kinds++, values++) {
		size_t bytes = *kinds == 'i' ? 4 : 8;

		at = align_up(at, bytes);
		memcpy(p->args + at, values, bytes);
		at += bytes;
	}
}

static u64 bits(f64 x)
{
	u64 u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static u64 address(const void *p)
{
	return (u64)(uintptr_t)p;
}

/* False: the call has no arguments at all. */
static bool put_row(struct place *p, u32 row)
{
	const u64 big = 0x123456789abcdef0;
	const struct {
		u32 row;
		const char *kinds;
		u64 values[4];
	} rows[] = {
		{1, "i", {42}},
		{2, "d", {bits(1.5)}},
		{3, "l", {address(p->abc)}},
		{4, "l", {big}},
		{5, "iii", {7, 42, 43}},
		{6, "iii", {(u64)-7, 42, 43}},
		{9, "l", {0}},
		{10, "l", {16}},
		{12, "id", {3, bits(1.0 / 3)}},
		{13, "id", {(u64)-3, bits(1.0 / 3)}},
		{14, "ddd", {0x7ff0000000000000, 0xfff0000000000000, 0xfff8000000000000}},
		{15, "iii", {65, 66, 67}},
		{16, "l", {address(p->wide)}},
		{17, "l", {address(p->high)}},
		{20, "iii", {5, 7, 42}},
		{21, "iid", {5, 3, bits(1.0 / 3)}},
		{22, "di", {bits(1.0 / 3), 42}},
		{23, "ili", {42, big, 43}},
		{24, "lil", {big, 42, address(p->abc)}},
		{25, "iii", {(u64)-1, (u64)-1, (u64)-1}},
		{26, "iii", {321, 322, 323}},
		{28, "l", {0}},
		{29, "lil", {address(p->a), 42, address(p->bcd)}},
	};
	u64 many[33];

	for (u32 i = 0; i < 33; i++)
		many[i] = i + 1;
	if (row == 18 || row == 19)
		put(p, &"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"[row == 18], many);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].row == row)
			put(p, rows[i].kinds, rows[i].values);
	return row != 0;
}

static void collect(void *user, const char *text, size_t len)
{
	text_add(user, text, len);
}

/* \xNN to bytes, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++, to++) {
		unsigned x;

		*to = *s;
		if (*s == '\\' && sscanf(s, "\\x%2x", &x) == 1) {
			*to = (char)x;
			s += 3;
		}
	}
	*to = 0;
}

static void check_line(struct ptxloom_device *dev, struct place *p, struct text *printed,
		       char **field)
{
	u64 format = address(p->format), args, result = address(&p->result);
	bool faults = !strcmp(field[2], "fault");
	struct ptxloom_module *mod = NULL;
	struct ptxloom_config one = {.grid = {1}, .block = {1}};
	u32 row = (u32)strtoul(field[0], NULL, 10);
	int status;

	unescape(field[1]);
	unescape(field[3]);
	snprintf(p->format, sizeof(p->format), "%s", field[1]);
	args = put_row(p, row) ? address(p->args) : 0;
	if (row == 27)
		format = 0;
	printed->len = 0;
	if (!CHECK_EQ(ptxloom_module_load(dev, ptx, sizeof(ptx) - 1, &mod), 0))
		return;
	status = ptxloom_launch(ptxloom_module_kernel(mod, "k"), &one,
				(void *[]){&format, &args, &result});
	if (faults) {
		CHECK_MSG(status == 700, field[1]);
	} else {
		bool same = printed->len == strlen(field[3]) &&
			    !memcmp(printed->len ? printed->at : "", field[3], printed->len);

		if (!CHECK_MSG(!status && same && p->result == strtol(field[2], NULL, 10),
			       field[1]))
			printf("# row %u returns %d, want %s, prints '%.*s', want '%s'\n", row,
			       p->result, field[2], (int)printed->len,
			       printed->len ? printed->at : "", field[3]);
	}
	ptxloom_module_unload(mod);
}

static struct ptxloom_device *open_device(struct text *printed, struct place **p)
{
	struct ptxloom_options o = {
		.size = sizeof(o), .device = "h200", .output = collect, .user = printed};
	static const u32 wide[] = {'w', 'i', 'd', 'e', ' ', 't', 'e', 'x', 't', 0},
			 high[] = {0x263a, 0x41, 0};
	struct ptxloom_device *dev = NULL;

	if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
		return NULL;
	*p = ptxloom_alloc(dev, sizeof(**p));
	strcpy((*p)->abc, "abc");
	strcpy((*p)->a, "a");
	strcpy((*p)->bcd, "bcd");
	memcpy((*p)->wide, wide, sizeof(wide));
	memcpy((*p)->high, high, sizeof(high));
	return dev;
}

static void check_all(char *text)
{
	struct text printed = {0};
	char *more = NULL;
	u32 lines = 0;

	for (char *line = strtok_r(text, "\n", &more); line; line = strtok_r(NULL, "\n", &more)) {
		struct ptxloom_device *dev;
		char *field[4] = {line};
		struct place *p;
		u32 n = 1;

		for (; n < 4 && field[n - 1] && (field[n] = strchr(field[n - 1], '\t')); n++)
			*field[n]++ = 0;
		if (*line == '#' || n < 4)
			continue;
		/* A device for each: one that has faulted does nothing more. */
		dev = open_device(&printed, &p);
		if (!dev)
			break;
		check_line(dev, p, &printed, field);
		ptxloom_device_close(dev);
		lines++;
	}
	CHECK(lines >= 230);
	text_fini(&printed);
}

int main(void)
{
	const char *dir = getenv("srcdir");
	char path[4096], *text;
	struct file f;

	snprintf(path, sizeof(path), "%s/tests/vectors/printf_gh100.tsv", dir ? dir : ".");
	if (!CHECK_MSG(file_open(&f, path), "the vectors are there"))
		return check_done();
	text = calloc(1, f.size + 1);
	if (CHECK(text)) {
		memcpy(text, f.data, f.size);
		check_all(text);
	}
	free(text);
	file_close(&f);
	return check_done();
}
