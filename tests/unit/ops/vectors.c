/*
 * Every tests/vectors/<mnemonic>.vec on the engine: each line's instructions become a kernel, whose
 * threads are the line's lanes. One check for each file and host level. For the format see
 * exec_numeric_vectors.c.
 */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#include <dirent.h>

#define MAX_REGISTERS 16
#define MAX_LANES 512

struct vector {
	char *form, *in, *want;
	char type[MAX_REGISTERS][8];
	u32 inputs, registers, lanes;
};

static u32 bits_of(const char *type)
{
	return *type == 'p' ? 1 : (u32)atoi(type + 1);
}

/* Cut *s at the next " | " and move past it; NULL when there is none. */
static char *next_column(char **s)
{
	char *column = *s, *bar = strstr(column, " | ");

	if (!bar)
		return NULL;
	*bar = 0;
	*s = bar + 3;
	return column;
}

/* {b32,b32>b64} */
static bool parse_registers(struct vector *v, char *s)
{
	while (*s && *s != '}' && v->registers < MAX_REGISTERS) {
		size_t n = strcspn(s, ",>}");

		snprintf(v->type[v->registers++], sizeof(v->type[0]), "%.*s", (int)n, s);
		if (s[n] == '>')
			v->inputs = v->registers;
		s += n + (s[n] != '}');
	}
	return v->inputs < v->registers;
}

static bool parse_line(struct vector *v, char *line)
{
	char *brace;

	memset(v, 0, sizeof(*v));
	v->form = next_column(&line);
	v->in = next_column(&line);
	v->want = next_column(&line);
	brace = v->form ? strrchr(v->form, '{') : NULL;
	if (!brace || !v->in || !v->want)
		return false;
	*brace = 0;
	for (const char *p = v->want; *(p += strspn(p, " ")); p += strcspn(p, " "))
		v->lanes++;
	return v->lanes <= MAX_LANES && parse_registers(v, brace + 1);
}

/* Temporaries have the type of the first instruction that names them. */
static void declare_temporaries(const char *form, struct text *out)
{
	for (int i = 0; i < 4; i++) {
		char name[8], type[32];
		const char *use, *start;
		size_t n;

		snprintf(name, sizeof(name), "%%t%d", i);
		use = strstr(form, name);
		if (!use)
			continue;
		for (start = use; start > form && start[-1] != ';'; start--)
			;
		n = strcspn(start, " ");
		while (n && start[n - 1] != '.')
			n--;
		snprintf(type, sizeof(type), "%.*s", (int)strcspn(start + n, " "), start + n);
		text_printf(out, ".reg .b%d %s;\n",
			    strstr(type, "64")                          ? 64
			    : strstr(type, "16") && !strstr(type, "x2") ? 16
									: 32,
			    name);
	}
}

static void load_input(struct text *out, const char *type, u32 i)
{
	if (bits_of(type) == 1)
		text_printf(
			out,
			".reg .pred %%a%u; ld.global.u32 %%px,[%%pi+%u]; setp.ne.u32 %%a%u,%%px,0;\n",
			i, 8 * i, i);
	else
		text_printf(out, ".reg .%s %%a%u; ld.global.%s %%a%u,[%%pi+%u];\n", type, i, type,
			    i, 8 * i);
}

static void store_result(struct text *out, const char *type, u32 i)
{
	if (bits_of(type) == 1)
		text_printf(out, "selp.u32 %%px,1,0,%%d%u; st.global.u32 [%%po+%u],%%px;\n", i,
			    8 * i);
	else
		text_printf(out, "st.global.%s [%%po+%u],%%d%u;\n", type, 8 * i, i);
}

static void write_kernel(const struct vector *v, u32 number, struct text *out)
{
	u32 results = v->registers - v->inputs;

	text_printf(out, ".visible .entry k%u(.param .u64 in, .param .u64 out)\n{\n", number);
	text_printf(
		out,
		".reg .b64 %%pi, %%po; .reg .b32 %%i, %%px;\nld.param.u64 %%pi,[in]; ld.param.u64 %%po,[out];\n"
		"mov.u32 %%i,%%tid.x; mad.wide.u32 %%pi,%%i,%u,%%pi; mad.wide.u32 %%po,%%i,%u,%%po;\n",
		8 * v->inputs, 8 * results);
	for (u32 i = 0; i < v->inputs; i++)
		load_input(out, v->type[i], i);
	for (u32 i = 0; i < results; i++) {
		const char *type = v->type[v->inputs + i];

		text_printf(out, ".reg .%s %%d%u;\n", type, i);
	}
	declare_temporaries(v->form, out);
	text_printf(out, "%s;\n", v->form);
	for (u32 i = 0; i < results; i++)
		store_result(out, v->type[v->inputs + i], i);
	text_puts(out, "ret;\n}\n");
}

