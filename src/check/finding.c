/*
 * The list of findings of a process: each once, in the words of compute-sanitizer.
 */
#include "src/check/finding.h"
#include "src/base/demangle.h"
#include "src/check/choice.h"
#include "src/check/format.h"
#include "src/check/process.h"
#include "src/check/record.h"
#include "src/check/suppress.h"
#include "src/dev/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the words of PTXLOOM_CHECK_LEVEL. */
#define LEVEL_WARN 1u

/* Findings that are printed, unless PTXLOOM_CHECK_LIMIT says otherwise. */
#define FINDINGS_SHOWN 100u

static const struct {
	enum check check;
	const char *word;
} finding_rows[] = {
#define FINDING(name, check, word, what) {CHECK_##check, word},
#include "src/check/finding.def"
#undef FINDING
};

enum check finding_check(enum finding_kind kind)
{
	return finding_rows[kind].check;
}

const char *finding_check_word(enum finding_kind kind)
{
	static const char *const words[] = {"mem", "race", "init", "sync", "leak", "api"};

	return words[__builtin_ctz(finding_rows[kind].check)];
}

void checks_say(u32 checks, struct text *out)
{
	const char *word = setting_words(SETTING_CHECK);

	for (u32 bit = 1; *word; bit <<= 1) {
		size_t n = strcspn(word, ",");

		if (checks & bit)
			text_printf(out, "%s%.*s", out->len ? "," : "", (int)n, word);
		word += n + (word[n] == ',');
	}
}

const char *finding_word(enum finding_kind kind)
{
	return finding_rows[kind].word;
}

bool finding_shows(enum backtrace which)
{
	u64 asked = setting_number(SETTING_CHECK_BACKTRACE, BACKTRACE_ALL);

	return asked == BACKTRACE_ALL || asked == which;
}

/* ---- to make one ---- */

void finding_init(struct finding *f, enum finding_kind kind)
{
	*f = (struct finding){.kind = kind, .count = 1};
}

void finding_fini(struct finding *f)
{
	for (u32 i = 0; i < f->sides; i++) {
		struct finding_place *at = &f->side[i].place;

		free(at->function);
		free(at->file);
		free(at->insn);
	}
	free(f->kernel);
	text_fini(&f->text);
	*f = (struct finding){0};
}

static char *demangled(const char *name)
{
	struct text t = {0};

	demangle(name, &t);
	return t.at; /* the caller's */
}

void finding_set_kernel(struct finding *f, const char *name)
{
	free(f->kernel);
	f->kernel = demangled(name);
}

static void find_finding_place(const struct program *p, u32 pc, struct finding_place *out)
{
	struct source_line s;
	struct place at = place_of(p, pc), shown = place_for_users(&at, &s);
	struct text insn = {0};

	if (shown.func)
		out->function = demangled(shown.func->func->name->text);
	if (s.file)
		out->file = strdup(s.file);
	out->line = s.line;
	out->column = s.column;
	if (at.in)
		place_say_insn(&at, &insn);
	out->insn = insn.at;
}

void finding_set_place(struct finding_place *at, const char *function, const char *file, u32 line,
		       const char *ptx, u32 ptx_line)
{
	struct text insn = {0};

	at->function = demangled(function);
	if (file && *file) {
		at->file = strdup(file);
		at->line = line;
	}
	if (ptx && *ptx && ptx_line)
		text_printf(&insn, "%s:%u", ptx, ptx_line);
	at->insn = insn.at;
}

struct finding_side *finding_add_side(struct finding *f, const char *what, const struct program *p,
				      u32 pc)
{
	struct finding_side *s = f->sides < FINDING_SIDES ? &f->side[f->sides] : NULL;

	if (!s)
		return NULL;
	f->sides++;
	s->what = what;
	if (p)
		find_finding_place(p, pc, &s->place);
	return s;
}

