/*
 * Measured vectors: the reader of tests/vectors/<mnemonic>.vec. A line is
 *
 *     add.f32 %d0,%a0,%a1 {f32,f32>f32} | 3f800000,0 0,0 | 3f800000 0 | origin
 *
 * instructions, the types of their registers (inputs %a0.. before the '>', results %d0.. behind
 * it), inputs and results in hex: lanes apart, the numbers of a lane separated by commas.
 */
#ifndef PL_TESTS_UNIT_VECTORS_H
#define PL_TESTS_UNIT_VECTORS_H

#include "src/base/base.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdlib.h>

#define VECTOR_LANES 64
#define VECTOR_SLOTS 8 /* numbers of a lane, on either side */

struct vector_form {
	char text[200];                 /* the instructions */
	char type[2 * VECTOR_SLOTS][8]; /* of the registers, inputs first */
	u32 inputs, results;
};

struct vector {
	struct vector_form form;
	u32 lanes;
	u64 in[VECTOR_LANES][VECTOR_SLOTS], want[VECTOR_LANES][VECTOR_SLOTS];
};

/* The lines of a file; owns them. */
struct vector_list {
	struct vector *at;
	u32 n;
};

/* How many bits a register of the type has, predicates one. */
static inline u32 vector_bits(const char *type)
{
	return *type == 'p' ? 1 : (u32)strtoul(type + 1, NULL, 10);
}

/* What such a register can hold of v. */
static inline u64 vector_cut(u64 v, const char *type)
{
	u32 bits = vector_bits(type);

	return bits == 64 ? v : bits == 1 ? v != 0 : v & (((u64)1 << bits) - 1);
}

/* "add.f32 %d0,%a0,%a1 {f32,f32>f32}". False when there is no such list or it is too long. */
static inline bool vector_parse_form(struct vector_form *f, const char *text)
{
	const char *brace = strrchr(text, '{'), *p = brace + 1;
	u32 n = 0, inputs = 0;

	if (!brace || (size_t)(brace - text) >= sizeof(f->text))
		return false;
	snprintf(f->text, sizeof(f->text), "%.*s", (int)(brace - text), text);
	for (bool more = true; more && n < 2 * VECTOR_SLOTS; n++) {
		size_t len = strcspn(p, ",>}");

		if (!len || len >= sizeof(f->type[n]) || !p[len])
			return false;
		snprintf(f->type[n], sizeof(f->type[n]), "%.*s", (int)len, p);
		if (p[len] == '>')
			inputs = n + 1;
		more = p[len] != '}';
		p += len + more;
	}
	f->inputs = inputs;
	f->results = n - inputs;
	return *p == '}' && f->results && inputs <= VECTOR_SLOTS && f->results <= VECTOR_SLOTS;
}

/* Cuts *s at the next " | " and moves past it; NULL when there is none. */
static inline char *vector_column(char **s)
{
	char *column = *s, *bar = strstr(column, " | ");

	if (!bar)
		return NULL;
	*bar = 0;
	*s = bar + 3;
	return column;
}

/* Returns how many lanes there are; 0 when one of them has not `numbers`, or there are too many. */
static inline u32 vector_numbers(char *s, u32 numbers, u64 out[VECTOR_LANES][VECTOR_SLOTS])
{
	u32 lane = 0;

	for (; *(s += strspn(s, " ")); lane++)
		for (u32 i = 0; i < numbers; i++) {
			char *end;

			if (lane == VECTOR_LANES)
				return 0;
			out[lane][i] = strtoull(s, &end, 16);
			if (end == s || *end != (i + 1 < numbers ? ',' : *end ? ' ' : 0))
				return 0;
			s = end + (i + 1 < numbers);
		}
	return lane;
}

/* Changes the line. */
static inline bool vector_parse(struct vector *v, char *line)
{
	char *form = vector_column(&line), *in = vector_column(&line), *want = vector_column(&line);

	memset(v, 0, sizeof(*v));
	if (!form || !in || !want || !vector_parse_form(&v->form, form))
		return false;
	v->lanes = vector_numbers(want, v->form.results, v->want);
	return v->lanes &&
	       (!v->form.inputs || vector_numbers(in, v->form.inputs, v->in) == v->lanes);
}

/* Where the vectors are. */
static inline const char *vector_folder(void)
{
	static char dir[400];
	const char *srcdir = getenv("srcdir");

	snprintf(dir, sizeof(dir), "%s/tests/vectors", srcdir ? srcdir : ".");
	return dir;
}

/*
 * All lines of a file, "add.vec"; to be freed with vector_list_free. False, and a check fails, when
 * there is none or one cannot be read.
 */
static inline bool vector_list_read(struct vector_list *list, const char *name)
{
	char path[700], *line = NULL;
	size_t cap = 0;
	bool ok = true;
	FILE *f;

	memset(list, 0, sizeof(*list));
	snprintf(path, sizeof(path), "%s/%s", vector_folder(), name);
	f = fopen(path, "r");
	while (f && getline(&line, &cap, f) > 0) {
		if (*line == '#')
			continue;
		list->at = realloc(list->at, (list->n + 1) * sizeof(*list->at));
		if (!list->at)
			abort();
		ok = vector_parse(&list->at[list->n++], line) && ok;
	}
	free(line);
	if (f)
		fclose(f);
	ok = ok && list->n;
	return ok || CHECK_MSG(false, name);
}

static inline void vector_list_free(struct vector_list *list)
{
	free(list->at);
}

/* Each file of vectors in the order of their names. */
static inline void vector_each_file(void (*each)(void *to, const char *name), void *to)
{
	struct dirent **list = NULL;
	int files = 0, n = scandir(vector_folder(), &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		size_t len = strlen(name);

		if (len > 4 && !strcmp(name + len - 4, ".vec")) {
			files++;
			each(to, name);
		}
		free(list[i]);
	}
	free(list);
	CHECK_MSG(files > 50, "files of vectors were found");
}

#endif
