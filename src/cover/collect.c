/*
 * From launches to the profile of the process.
 */
#include "src/cover/collect.h"
#include "src/base/setting.h"
#include "src/cover/profile.h"
#include "src/lower/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_NAME "%h-%p.ptxcov"
#define FILES_MOST 4096u

struct before;

struct cover_collect {
	pthread_mutex_t lock;
	struct before *befores;        /* owned */
	char *pattern, *path, *folder; /* owned; the last two are this process's */
	pid_t pid;
	struct cover_profile own;
	struct map modules; /* ir_module of a loaded program -> index in hashes + 1 */
	VEC(struct cover_hash) hashes;
	bool has_failed; /* and said so */
};

/* What a device had before. */
struct before {
	struct before *next;
	struct cover_collect *of;
	void (*on_program)(void *user, const struct device_program *p, bool loaded);
	void *user;
};

/* ---- names ---- */

static bool is_pattern(const char *s)
{
	size_t n = strlen(s);

	return strchr(s, '%') || (n > 7 && !strcmp(s + n - 7, ".ptxcov"));
}

/* One %-item; returns what follows, NULL: it is not known. */
static const char *expand_item(const char *at, struct text *out)
{
	char host[256] = "localhost", *end;
	unsigned long files = 1;

	if (*at >= '0' && *at <= '9') {
		files = strtoul(at, &end, 10);
		at = end;
		if (*at != 'm' || !files || files > FILES_MOST)
			return NULL;
	}
	switch (*at) {
	case 'p':
		text_printf(out, "%ld", (long)getpid());
		break;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		for (char *c = host; *c; c++)
			*c = *c == '/' ? '_' : *c;
		text_puts(out, *host ? host : "localhost");
		break;
	case 'm':
		text_printf(out, "%lu", (unsigned long)getpid() % files);
		break;
	case '%':
		text_puts(out, "%");
		break;
	default:
		return NULL;
	}
	return at + 1;
}

char *cover_path(const char *pattern, struct text *why)
{
	struct text whole = {0}, out = {0};
	const char *at;

	text_puts(&whole, pattern);
	if (!is_pattern(pattern))
		text_printf(&whole, "/%s", DEFAULT_NAME);
	at = whole.failed ? NULL : whole.at;
	while (at && *at) {
		size_t n = strcspn(at, "%");

		text_add(&out, at, n);
		at = at[n] ? expand_item(at + n + 1, &out) : at + n;
	}
	if (!at || out.failed) {
		text_printf(why,
			    "%s: after %% there may be p (process), h (host), Nm (N files) or %%",
			    pattern);
		text_fini(&out);
	}
	text_fini(&whole);
	return out.at;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? strdup("/")
	       : slash       ? strndup(path, (size_t)(slash - path))
			     : strdup(".");
}

/* The files of this process, which may be a child of the one that began. */
static bool take_paths(struct cover_collect *c, struct text *why)
{
	if (c->path && c->pid == getpid())
		return true;
	free(c->path);
	free(c->folder);
	c->pid = getpid();
	c->path = cover_path(c->pattern, why);
	c->folder = c->path ? folder_of(c->path) : NULL;
	for (size_t i = 0; i < c->own.entries.len; i++)
		c->own.entries.at[i].place = 0;
	if (c->folder && cover_make_folder(c->folder))
		return true;
	if (c->folder)
		text_printf(why, "%s: %s", c->folder, strerror(errno));
	return false;
}

/* The first time only: each launch would fail. */
static void say_failure(struct cover_collect *c, const struct text *why)
{
	if (!c->has_failed)
		fprintf(stderr, "ptxloom: error: coverage is not written: %s\n",
			why->at ? why->at : "out of memory");
	c->has_failed = true;
}

/* With the lock held. */
static void flush_locked(struct cover_collect *c)
{
	struct text why = {0};

	if (!take_paths(c, &why) || !cover_profile_flush(&c->own, c->path, &why))
		say_failure(c, &why);
	text_fini(&why);
}

/* ---- texts ---- */