void finding_add_host(struct finding *f, const char *what, struct host_from from)
{
	struct text where = {0};

	host_from_say(from, &where);
	if (where.at)
		text_printf(&f->text, "    %s by %s\n", what, where.at);
	text_fini(&where);
	if (from.trace && f->hosts < FINDING_HOSTS)
		f->host[f->hosts++] = (struct finding_host){what, from.trace};
}

void finding_add_call(struct finding *f, const char *name, struct host_from from)
{
	const struct host_frame *at = host_trace_place(from.trace);
	struct finding_side *s = finding_add_side(f, name, NULL, 0);
	struct text where = {0};

	if (!s)
		return;
	if (!at || !at->file)
		host_from_say(from, &where);
	finding_set_place(&s->place, at && at->function ? at->function : name, at ? at->file : NULL,
			  at ? at->line : 0, where.at, 1);
	text_fini(&where);
}

void finding_unroll(u64 linear, const u32 size[3], u32 out[3])
{
	out[0] = (u32)(linear % size[0]);
	out[1] = (u32)(linear / size[0] % size[1]);
	out[2] = (u32)(linear / size[0] / size[1]);
}

static void say_finding_place(const struct finding_place *at, struct text *t)
{
	demangle_short(at->function ? at->function : "?", t);
	text_puts(t, " in ");
	if (at->file)
		text_printf(t, "%s:%u", at->file, at->line);
	else
		text_puts(t, at->insn ? at->insn : "unknown code");
}

void finding_say_side(const struct finding_side *s, struct text *t)
{
	if (s->has_thread)
		text_printf(t, "by thread (%u,%u,%u) in block (%u,%u,%u) ", s->thread[0],
			    s->thread[1], s->thread[2], s->block[0], s->block[1], s->block[2]);
	text_puts(t, "at ");
	say_finding_place(&s->place, t);
}

/* ---- the list ---- */

/* The name of the file, in which %p is the process; NULL without memory. */
static char *expand(const char *name)
{
	struct text t = {0};

	for (; *name; name++)
		if (name[0] == '%' && name[1] == 'p') {
			text_printf(&t, "%ld", (long)getpid());
			name++;
		} else {
			text_add(&t, name, 1);
		}
	return t.at;
}

static bool is_of_system(const char *path)
{
	return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
}

/* Devices, pipes and folders are not, nor are /dev/stderr and the like. */
static bool is_replaceable(const char *path)
{
	struct stat s;

	if (lstat(path, &s))
		return false;
	return S_ISREG(s.st_mode) || (S_ISLNK(s.st_mode) && !is_of_system(path));
}

/*
 * Of the processes that get the same name the first has it. Others, and those that find a file from
 * before, write beside it, so that nothing is lost.
 */
static FILE *create(const char *name, struct text *why)
{
	char *path = expand(name);
	FILE *f = path ? fopen(path, "wxe") : NULL;
	struct text other = {0};

	if (!f && path && errno == EEXIST && !is_replaceable(path)) {
		f = fopen(path, "ae");
	} else if (!f && path && errno == EEXIST) {
		text_printf(&other, "%s.%ld", path, (long)getpid());
		f = other.at ? fopen(other.at, "we") : NULL;
		if (f)
			fprintf(stderr, "ptxloom: note: %s exists, findings are in %s\n", path,
				other.at);
	}
	if (!f)
		text_printf(why, "%s: %s", path ? path : name, strerror(errno));
	text_fini(&other);
	free(path);
	return f;
}

static bool prepare_file(const char *name, struct text *why)
{
	char *path = expand(name);
	FILE *f;

	if (path && is_replaceable(path))
		unlink(path);
	f = create(name, why);
	if (f && is_replaceable(path))
		unlink(path);
	if (f)
		fclose(f);
	free(path);
	return f;
}

/* What only one of the checks looks for, without it. */
static bool is_init_missing(u32 checks, struct text *why)
{
	if (checks & CHECK_INIT || !setting_number(SETTING_CHECK_UNUSED, 0))
		return false;
	text_puts(why, "unused memory is tracked by the check init (--check=init), which is off");
	return true;
}