static u64 cut(u64 v, u32 bits)
{
	return bits == 64 ? v : bits == 1 ? v != 0 : v & (((u64)1 << bits) - 1);
}

static void read_numbers(char *s, u64 *out, u32 per_lane)
{
	while (*(s += strspn(s, " ")))
		for (u32 i = 0; i < per_lane; i++) {
			*out++ = strtoull(s, &s, 16);
			s += *s == ',';
		}
}

static bool vector_is_exact(struct harness *h, struct vector *v, u32 number, const char *level,
			    u64 in, u64 out)
{
	static u64 want[MAX_LANES * MAX_REGISTERS];
	const u64 *got = (const u64 *)(uintptr_t)out;
	struct {
		u64 in, out;
	} params = {in, out};
	u32 results = v->registers - v->inputs;
	char name[16];

	snprintf(name, sizeof(name), "k%u", number);
	memset((void *)(uintptr_t)out, 0, sizeof(u64) * v->lanes * results);
	read_numbers(v->in, (u64 *)(uintptr_t)in, v->inputs);
	read_numbers(v->want, want, results);
	if (harness_run(h, name, 1, v->lanes, &params, level) != STOP_DONE) {
		printf("# %s: does not run\n", v->form);
		return false;
	}
	for (u32 i = 0; i < v->lanes * results; i++)
		if (cut(got[i], bits_of(v->type[v->inputs + i % results])) != want[i]) {
			printf("# %s: lane %u result %u: got %llx, want %llx\n", v->form,
			       i / results, i % results, (unsigned long long)got[i],
			       (unsigned long long)want[i]);
			return false;
		}
	return true;
}

struct vectors {
	VEC(struct vector) at;
	VEC(char *) lines;
};

static void read_file(const char *path, struct vectors *list)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "r");

	while (f && getline(&line, &cap, f) > 0) {
		struct vector v;
		char *copy;

		if (*line == '#')
			continue;
		copy = strdup(line);
		if (!copy || !parse_line(&v, copy) || !VEC_PUSH(&list->at, v) ||
		    !VEC_PUSH(&list->lines, copy))
			CHECK_MSG(false, "a line can be read");
	}
	free(line);
	if (f)
		fclose(f);
}

static void check_file(const char *dir, const char *name)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	struct vectors list = {0};
	struct text ptx = {NULL, 0, 0, false};
	struct harness h;
	char path[700], what[400];
	u64 in, out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	read_file(path, &list);
	text_puts(&ptx, ".version 9.0\n.target sm_100a\n.address_size 64\n");
	for (u32 i = 0; i < list.at.len; i++)
		write_kernel(&list.at.at[i], i, &ptx);
	if (!CHECK_MSG(harness_open(&h, ptx.at), name))
		return;
	in = mem_alloc(&h.mem, sizeof(u64) * MAX_LANES * MAX_REGISTERS, 0, MEM_KIND_DEVICE);
	out = mem_alloc(&h.mem, sizeof(u64) * MAX_LANES * MAX_REGISTERS, 0, MEM_KIND_DEVICE);
	for (u32 k = 0; k < ARRAY_LEN(levels); k++) {
		u32 exact = 0;

		if (!exec_ops_select(levels[k]))
			continue;
		for (u32 i = 0; i < list.at.len; i++)
			exact += vector_is_exact(&h, &list.at.at[i], i, levels[k], in, out);
		snprintf(what, sizeof(what), "%.99s on %s: %u of %zu forms exact", name, levels[k],
			 exact, (size_t)list.at.len);
		CHECK_MSG(list.at.len && exact == list.at.len, what);
	}
	harness_close(&h);
	text_fini(&ptx);
	for (u32 i = 0; i < list.lines.len; i++)
		free(list.lines.at[i]);
	VEC_FREE(&list.at);
	VEC_FREE(&list.lines);
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");
	char dir[400];
	struct dirent **list;
	int n;

	snprintf(dir, sizeof(dir), "%s/tests/vectors", srcdir ? srcdir : ".");
	n = scandir(dir, &list, NULL, alphasort);
	CHECK_MSG(n > 50, "vector files were found");
	for (int i = 0; i < n; i++) {
		size_t len = strlen(list[i]->d_name);

		if (len > 4 && !strcmp(list[i]->d_name + len - 4, ".vec") &&
		    (argc < 2 || !strcmp(argv[1], list[i]->d_name)))
			check_file(dir, list[i]->d_name);
		free(list[i]);
	}
	if (n > 0)
		free(list);
	return check_done();
}
