/*
 * A check for tests: what the tables say of a micro-op's rows is what its rule noted.
 */
#include "src/lower/lower_int.h"
#include "src/uop/rows.h"

#include <stdlib.h>

/* The rows of a micro-op in no order, each as often as it is there. */
struct rows_sum {
	u32 reads, writes;
	u64 hash;
};

static void add_to_sum(void *user, u32 row, bool write)
{
	struct rows_sum *s = user;

	*(write ? &s->writes : &s->reads) += 1;
	s->hash += hash_bytes(&(u32[2]){row, write}, 2 * sizeof(u32));
}

static bool same_sum(const struct rows_sum *a, const struct rows_sum *b)
{
	return a->hash == b->hash && a->reads == b->reads && a->writes == b->writes;
}

bool lower_check_rows(const struct lower *l)
{
	struct rows_sum *noted = calloc(l->uops.len + 1, sizeof(*noted));
	bool ok = noted != NULL;

	for (size_t i = 0; ok && i < l->refs.len; i++) {
		const struct row_ref *r = &l->refs.at[i];

		add_to_sum(&noted[r->insn], l->vregs.at[r->vreg].row, r->write);
	}
	for (u32 i = 0; ok && i < l->uops.len; i++) {
		const struct uop *in = &l->uops.at[i];
		struct rows_sum named = {0};

		uop_each_row(in, l->ext.at, add_to_sum, &named);
		ok = same_sum(&named, &noted[i]);
		if (!ok && l->d)
			diag_at(l->d, DIAG_ERROR, &l->m->source, (struct diag_span){0, 1}, NULL,
				"micro-op %u, %s, has %u rows to read and %u to write, its tables say %u and %u",
				i, uop_info[in->inner].name, noted[i].reads, noted[i].writes,
				named.reads, named.writes);
	}
	free(noted);
	return ok;
}