bool findings_prepare(struct text *why)
{
	const char *file = setting_text(SETTING_CHECK_FILE);
	const char *known = setting_text(SETTING_CHECK_SUPPRESSIONS);
	struct suppressions s = {0};
	u32 checks = (u32)setting_number(SETTING_CHECK, 0);
	const char *processes = setting_text(SETTING_CHECK_PROCESSES);
	bool ok = !known || suppressions_read(&s, known, why);

	ok = ok && !is_init_missing(checks, why);
	ok = ok && (!processes || check_processes_read(processes, why));
	suppressions_fini(&s);
	return ok && (!file || prepare_file(file, why));
}

/* Workflows of GitHub make annotations of lines that they find in the output. */
static bool is_in_workflow(void)
{
	const char *value = getenv("GITHUB_ACTIONS");

	return setting_number(SETTING_ANNOTATE, value && !strcmp(value, "true")) &&
	       !setting_text(SETTING_CHECK_FILE);
}

bool findings_open(struct findings *l, u32 checks, struct text *why)
{
	const char *file = setting_text(SETTING_CHECK_FILE);
	const char *known = setting_text(SETTING_CHECK_SUPPRESSIONS);
	bool ok = !is_init_missing(checks, why);

	*l = (struct findings){
		.options = {
			.checks = checks,
			.format = (enum finding_format)setting_number(
				SETTING_CHECK_FORMAT,
				is_in_workflow() ? FORMAT_GITHUB : FORMAT_TEXT),
			.limit = setting_number(SETTING_CHECK_LIMIT, FINDINGS_SHOWN),
			.warnings_count = setting_number(SETTING_CHECK_WARNINGS, 0),
			.exit_status = setting_number(SETTING_CHECK_STATUS, CHECK_EXIT_FOUND),
			.host_stacks = finding_shows(BACKTRACE_HOST),
			.errors_only = setting_number(SETTING_CHECK_LEVEL, LEVEL_WARN) > LEVEL_WARN,
			.callers = setting_number(SETTING_CHECK_CALLERS, 0),
			.prefix = setting_text(SETTING_CHECK_PREFIX),
			.strips = setting_number(SETTING_CHECK_STRIP, 0),
		}};
	if (!l->options.prefix)
		l->options.prefix = "=========";
	pthread_mutex_init(&l->lock, NULL);
	l->choice = check_choice_open();
	if (ok && known) {
		l->suppressions = calloc(1, sizeof(*l->suppressions));
		ok = l->suppressions && suppressions_read(l->suppressions, known, why);
	}
	if (ok && file) {
		l->file = create(file, why);
		ok = l->file != NULL;
	}
	return ok;
}

void findings_note_leaks(struct findings *l, u64 bytes, u64 allocations)
{
	l->has_leaks = true;
	l->leaked = bytes;
	l->leaks = allocations;
}

bool findings_fail(const struct findings *l)
{
	return l->errors || (l->options.warnings_count && l->warnings);
}

static u64 hash_text(u64 key, const char *s)
{
	u64 parts[2] = {key, s ? hash_bytes(s, strlen(s)) : 0};

	return hash_bytes(parts, sizeof(parts));
}

static u64 key_of_side(const struct finding_side *s)
{
	const struct finding_place *at = &s->place;
	u64 key = hash_text(0, s->what);

	key = hash_text(key, at->function);
	return at->file ? hash_text(key + at->line, at->file) : hash_text(key, at->insn);
}

/*
 * The same for findings that are told apart by nothing that the user could act on: which side came
 * first is a matter of the run.
 */
