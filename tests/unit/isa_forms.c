/*
 * The instruction table against tests/forms/forms-min.tsv: 8,700 forms that ptxas accepts, each with the lowest
 * PTX version and target at which it does. Every form must match a row whose operands fit in number and whose minima
 * are the same. `isa_forms FILE [FAMILY-PREFIX]` checks one family and prints what differs.
 */
#include "src/base/file.h"
#include "src/isa/isa.h"
#include "tests/check.h"

#include <stdlib.h>

struct tally {
	u32 forms, unmatched, version, target;
};

/* Top-level operands of "op a,{b,c},[d]|e": commas and bars outside brackets separate. */
static u32 operand_count(const char *s, size_t n)
{
	u32 count = n > 0, depth = 0;

	for (size_t i = 0; i < n; i++) {
		depth += s[i] == '{' || s[i] == '[' || s[i] == '(';
		depth -= s[i] == '}' || s[i] == ']' || s[i] == ')';
		count += (s[i] == ',' || s[i] == '|') && !depth;
	}
	return count;
}

/* The operand k of the row, or the first behind it that the modifiers of the form do not rule out. */
static u32 next_operand(const struct isa_form *f, u32 k)
{
	while (k < f->row->operands && f->row->operand[k].only_with && !isa_form_has(f, f->row->operand[k].only_with))
		k++;
	return k;
}

/* With all operands given, brackets and braces must stand where the row has addresses and vectors. */
static bool shapes_fit(const struct isa_form *f, const char *s, size_t n)
{
	u32 depth = 0, k = next_operand(f, 0);

	for (size_t i = 0; i < n && k < f->row->operands; i++) {
		const struct isa_operand *o = &f->row->operand[k];
		bool value = o->kind == ISA_OP_VALUE;

		if (!depth && (s[i] == ',' || s[i] == '|'))
			k = next_operand(f, k + 1);
		if (!depth && s[i] == '{' && (!value || !(o->braces || o->count_from)))
			return false;
		if (!depth && s[i] == '[' && (value || o->kind == ISA_OP_IMM))
			return false;
		depth += s[i] == '{' || s[i] == '[' || s[i] == '(';
		depth -= s[i] == '}' || s[i] == ']' || s[i] == ')';
	}
	return true;
}

static bool operands_fit(const struct isa_form *f, const char *s, size_t n)
{
	u32 least = 0, most = 0, given = operand_count(s, n);

	for (u32 i = 0; i < f->row->operands; i++) {
		const struct isa_operand *o = &f->row->operand[i];
		bool there = !o->only_with || isa_form_has(f, o->only_with);

		most += there;
		least += there && (!o->optional || o->only_with);
	}
	return given >= least && given <= most && (given < most || shapes_fit(f, s, n));
}

static void target_text(const struct isa_form *f, char *out, size_t size)
{
	struct text t = {0};
	char *p;

	isa_form_target_text(f, &t);
	snprintf(out, size, "%s", t.at);
	p = strstr(out, " or higher");
	if (p)
		*p = 0;
	if (!f->row->group && f->sm < 20)
		snprintf(out, size, "sm_20");
	text_fini(&t);
}

/* "sm_100f|sm_100a" and "sm_100f, sm_100a" name the same targets. */
static bool same_target(const char *want, const char *got)
{
	while (*want && *want == *got) {
		want++;
		got++;
		if (*want == '|' && !strncmp(got, ", ", 2)) {
			want++;
			got += 2;
		}
	}
	return !*want && !*got;
}

static void check_form(char *line, bool verbose, struct tally *t)
{
	char *field[5] = {line}, target[256] = "", *space;
	const struct isa_form *f;
	struct arena a = {0};
	u32 major, minor;

	for (int i = 1; i < 5; i++) {
		field[i] = strchr(field[i - 1], '\t');
		if (!field[i])
			return;
		*field[i]++ = 0;
	}
	t->forms++;
	while (*field[1] == '@')
		field[1] = strchr(field[1], ' ') + 1;
	space = strchr(field[1], ' ');
	f = isa_match(&a, field[1], space ? (size_t)(space - field[1]) : strlen(field[1]));
	while (f && !operands_fit(f, space ? space + 1 : "", space ? strlen(space + 1) : 0))
		f = f->next;
	if (f)
		target_text(f, target, sizeof(target));
	if (sscanf(field[2], "%u.%u", &major, &minor) != 2)
		major = minor = 0;
	if (!f)
		t->unmatched++;
	else if (f->ptx != major * 10 + minor)
		t->version++;
	else if (!same_target(field[3], target))
		t->target++;
	if (verbose && (!f || f->ptx != major * 10 + minor || !same_target(field[3], target)))
		printf("# %s: %s: %s: table %s %u.%u %s, ptxas %s %s\n", field[0], field[1], f ? "minimum" : "NO ROW",
		       f ? f->row->id : "-", f ? f->ptx / 10u : 0, f ? f->ptx % 10u : 0, target, field[2], field[3]);
	arena_fini(&a);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("srcdir"), *family = argc > 2 ? argv[2] : "";
	struct tally t = {0};
	struct file file;
	char path[4096], *copy, *line, *save = NULL;

	snprintf(path, sizeof(path), "%s/tests/forms/forms-min.tsv", dir ? dir : ".");
	if (!CHECK(file_open(&file, argc > 1 ? argv[1] : path)))
		return check_done();
	copy = strndup((const char *)file.data, file.size);
	for (line = strtok_r(copy, "\n", &save); (line = strtok_r(NULL, "\n", &save));)
		if (!strncmp(line, family, strlen(family)))
			check_form(line, true, &t);
	free(copy);
	file_close(&file);
	printf("# %u forms: %u without a row, %u with another minimum version, %u with another target\n", t.forms,
	       t.unmatched, t.version, t.target);
	CHECK_EQ(t.unmatched, 0);
	CHECK_EQ(t.version, 0);
	CHECK_EQ(t.target, 0);
	CHECK(t.forms > 0);
	return check_done();
}
