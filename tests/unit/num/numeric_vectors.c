/*
 * Every tests/vectors/<mnemonic>.vec against the numeric primitives: instructions in their own
 * words, inputs and results in hex, measured on hardware or, as the last column says, by
 * definition. One check per file.
 */
#include "tests/check.h"
#include "tests/unit/num/numeric_eval.h"

#include <dirent.h>

#define LINE_BYTES 16384
#define MAX_REGISTERS 16

static u32 register_bits(const char *name)
{
	return *name == 'p' ? 1 : (u32)atoi(name + 1);
}

/* Widths of the registers in {b32,b32>b64}: inputs first; returns how many inputs. */
static int parse_registers(char *s, u32 width[MAX_REGISTERS], int *results)
{
	int n = 0, inputs = 0;

	*results = 0;
	for (char *p = s; *p && n < MAX_REGISTERS; n++) {
		size_t len = strcspn(p, ",>}");
		char end = p[len];

		width[n] = register_bits(p);
		p += len + (end != 0);
		if (end == '>')
			inputs = n + 1;
		if (end == '}')
			break;
	}
	*results = n + 1 - inputs;
	return inputs;
}

static u64 cut(u64 v, u32 bits)
{
	return bits == 64 ? v : bits == 1 ? v != 0 : v & (((u64)1 << bits) - 1);
}

/* One lane: numbers at *in and *want, separated by commas; both move past it. */
static bool lane_is_exact(const char *form, char **in, char **want, const u32 width[MAX_REGISTERS],
			  int inputs)
{
	struct ev e;
	char *at = *want;
	bool ok;

	memset(&e, 0, sizeof(e));
	for (int i = 0; i < inputs; i++) {
		e.in[i] = strtoull(*in, in, 16);
		*in += **in == ',';
	}
	ok = ev_run(&e, form);
	for (int i = 0;; i++) {
		u64 w = strtoull(at, want, 16);

		ok = ok && cut(e.out[i], width[inputs + i]) == w;
		if (**want != ',')
			return ok;
		at = *want + 1;
	}
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

/* One line: all of its lanes. */
static bool line_is_exact(char *line, long *lanes)
{
	char *form = next_column(&line), *in = next_column(&line), *want = next_column(&line);
	char *brace = form ? strrchr(form, '{') : NULL;
	u32 width[MAX_REGISTERS];
	int inputs, results;

	if (!brace || !in || !want)
		return false;
	*brace = 0;
	inputs = parse_registers(brace + 1, width, &results);
	while (*(want += strspn(want, " "))) {
		in += strspn(in, " ");
		if (!lane_is_exact(form, &in, &want, width, inputs)) {
			printf("# %s: lane before \"%.40s\"\n", form, in);
			return false;
		}
		++*lanes;
	}
	return true;
}

static void check_file(const char *dir, const char *name)
{
	static char line[LINE_BYTES];
	char path[700], what[400];
	long forms = 0, exact = 0, lanes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		forms++;
		exact += line_is_exact(line, &lanes);
	}
	if (f)
		fclose(f);
	snprintf(what, sizeof(what), "%.99s: %ld of %ld forms exact, %ld lanes", name, exact, forms,
		 lanes);
	CHECK_MSG(forms && exact == forms, what);
}

int main(void)
{
	const char *srcdir = getenv("srcdir");
	char dir[400];
	struct dirent **list;
	int n;

	snprintf(dir, sizeof(dir), "%s/tests/vectors", srcdir ? srcdir : ".");
	n = scandir(dir, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		size_t len = strlen(list[i]->d_name);

		if (len > 4 && !strcmp(list[i]->d_name + len - 4, ".vec"))
			check_file(dir, list[i]->d_name);
		free(list[i]);
	}
	if (n > 0)
		free(list);
	CHECK_MSG(n > 50, "vector files were found");
	return check_done();
}
