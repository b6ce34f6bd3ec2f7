/*
 * Reading, adding up and writing of profiles.
 */
#include "src/cover/profile.h"
#include "src/base/file.h"
#include "src/base/size.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cover/profile_int.h"

/* ---- hashes ---- */

struct cover_hash cover_hash_of(const char *text, size_t size)
{
	return (struct cover_hash){
		{hash_bytes(text, size), hash_more(HASH_SEED ^ 0x9e3779b97f4a7c15u, text, size)}};
}

void cover_hash_text(struct cover_hash h, char out[COVER_HASH_TEXT])
{
	snprintf(out, COVER_HASH_TEXT, "%016llx%016llx", (unsigned long long)h.at[0],
		 (unsigned long long)h.at[1]);
}

/* ---- sums ---- */

static u64 sum_or_most(u64 a, u64 b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void cover_count_add(struct exec_count *to, const struct exec_count *from)
{
	to->lanes = sum_or_most(to->lanes, from->lanes);
	to->warps = sum_or_most(to->warps, from->warps);
	to->all = sum_or_most(to->all, from->all);
	to->others = sum_or_most(to->others, from->others);
	to->none = sum_or_most(to->none, from->none);
	to->mask |= from->mask;
	to->missing = from->missing > to->missing ? from->missing : to->missing;
}

void cover_profile_free(struct cover_profile *p)
{
	for (size_t i = 0; i < p->entries.len; i++) {
		free((char *)p->entries.at[i].name);
		free(p->entries.at[i].count);
	}
	VEC_FREE(&p->entries);
	map_fini(&p->at);
}

static u64 entry_key(struct cover_hash module, const char *name)
{
	u64 h = hash_more(module.at[0] ^ module.at[1] * HASH_PRIME, name, strlen(name));

	return h ? h : 1;
}

static bool is_entry(const struct cover_entry *e, struct cover_hash module, const char *name)
{
	return e->module.at[0] == module.at[0] && e->module.at[1] == module.at[1] &&
	       !strcmp(e->name, name);
}

struct cover_entry *cover_profile_find(struct cover_profile *p, struct cover_hash module,
				       const char *name)
{
	u64 *at = map_get(&p->at, entry_key(module, name));

	if (!at)
		return NULL;
	if (is_entry(&p->entries.at[*at - 1], module, name))
		return &p->entries.at[*at - 1];
	/* Two of one hash: the second is in the list alone. */
	for (size_t i = 0; i < p->entries.len; i++)
		if (is_entry(&p->entries.at[i], module, name))
			return &p->entries.at[i];
	return NULL;
}

static bool new_entry(struct cover_profile *p, struct cover_hash module, const char *name,
		      const struct exec_count *count, u32 n)
{
	struct cover_entry e = {.module = module,
				.name = strdup(name),
				.counts = n,
				.count = calloc(n + 1, sizeof(*count))};
	u64 key = entry_key(module, name);

	if (e.name && e.count && VEC_PUSH(&p->entries, e)) {
		if (n)
			memcpy(e.count, count, sizeof(*count) * n);
		if (map_get(&p->at, key) || map_set(&p->at, key, p->entries.len))
			return true;
		p->entries.len--;
	}
	free((char *)e.name);
	free(e.count);
	return false;
}

bool cover_profile_add(struct cover_profile *p, struct cover_hash module, const char *name,
		       const struct exec_count *count, u32 n, struct text *why)
{
	struct cover_entry *e = cover_profile_find(p, module, name);

	if (!e) {
		if (new_entry(p, module, name, count, n))
			return true;
		text_puts(why, "out of memory");
		return false;
	}
	if (e->counts != n) {
		text_printf(
			why,
			"function %s has %u counts here and %u elsewhere: the versions of ptxloom differ",
			name, n, e->counts);
		return false;
	}
	for (u32 i = 0; i < n; i++)
		cover_count_add(&e->count[i], &count[i]);
	return true;
}

static int compare_entries(const void *a, const void *b)
{
	const struct cover_entry *x = a, *y = b;

	for (u32 i = 0; i < 2; i++)
		if (x->module.at[i] != y->module.at[i])
			return x->module.at[i] < y->module.at[i] ? -1 : 1;
	return strcmp(x->name, y->name);
}

void cover_profile_sort(struct cover_profile *p)
{
	if (p->entries.len)
		qsort(p->entries.at, p->entries.len, sizeof(*p->entries.at), compare_entries);
	/* Numbers have changed; what is added now is found by looking through the list. */
	map_fini(&p->at);
	p->at = (struct map){0};
	for (size_t i = 0; i < p->entries.len; i++)
		map_set(&p->at, entry_key(p->entries.at[i].module, p->entries.at[i].name), i + 1);
}

/* ---- records ---- */

u64 cover_record_bytes(u64 name_len, u64 counts)
{
	return sizeof(struct cover_record) + align_up(name_len + 1, 8) +
	       counts * sizeof(struct exec_count);
}

u32 cover_record_sum(const struct cover_record *r)
{
	struct cover_record head = *r;
	u64 words = (r->bytes - sizeof(head)) / sizeof(u64), h, word;
	const u8 *at = (const u8 *)(r + 1);

	head.sum = 0;
	h = hash_bytes(&head, sizeof(head));
	for (u64 i = 0; i < words; i++) {
		memcpy(&word, at + i * sizeof(word), sizeof(word));
		h = (h ^ word) * HASH_PRIME;
		h ^= h >> 32;
	}
	h = h * 0x9e3779b97f4a7c15u >> 32;
	return h ? (u32)h : 1;
}

bool cover_record_is_whole(const struct cover_record *r, u64 left)
{
	const char *name = cover_record_name(r);

	if (left < sizeof(*r) || r->mark != COVER_RECORD_MARK || r->bytes > left ||
	    r->bytes != cover_record_bytes(r->name_len, r->counts) ||
	    memchr(name, 0, (size_t)r->name_len + 1) != name + r->name_len)
		return false;
	return !r->sum || r->sum == cover_record_sum(r);
}

const char *cover_check(const u8 *data, u64 size)
{
	const struct cover_header *h = (const void *)data;
	const struct cover_record *r;

	if (size < sizeof(*h) || memcmp(h->magic, COVER_MAGIC, sizeof(h->magic)) != 0)
		return "is not a coverage profile";
	if (h->version != COVER_VERSION)
		return "is a coverage profile of another version of ptxloom";
	if (h->used < sizeof(*h) || h->used % 8)
		return "is damaged";
	if (h->used > size)
		return "is cut short";
	for (u64 at = sizeof(*h); at < h->used; at += r->bytes) {
		r = (const void *)(data + at);
		if (!cover_record_is_whole(r, h->used - at))
			return "is damaged";
	}
	return NULL;
}

const char *cover_record_name(const struct cover_record *r)
{
	return (const char *)(r + 1);
}

const struct exec_count *cover_record_counts(const struct cover_record *r)
{
	return (const void *)((const u8 *)r + r->bytes - r->counts * sizeof(struct exec_count));
}

bool cover_add_records(struct cover_profile *p, const u8 *data, struct text *why)
{
	const struct cover_header *h = (const void *)data;
	const struct cover_record *r;

	for (u64 at = sizeof(*h); at < h->used; at += r->bytes) {
		r = (const void *)(data + at);
		if (!cover_profile_add(p, r->module, cover_record_name(r), cover_record_counts(r),
				       r->counts, why))
			return false;
	}
	return true;
}

/* Would the file's records fit what is there? */
static bool do_fit(struct cover_profile *p, const u8 *data, struct text *why)
{
	const struct cover_header *h = (const void *)data;
	const struct cover_record *r;

	for (u64 at = sizeof(*h); at < h->used; at += r->bytes) {
		const struct cover_entry *e;

		r = (const void *)(data + at);
		e = cover_profile_find(p, r->module, cover_record_name(r));
		if (!e || e->counts == r->counts)
			continue;
		text_printf(
			why,
			"function %s has %u counts there and %u elsewhere: the versions of ptxloom differ",
			cover_record_name(r), r->counts, e->counts);
		return false;
	}
	return true;
}

bool cover_profile_read(struct cover_profile *p, const char *path, struct text *why)
{
	const char *wrong;
	struct file f;
	bool ok;

	if (!file_open(&f, path)) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	wrong = cover_check(f.data, f.size);
	if (wrong)
		text_printf(why, "%s %s", path, wrong);
	else if (!do_fit(p, f.data, why))
		text_printf(why, " (%s)", path);
	ok = !why->len && cover_add_records(p, f.data, why);
	file_close(&f);
	return ok;
}

/* ---- folders and texts ---- */

bool cover_make_folder(const char *path)
{
	char *copy = strdup(path);
	bool ok = copy != NULL;

	for (char *at = copy; ok && at && *at;) {
		at += strspn(at, "/");
		at += strcspn(at, "/");
		char end = *at;

		*at = 0;
		ok = !mkdir(copy, 0777) || errno == EEXIST || errno == EISDIR;
		if (!ok && errno == EROFS) {
			ok = !access(copy, F_OK);
			errno = EROFS;
		}
		*at = end;
	}
	free(copy);
	return ok;
}

bool cover_put_file(const char *path, const void *from, size_t n, struct text *why)
{
	sigset_t old;
	bool ok;
	int e;

	cover_block_limit(&old);
	ok = file_put(path, from, n);
	e = errno;
	cover_restore_limit(&old);
	if (!ok)
		text_printf(why, "%s: %s", path, strerror(e));
	return ok;
}

bool cover_module_keep(const char *folder, struct cover_hash hash, const char *text, size_t size,
		       struct text *why)
{
	char name[COVER_HASH_TEXT];
	struct text path = {0};
	struct stat s;
	bool ok;

	cover_hash_text(hash, name);
	text_printf(&path, "%s/modules", folder);
	if (path.failed || !cover_make_folder(path.at)) {
		text_printf(why, "%s: %s", path.at ? path.at : folder, strerror(errno));
		text_fini(&path);
		return false;
	}
	text_printf(&path, "/%s.ptx", name);
	ok = !path.failed && ((!stat(path.at, &s) && (u64)s.st_size == size) ||
			      cover_put_file(path.at, text, size, why));
	text_fini(&path);
	return ok;
}

/* ---- whole files ---- */

void cover_record_put(const struct cover_entry *e, struct text *t)
{
	static const char zeros[8];
	size_t n = strlen(e->name), start = t->len;
	struct cover_record *made, r = {.mark = COVER_RECORD_MARK,
					.name_len = (u32)n,
					.counts = e->counts,
					.bytes = cover_record_bytes(n, e->counts),
					.module = e->module};

	text_add(t, (const char *)&r, sizeof(r));
	text_add(t, e->name, n + 1);
	text_add(t, zeros, align_up(n + 1, 8) - (n + 1));
	if (e->counts)
		text_add(t, (const char *)e->count, e->counts * sizeof(*e->count));
	if (t->failed)
		return;
	made = (void *)(t->at + start);
	made->sum = cover_record_sum(made);
}

bool cover_profile_write(const struct cover_profile *p, const char *path, struct text *why)
{
	struct cover_header h = {.magic = COVER_MAGIC, .version = COVER_VERSION};
	struct text t = {0};
	bool ok;

	text_add(&t, (const char *)&h, sizeof(h));
	for (size_t i = 0; i < p->entries.len; i++)
		cover_record_put(&p->entries.at[i], &t);
	if (!t.failed)
		((struct cover_header *)(void *)t.at)->used = t.len;
	else
		text_puts(why, "out of memory");
	ok = !t.failed && cover_put_file(path, t.at, t.len, why);
	text_fini(&t);
	return ok;
}