static u64 key_of(const struct finding *f)
{
	u64 key = (u64)f->kind << 1 | f->is_warning, sides = 0;

	for (u32 i = 0; i < f->sides; i++)
		sides += key_of_side(&f->side[i]);
	if (f->sides)
		key = hash_bytes((const u64[]){key, sides}, 2 * sizeof(u64));
	/* Without a place the words are all there is; each leak is one of its own. */
	if (!f->sides || f->kind == FINDING_LEAK)
		key = hash_text(key, f->text.at);
	if (f->is_of_launch && f->hosts)
		key = hash_bytes((const u64[]){key, (u64)(uintptr_t)f->host[0].trace},
				 2 * sizeof(u64));
	return key | 1;
}

static FILE *output(const struct findings *l)
{
	return l->file ? l->file : stderr;
}

static bool is_silent(const struct findings *l)
{
	return l->options.is_quiet && !l->file;
}

/* Is the text printed as things are found? Annotations come with it. */
static bool is_text(const struct findings *l)
{
	return (l->options.format == FORMAT_TEXT || l->options.format == FORMAT_GITHUB) &&
	       !is_silent(l);
}

/* Is `at` the end of a name of a file, which the number of a line follows? */
static bool ends_file(const char *at, const char *end)
{
	return at + 1 < end && at[0] == ':' && at[1] >= '0' && at[1] <= '9';
}

/* A line, in which names of files with lines lose their folders. */
static void print_stripped(const char *line, const char *end, FILE *to)
{
	const char *word, *name;

	while (line < end) {
		word = line + strspn(line, " (");
		word = word < end ? word : end;
		for (name = word; name < end && *name != ' ' && !ends_file(name, end);)
			name++;
		fprintf(to, "%.*s", (int)(word - line), line);
		if (*word == '/' && name < end && *name == ':')
			word = (const char *)memrchr(word, '/', (size_t)(name - word)) + 1;
		fprintf(to, "%.*s", (int)(name - word), word);
		line = name;
		if (line < end && *line == ':')
			fputc(*line++, to);
	}
}

static void print_finding(const struct findings *l, const struct finding *f)
{
	const char *line = f->text.at;
	FILE *to = output(l);

	while (line && *line) {
		const char *end = strchrnul(line, '\n');

		fprintf(to, "%s ", l->options.prefix);
		if (l->options.strips)
			print_stripped(line, end, to);
		else
			fprintf(to, "%.*s", (int)(end - line), line);
		fputc('\n', to);
		line = *end ? end + 1 : end;
	}
	fprintf(to, "%s\n", l->options.prefix);
	fflush(to);
}

static bool is_same_line(const struct finding_place *a, const struct finding_place *b)
{
	return b->file && !strcmp(a->file, b->file) && a->line == b->line;
}

/* The lines of the source that it is about, those that can be read. */
static void quote_places(struct finding *f)
{
	for (u32 i = 0; i < f->sides; i++) {
		const struct finding_place *at = &f->side[i].place;
		struct text line = {0};

		if (!at->file || (i && is_same_line(at, &f->side[0].place)))
			continue;
		place_quote(&(struct source_line){at->file, at->line, at->column}, &line);
		if (line.at)
			text_printf(&f->text, "    %s:%u:\n%s", at->file, at->line, line.at);
		text_fini(&line);
	}
}

/* The stack of the call that it is about, in compute-sanitizer's words. */
static void say_stack(const struct findings *l, struct finding *f)
{
	static const struct {
		const char *what, *when;
	} rows[] = {{"launched", "at kernel launch time"},
		    {"allocated", "at allocation time"},
		    {"made", "at allocation time"}};
	const char *when = "at error";

	if (!l->options.host_stacks || !f->hosts)
		return;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(f->host[0].what, rows[i].what))
			when = rows[i].when;
	text_printf(&f->text, "    Saved host backtrace up to driver entry point %s\n", when);
	host_trace_say(f->host[0].trace, (u32)min_u64(l->options.callers, UINT32_MAX), &f->text);
}

