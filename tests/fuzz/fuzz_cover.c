/*
 * Fuzzer of coverage profiles: files, changed byte by byte, are read. Nothing may crash or leak;
 * what is wrong says so in one line, and nothing of it is taken then.
 *   fuzz_cover                       the same changes each run
 *   fuzz_cover --long [N [FIRST]]    N of them
 *   fuzz_cover FILE ..               files that were found elsewhere
 */
#include "src/cover/profile.h"
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include <unistd.h>

#define ROUNDS 4000
#define CHANGES_MAX 4

static char path[] = "/tmp/fuzz_cover_XXXXXX";
static u64 read_well, refused;
static struct cover_profile made; /* what the changed files said first */

static bool put(const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(data, 1, size, f) == size;

	return f && !fclose(f) && ok;
}

/* Are the counts those of the file before it was changed? */
static bool is_part_of_made(const struct cover_profile *p)
{
	for (size_t i = 0; i < p->entries.len; i++) {
		const struct cover_entry *e = &p->entries.at[i];
		const struct cover_entry *was = cover_profile_find(&made, e->module, e->name);

		if (!was || was->counts != e->counts ||
		    (e->counts && memcmp(was->count, e->count, e->counts * sizeof(*e->count)) != 0))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct cover_profile p = {0};
	struct text why = {0};
	bool ok;

	CHECK(put(data, size));
	ok = cover_profile_read(&p, path, &why);
	if (ok != !why.len || (why.len && strchr(why.at, '\n')))
		CHECK_MSG(false, "what is wrong is one line");
	if (!ok && p.entries.len && !strstr(why.at, "versions"))
		CHECK_MSG(false, "nothing of a damaged file is taken");
	if (ok && made.entries.len && !is_part_of_made(&p))
		CHECK_MSG(false, "counts that were changed are not taken");
	read_well += ok;
	refused += !ok;
	/* A file that is read is added to; another stays. */
	if (ok) {
		struct text again = {0};

		for (size_t i = 0; i < p.entries.len; i++)
			p.entries.at[i].is_dirty = true;
		CHECK(cover_profile_flush(&p, path, &again));
		text_fini(&again);
	}
	text_fini(&why);
	cover_profile_free(&p);
	return 0;
}

static bool make_seed(struct text *seed)
{
	static const struct exec_count counts[3] = {{.lanes = 100, .warps = 4, .all = 3, .mask = 1},
						    {.lanes = UINT64_MAX, .others = 7},
						    {.missing = 31, .none = 2}};
	struct cover_profile p = {0};
	struct text why = {0};
	struct file f;
	bool ok = true;

	for (u32 i = 0; i < 4; i++) {
		struct cover_hash h = {{i / 2, 5}};

		ok = ok &&
		     cover_profile_add(&p, h, i & 1 ? "_Z1fPfi" : "", counts, i & 1 ? i : 0, &why);
	}
	ok = ok && cover_profile_write(&p, path, &why) && cover_profile_read(&made, path, &why) &&
	     file_open(&f, path);
	if (ok) {
		text_add(seed, (const char *)f.data, f.size);
		file_close(&f);
	}
	cover_profile_free(&p);
	text_fini(&why);
	return ok && !seed->failed;
}

static void change(struct text *t, u64 *state)
{
	size_t at = t->len ? mutate_next(state) % t->len : 0;

	switch (mutate_next(state) % 4) {
	case 0:
		t->len = at;
		break;
	case 1:
		text_add(t, "ptxloom\n", mutate_next(state) % 9);
		break;
	default:
		if (t->len)
			t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		break;
	}
}

int main(int argc, char **argv)
{
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);
	struct text seed = {0};
	int fd = mkstemp(path), status = 1;

	if (fd < 0 || !make_seed(&seed))
		return 1;
	close(fd);
	if (!mutate_makes(argc, argv)) {
		status = mutate_files(argc - 1, argv + 1);
	} else {
		for (u64 i = r.first; i < r.first + r.n; i++) {
			u64 state = mutate_state(i);
			struct text t = {0};

			text_add(&t, seed.at, seed.len);
			for (u64 n = mutate_next(&state) % (CHANGES_MAX + 1); n; n--)
				change(&t, &state);
			LLVMFuzzerTestOneInput((const u8 *)t.at, t.len);
			text_fini(&t);
		}
		printf("# %llu read, %llu refused\n", (unsigned long long)read_well,
		       (unsigned long long)refused);
		CHECK_MSG(read_well > r.n / 20 && refused > r.n / 20,
			  "changed profiles do no harm");
		status = check_done();
	}
	unlink(path);
	cover_profile_free(&made);
	text_fini(&seed);
	return status;
}
