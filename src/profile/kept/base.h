/*
 * Saved metrics: numbers of kernels in a file that later runs are compared with. Lines of
 *
 *     test<TAB>kernel<TAB>compiler<TAB>launches<TAB>metric<TAB>value[<TAB>place]
 *
 * behind a line with these titles; lines that begin with # are comments. `test` is empty where a
 * program was profiled, `compiler` says what made the PTX. Numbers that depend on the compiler's
 * choice of instructions are compared only with those of the same one.
 */
#ifndef PL_PROFILE_BASE_H
#define PL_PROFILE_BASE_H

#include "src/profile/kept/claim.h"
#include "src/profile/kernels.h"

/* A metric of all launches of a kernel. Strings are owned. */
struct metric_base_row {
	char *test, *kernel, *compiler;
	u64 launches;
	struct metric_named metric;
	double value;
	char *place; /* the instruction that has most of it; NULL: none, or not known */
	u32 line;    /* of the file, 0: of no file */
	size_t number;
	bool is_seen;
};

struct metric_base {
	VEC(struct metric_base_row) rows;
};

/*
 * Add what the kernels did. chosen: metrics, NULL: those with short names. Numbers that are not
 * known are left out. False without memory.
 */
bool metric_base_add(struct metric_base *b, const char *test, const struct kernel_sums *k,
		     const struct metric_list *chosen);
/*
 * Add the rows of a file's text, as those of `test` if that is not NULL. False with "name:line: ..."
 * in `why`.
 */
bool metric_base_read(struct metric_base *b, const char *name, const char *text, size_t size,
		      const char *test, struct text *why);
/* Make a row of another base one of `to`; it is empty there then. False without memory. */
bool metric_base_move(struct metric_base *to, struct metric_base_row *row);
/* The file: by test, in their order, kernel and metric; has_places: with the places. */
void metric_base_write(struct metric_base *b, bool has_places, struct text *out);
/*
 * Compare `now` with what was saved in the file `name`; allow: by how much of a number another may
 * differ. Adds a line to `out` for each that differs more, and for kernels that were not launched,
 * or more or less often; to `notes` what was not compared. True: nothing differs.
 */
bool metric_base_compare(struct metric_base *base, struct metric_base *now, const char *name,
			 double allow, struct text *out, struct text *notes);
/* "5%" or "5"; false: it is no such number. */
bool metric_allow_parse(const char *s, double *out);
void metric_base_fini(struct metric_base *b);

#endif