/* What is not worth the work for a finding that is known already. */
static void finish_finding(struct findings *l, struct finding *f)
{
	if (!f->is_quoted)
		quote_places(f);
	if (f->mem && l->add_origin)
		l->add_origin(f->mem, f->address, f);
	f->mem = NULL;
	say_stack(l, f);
}

static void keep_finding(struct findings *l, struct finding *f, u64 key)
{
	if (f->is_warning)
		l->warnings++;
	else
		l->errors++;
	if (is_text(l) && !f->is_shown && l->errors + l->warnings <= l->options.limit &&
	    !(f->is_warning && l->options.errors_only)) {
		fflush(stdout);
		print_finding(l, f);
	}
	record_finding(f);
	/* Without memory it is not known again, but it was said. */
	if (VEC_PUSH(&l->list, *f)) {
		map_set(&l->by_key, key, l->list.len);
		*f = (struct finding){0};
	}
}

/* Is it told already, or not wanted? The lock is held. */
static bool is_settled(struct findings *l, const struct finding *f, u64 key)
{
	u64 *slot = map_get(&l->by_key, key);

	if (l->suppressions && suppressions_match(l->suppressions, f))
		l->suppressed++;
	else if (slot)
		l->list.at[*slot - 1].count += f->count;
	else
		return false;
	return true;
}

/* What a listener was told: while the launch runs, whose end adds it; or of one that is added. */
enum told { TOLD_EARLY = 1, TOLD_ADDED };

/* Has the listener not been told? It has from now on. */
static bool is_news(struct findings *l, u64 key, enum told how)
{
	u64 *known;
	bool is_new;

	pthread_mutex_lock(&l->lock);
	known = map_get(&l->announced, key);
	is_new = !known && map_set(&l->announced, key, how);
	if (known && how == TOLD_ADDED)
		*known = how;
	pthread_mutex_unlock(&l->lock);
	return is_new;
}

void findings_announce(struct findings *l, struct finding *f)
{
	bool suppressed = l->suppressions && suppressions_match(l->suppressions, f);

	if (l->listener && !suppressed && is_news(l, key_of(f), TOLD_EARLY)) {
		finish_finding(l, f);
		l->listener->found(l->listener->user, f);
	}
	finding_fini(f);
}

static void add_unexplained(struct findings *l, struct finding *f)
{
	u64 key = key_of(f);
	bool settled;

	pthread_mutex_lock(&l->lock);
	settled = is_settled(l, f, key);
	pthread_mutex_unlock(&l->lock);
	if (!settled) {
		/* Takes locks of others, some of which add findings. */
		finish_finding(l, f);
		if (l->listener && is_news(l, key, TOLD_ADDED))
			f->is_shown = l->listener->found(l->listener->user, f);
		pthread_mutex_lock(&l->lock);
		if (!is_settled(l, f, key))
			keep_finding(l, f, key);
		pthread_mutex_unlock(&l->lock);
	}
	finding_fini(f);
}

/*
 * What the engine does about a barrier that was called with wrong arguments is the same mistake
 * once more.
 */
static bool is_explained(struct findings *l, const struct finding *f)
{
	const struct finding_side *b = &f->side[0];
	bool is = false;

	if (f->kind != FINDING_FAULT || !f->sides || !f->kernel)
		return false;
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->list.len && !is; i++) {
		const struct finding *x = &l->list.at[i];
		const struct finding_side *a = &x->side[0];

		is = x->kind == FINDING_SYNC_ARGUMENT && x->kernel &&
		     !strcmp(x->kernel, f->kernel) && a->place.line == b->place.line &&
		     (a->place.line || (!memcmp(a->thread, b->thread, sizeof(a->thread)) &&
					!memcmp(a->block, b->block, sizeof(a->block))));
	}
	pthread_mutex_unlock(&l->lock);
	return is;
}

void findings_add(struct findings *l, struct finding *f)
{
	if (is_explained(l, f))
		finding_fini(f);
	else
		add_unexplained(l, f);
}