/* With the lock held. */
static bool note_locked(struct cover_collect *c, struct cover_hash hash, const char *text,
			size_t size)
{
	struct text why = {0};
	bool ok = cover_profile_find(&c->own, hash, "") ||
		  (take_paths(c, &why) && cover_module_keep(c->folder, hash, text, size, &why) &&
		   cover_profile_add(&c->own, hash, "", NULL, 0, &why));

	if (!ok)
		say_failure(c, &why);
	text_fini(&why);
	return ok;
}

void cover_note_text(struct cover_collect *c, const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	pthread_mutex_lock(&c->lock);
	note_locked(c, cover_hash_of(text, n), text, n);
	pthread_mutex_unlock(&c->lock);
}

static void note_module_locked(struct cover_collect *c, const struct ir_module *m)
{
	const struct diag_source *s = &m->source;
	struct cover_hash hash = cover_hash_of(s->text, strnlen(s->text, s->size));

	if (!VEC_PUSH(&c->hashes, hash) || !map_set(&c->modules, map_key(m), c->hashes.len))
		return;
	note_locked(c, hash, s->text, strnlen(s->text, s->size));
}

/* What is built in is not the program's. */
static void on_program(void *user, const struct device_program *p, bool loaded)
{
	struct before *b = user;
	struct cover_collect *c = b->of;

	if (b->on_program)
		b->on_program(b->user, p, loaded);
	pthread_mutex_lock(&c->lock);
	for (u32 u = 0; u < p->given; u++) {
		if (loaded)
			note_module_locked(c, p->units[u]);
		else
			map_remove(&c->modules, map_key(p->units[u]));
	}
	if (loaded)
		flush_locked(c);
	pthread_mutex_unlock(&c->lock);
}

/* ---- launches ---- */

static bool has_run(const struct exec_count *count, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (count[i].lanes | count[i].others)
			return true;
	return false;
}

static void add_counts(struct cover_collect *c, const struct program_func *f,
		       const struct exec_count *counts)
{
	const u64 *at = map_get(&c->modules, map_key(f->module));
	struct cover_hash hash;
	struct text why = {0};
	struct cover_entry *e;

	if (!at || !has_run(counts + f->count_at, f->counts))
		return;
	hash = c->hashes.at[*at - 1];
	if (cover_profile_add(&c->own, hash, f->func->name->text, counts + f->count_at, f->counts,
			      &why)) {
		e = cover_profile_find(&c->own, hash, f->func->name->text);
		e->is_dirty = true;
	} else {
		say_failure(c, &why);
	}
	text_fini(&why);
}

static void on_counts(void *user, const struct program *p, const struct exec_count *counts)
{
	struct cover_collect *c = user;

	pthread_mutex_lock(&c->lock);
	for (u32 i = 0; i < p->func_len; i++)
		add_counts(c, &p->funcs[i], counts);
	flush_locked(c);
	pthread_mutex_unlock(&c->lock);
}

/* ---- begin and end ---- */

struct cover_collect *cover_open(struct text *why)
{
	const char *pattern = setting_text(SETTING_COVERAGE);
	struct cover_collect *c = pattern ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	c->pattern = strdup(pattern);
	if (c->pattern && take_paths(c, why))
		return c;
	cover_close(c);
	return NULL;
}

void cover_device(struct cover_collect *c, struct device *d)
{
	struct before *b = malloc(sizeof(*b));

	if (!b)
		return;
	pthread_mutex_lock(&c->lock);
	*b = (struct before){.next = c->befores,
			     .of = c,
			     .on_program = d->on_program,
			     .user = d->on_program_user};
	c->befores = b;
	pthread_mutex_unlock(&c->lock);
	d->on_program = on_program;
	d->on_program_user = b;
	d->counts |= LOWER_COUNT_BLOCKS | LOWER_COUNT_CHOICES;
	d->on_counts = on_counts;
	d->on_counts_user = c;
}

void cover_close(struct cover_collect *c)
{
	if (!c)
		return;
	if (c->own.entries.len)
		flush_locked(c);
	cover_profile_free(&c->own);
	while (c->befores) {
		struct before *b = c->befores;

		c->befores = b->next;
		free(b);
	}
	map_fini(&c->modules);
	VEC_FREE(&c->hashes);
	free(c->pattern);
	free(c->path);
	free(c->folder);
	free(c);
}
