/*
 * Every tests/vectors/<mnemonic>.vec against the numeric primitives: instructions in their own
 * words, inputs and results in hex, measured on hardware or, as the last column says, by
 * definition. One check per file.
 */
#include "tests/check.h"
#include "tests/unit/num/numeric_eval.h"
#include "tests/unit/vectors.h"

static bool lane_is_exact(const struct vector *v, u32 lane)
{
	const struct vector_form *f = &v->form;
	struct ev e;

	memset(&e, 0, sizeof(e));
	memcpy(e.in, v->in[lane], sizeof(v->in[lane]));
	if (!ev_run(&e, f->text))
		return false;
	for (u32 i = 0; i < f->results; i++)
		if (vector_cut(e.out[i], f->type[f->inputs + i]) != v->want[lane][i])
			return false;
	return true;
}

static bool all_lanes_are_exact(const struct vector *v)
{
	for (u32 lane = 0; lane < v->lanes; lane++)
		if (!lane_is_exact(v, lane)) {
			printf("# %s: lane %u\n", v->form.text, lane);
			return false;
		}
	return true;
}

static void check_file(void *to, const char *name)
{
	struct vector_list list;
	u32 exact = 0, lanes = 0;
	char what[400];

	(void)to;
	vector_list_read(&list, name);
	for (u32 i = 0; i < list.n; i++) {
		exact += all_lanes_are_exact(&list.at[i]);
		lanes += list.at[i].lanes;
	}
	snprintf(what, sizeof(what), "%.99s: %u of %u forms exact, %u lanes", name, exact, list.n,
		 lanes);
	CHECK_MSG(list.n && exact == list.n, what);
	vector_list_free(&list);
}

int main(void)
{
	vector_each_file(check_file, NULL);
	return check_done();
}