static const char *plural(u64 n)
{
	return n == 1 ? "" : "s";
}

/* What racecheck calls hazards is counted on its own, as users of its scripts expect. */
static void print_findings_summary(const struct findings *l)
{
	u64 race_errors = 0, race_warnings = 0, all = l->errors + l->warnings;
	const char *prefix = l->options.prefix;
	FILE *to = output(l);

	if (all > l->options.limit)
		fprintf(to, "%s Only the first %llu of %llu are shown\n", prefix,
			(unsigned long long)l->options.limit, (unsigned long long)all);
	if (l->suppressed)
		fprintf(to, "%s %llu suppressed\n", prefix, (unsigned long long)l->suppressed);
	for (size_t i = 0; i < l->list.len; i++)
		if (finding_check(l->list.at[i].kind) == CHECK_RACE) {
			race_errors += !l->list.at[i].is_warning;
			race_warnings += l->list.at[i].is_warning;
		}
	all = race_errors + race_warnings;
	if (l->has_leaks)
		fprintf(to, "%s LEAK SUMMARY: %llu bytes leaked in %llu allocations\n", prefix,
			(unsigned long long)l->leaked, (unsigned long long)l->leaks);
	if (l->options.checks & CHECK_RACE)
		fprintf(to,
			"%s RACECHECK SUMMARY: %llu hazard%s displayed (%llu error%s, %llu warning%s)\n",
			prefix, (unsigned long long)all, plural(all),
			(unsigned long long)race_errors, plural(race_errors),
			(unsigned long long)race_warnings, plural(race_warnings));
	all = l->errors - race_errors;
	if (l->options.checks & ~(u32)CHECK_RACE || all)
		fprintf(to, "%s ERROR SUMMARY: %llu error%s\n", prefix, (unsigned long long)all,
			plural(all));
}

/* What other programs read. */
static void write_document(struct findings *l)
{
	struct text t = {0};

	findings_format(l, l->options.format, &t);
	if (t.at)
		fputs(t.at, output(l));
	if (t.failed)
		fputs("ptxloom: error: findings were not written: no memory left\n", stderr);
	text_fini(&t);
}

static void forget_findings(struct findings *l)
{
	for (size_t i = 0; i < l->list.len; i++)
		finding_fini(&l->list.at[i]);
	VEC_FREE(&l->list);
	map_fini(&l->by_key);
}

/* But for those that a launch under way is still to add. */
static void forget_told(struct findings *l)
{
	struct map early = {0};

	for (size_t i = 0; i < l->announced.cap; i++)
		if (l->announced.slots[i].key && l->announced.slots[i].value == TOLD_EARLY)
			map_set(&early, l->announced.slots[i].key, TOLD_EARLY);
	map_fini(&l->announced);
	l->announced = early;
}

void findings_clear(struct findings *l)
{
	pthread_mutex_lock(&l->lock);
	forget_findings(l);
	forget_told(l);
	l->errors = l->warnings = l->suppressed = 0;
	pthread_mutex_unlock(&l->lock);
}

/* What has been shown by a listener alone. */
static void print_shown(const struct findings *l)
{
	for (size_t i = 0; i < l->list.len && i < l->options.limit; i++)
		if (l->list.at[i].is_shown)
			print_finding(l, &l->list.at[i]);
}

void findings_close(struct findings *l)
{
	fflush(stdout);
	if (is_text(l))
		print_shown(l);
	if (is_text(l))
		print_findings_summary(l);
	if (!is_silent(l))
		write_document(l);
	if (l->file && (ferror(l->file) | fclose(l->file)))
		fputs("ptxloom: error: the file of PTXLOOM_CHECK_FILE is not whole\n", stderr);
	if (l->suppressions)
		suppressions_fini(l->suppressions);
	free(l->suppressions);
	check_choice_free(l->choice);
	forget_findings(l);
	map_fini(&l->announced);
	pthread_mutex_destroy(&l->lock);
}
