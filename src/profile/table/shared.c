/*
 * Variables in shared memory: where a program has them, and what a launch asked of each. An access
 * counts for the variable that its first lane touches.
 */
#include "src/profile/table/shared.h"

#include "src/base/demangle.h"
#include "src/exec/program.h"
#include "src/mem/mem.h"
#include "src/profile/json_out.h"

#include <stdlib.h>

/* ---- where they lie ---- */

static bool lies_in_shared(const struct program_unit *u, size_t i)
{
	const struct ir_var *v = u->module->vars.at[i];

	return v->space == M_shared && u->offset[i] != IR_NONE && v->name &&
	       !(v->definition && v->definition != v);
}

static int shared_by_offset(const void *a, const void *b)
{
	const struct profile_shared_place *x = a, *y = b;

	return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->name, y->name);
}

/* False: the host has no memory left. */
static bool shared_add(struct profile_shared_places *s, u32 at, u32 end, const char *mangled)
{
	struct text name = {0};

	demangle(mangled, &name);
	if (name.failed) {
		text_fini(&name);
		return false;
	}
	s->place[s->len++] = (struct profile_shared_place){at, end, name.at};
	return true;
}

struct profile_shared_places *profile_shared_places(const struct program *p)
{
	struct profile_shared_places *s;
	u32 dynamic = p->shared_static;
	size_t most = 2;
	bool ok = true;

	for (u32 u = 0; u < p->unit_len; u++)
		most += p->units[u].module->vars.len;
	s = calloc(1, sizeof(*s) + most * sizeof(s->place[0]));
	for (u32 u = 0; s && ok && u < p->unit_len; u++)
		for (size_t i = 0; ok && i < p->units[u].module->vars.len; i++) {
			const struct ir_var *v = p->units[u].module->vars.at[i];
			u32 at = p->units[u].offset[i];

			/* Those without a size are names of the dynamic part. */
			if (lies_in_shared(&p->units[u], i) && !v->unsized && v->size_bytes)
				ok = shared_add(s, at, at + (u32)v->size_bytes, v->name->text);
		}
	if (s && s->len)
		qsort(s->place, s->len, sizeof(s->place[0]), shared_by_offset);
	ok = s && ok && shared_add(s, dynamic, UINT32_MAX, "dynamic shared memory") &&
	     shared_add(s, 0, 0, "elsewhere");
	if (ok)
		return s;
	profile_shared_places_free(s);
	return NULL;
}

void profile_shared_places_free(struct profile_shared_places *s)
{
	for (u32 i = 0; s && i < s->len; i++)
		free(s->place[i].name);
	free(s);
}

u32 profile_shared_place_of(const struct profile_shared_places *s, u64 address)
{
	u32 at = (u32)(address & MEM_SHARED_OFFSET), lo = 0, hi = s->len - 1;

	/* The last one that begins at the address or before it. */
	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (s->place[mid].at <= at)
			lo = mid;
		else
			hi = mid;
	}
	return at >= s->place[lo].at && at < s->place[lo].end ? lo : s->len - 1;
}

/* ---- a launch ---- */

bool profile_shared_end(const struct profile_shared_places *s, const u64 (*count)[SHARED_COUNTS],
			u64 dynamic, struct profile_launch *l)
{
	for (u32 i = 0; i < s->len; i++) {
		const struct profile_shared_place *p = &s->place[i];
		struct profile_shared x = {
			.bytes = p->end == UINT32_MAX ? dynamic : p->end - p->at,
			.requests = count[i][SHARED_REQUESTS],
			.passes = count[i][SHARED_PASSES],
			.ideal = count[i][SHARED_IDEAL],
		};

		if (!x.requests && !x.passes)
			continue;
		x.name = strdup(p->name);
		if (x.name && VEC_PUSH(&l->shared, x))
			continue;
		free(x.name);
		return false;
	}
	return true;
}

/* ---- written ---- */

/* Those beyond what there would be without bank conflicts. */
static u64 shared_conflicts(const struct profile_shared *x)
{
	return x->passes > x->ideal ? x->passes - x->ideal : 0;
}

void profile_shared_write(const struct profile_launch *l, struct text *out)
{
	if (!l->shared.len)
		return;
	text_puts(out, ", \"shared\": [");
	for (size_t i = 0; i < l->shared.len; i++) {
		const struct profile_shared *x = &l->shared.at[i];
		const u64 n[] = {x->bytes, x->requests, x->passes, x->ideal};

		text_puts(out, i ? ", " : "");
		json_out_row(x->name, n, ARRAY_LEN(n), out);
	}
	text_puts(out, "]");
}

void profile_shared_json(const struct profile_launch *l, struct text *out)
{
	if (!l->shared.len)
		return;
	text_puts(out, ",\n   \"shared_variables\": [");
	for (size_t i = 0; i < l->shared.len; i++) {
		const struct profile_shared *x = &l->shared.at[i];

		text_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		text_json_string(out, x->name);
		text_printf(out,
			    ", \"bytes\": %llu, \"requests\": %llu, \"wavefronts\": %llu, "
			    "\"conflicts\": %llu}",
			    (unsigned long long)x->bytes, (unsigned long long)x->requests,
			    (unsigned long long)x->passes, (unsigned long long)shared_conflicts(x));
	}
	text_puts(out, "]");
}

void profile_shared_text(const struct profile_launch *l, struct text *out)
{
	size_t width = strlen("Shared Variable");

	if (!l->shared.len)
		return;
	for (size_t i = 0; i < l->shared.len; i++)
		width = max_u64(width, strlen(l->shared.at[i].name));
	text_printf(out, "    Section: Shared Variables\n    %-*s %14s %12s %12s %12s\n",
		    (int)width, "Shared Variable", "Bytes", "Requests", "Wavefronts", "Conflicts");
	for (size_t i = 0; i < l->shared.len; i++) {
		const struct profile_shared *x = &l->shared.at[i];

		text_printf(out, "    %-*s %14llu %12llu %12llu %12llu\n", (int)width, x->name,
			    (unsigned long long)x->bytes, (unsigned long long)x->requests,
			    (unsigned long long)x->passes, (unsigned long long)shared_conflicts(x));
	}
	text_puts(out, "\n");
}
