/*
 * Every tests/vectors/<mnemonic>.vec on the engine: each line's instructions become a kernel, whose
 * threads are the line's lanes. One check for each file and host level.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"
#include "tests/unit/vector_kernel.h"

static bool runs_exactly(struct harness *h, const struct vector *v, u32 number, const char *level,
			 const u64 memory[2])
{
	char name[16];

	snprintf(name, sizeof(name), "k%u", number);
	memcpy((void *)(uintptr_t)memory[0], v->in, sizeof(v->in));
	memset((void *)(uintptr_t)memory[1], 0, sizeof(v->want));
	if (harness_run(h, name, 1, v->lanes, memory, level) != STOP_DONE) {
		printf("# %s: does not run\n", v->form.text);
		return false;
	}
	return vector_is_exact(v, (const u64(*)[VECTOR_SLOTS])(uintptr_t)memory[1]);
}

static void check_levels(struct harness *h, const struct vector_list *list, const char *name)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	const size_t bytes = sizeof(list->at->in);
	const u64 memory[2] = {mem_alloc(&h->mem, bytes, 0, MEM_KIND_DEVICE),
			       mem_alloc(&h->mem, bytes, 0, MEM_KIND_DEVICE)};
	char what[400];

	for (u32 k = 0; k < ARRAY_LEN(levels); k++) {
		u32 exact = 0;

		if (!check_level(exec_ops_select(levels[k]), levels[k]))
			continue;
		for (u32 i = 0; i < list->n; i++)
			exact += runs_exactly(h, &list->at[i], i, levels[k], memory);
		snprintf(what, sizeof(what), "%.99s on %s: %u of %u forms exact", name, levels[k],
			 exact, list->n);
		CHECK_MSG(list->n && exact == list->n, what);
	}
}

static void check_file(void *only, const char *name)
{
	struct text ptx = {0};
	struct vector_list list;
	struct harness h;

	if (only && strcmp(only, name))
		return;
	vector_list_read(&list, name);
	text_puts(&ptx, ".version 9.0\n.target sm_100a\n.address_size 64\n");
	for (u32 i = 0; i < list.n; i++)
		vector_kernel(&list.at[i].form, i, &ptx);
	if (CHECK_MSG(harness_open(&h, ptx.at), name)) {
		check_levels(&h, &list, name);
		harness_close(&h);
	}
	text_fini(&ptx);
	vector_list_free(&list);
}

/* With an argument that file alone. */
int main(int argc, char **argv)
{
	vector_each_file(check_file, argc > 1 ? argv[1] : NULL);
	return check_done();
}
