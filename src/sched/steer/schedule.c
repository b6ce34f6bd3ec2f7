/*
 * Tokens of schedules: reading, writing, and finding a choice.
 */
#include "src/sched/steer/schedule.h"
#include "src/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 20)
#define WARPS_MAX 64u
#define LANES_MAX 32u
#define CTAS_MAX ((u64)1 << 48)
#define DEPTH_MAX (SCHEDULE_POINTS + 1)
#define LAUNCHES_MAX ((u64)1 << 20)

/* ---- reading ---- */

struct reader {
	const char *at, *end;
	const char *name;
	const char *begin; /* of the line */
	u32 line;
	bool is_file;
	struct text *why;
};

/* In files, blanks and lines that begin with # are between any two characters. */
static void skip_token_blanks(struct reader *r)
{
	while (r->is_file && r->at < r->end) {
		if (*r->at == '#' && r->at == r->begin) {
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		} else if (*r->at == '\n') {
			r->begin = ++r->at;
			r->line++;
		} else if (isspace((unsigned char)*r->at)) {
			r->at++;
		} else {
			return;
		}
	}
}

static bool wrong(struct reader *r, const char *what)
{
	if (!r->why->len)
		text_printf(r->why, "%s:%u:%zu: %s", r->name, r->line, r->at - r->begin + 1, what);
	return false;
}

static bool takes(struct reader *r, char c)
{
	skip_token_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool needs(struct reader *r, char c, const char *what)
{
	return takes(r, c) || wrong(r, what);
}

static bool takes_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_token_blanks(r);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool at_digit(const struct reader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* A number from lo to hi. */
static bool read_token_number(struct reader *r, u64 lo, u64 hi, const char *what, u64 *out)
{
	const char *first;
	u64 x = 0;

	skip_token_blanks(r);
	first = r->at;
	if (!at_digit(r))
		return wrong(r, what);
	for (; at_digit(r); r->at++)
		if (__builtin_mul_overflow(x, 10u, &x) ||
		    __builtin_add_overflow(x, (u64)(*r->at - '0'), &x))
			break;
	if (at_digit(r) || x < lo || x > hi) {
		r->at = first;
		return wrong(r, what);
	}
	*out = x;
	return true;
}

static bool read_u32(struct reader *r, u64 hi, const char *what, u32 *out)
{
	u64 x;

	if (!read_token_number(r, 0, hi, what, &x))
		return false;
	*out = (u32)x;
	return true;
}

static bool read_launch_cta(struct reader *r, u64 *launch, u64 *cta)
{
	return read_token_number(r, 1, LAUNCHES_MAX, "the number of a launch is wanted, from 1 on",
				 launch) &&
	       needs(r, '.', "LAUNCH.CTA is wanted: a dot is missing") &&
	       read_token_number(r, 0, CTAS_MAX, "the number of a CTA is wanted", cta);
}

static bool read_warp(struct reader *r, u32 *warp)
{
	return needs(r, 'w', "a warp is wanted: w0 to w63") &&
	       read_u32(r, WARPS_MAX - 1, "a warp is wanted: w0 to w63", warp);
}

static bool read_target(struct reader *r, struct schedule_choice *c)
{
	u32 lane, last;

	if (takes(r, 'n')) {
		c->passes = true;
		c->count = 1;
		return !at_digit(r) ||
		       (read_u32(r, UINT32_MAX, "a number of times is wanted", &c->count) &&
			(c->count || wrong(r, "once at least")));
	}
	if (takes(r, 'c') &&
	    !read_token_number(r, 0, CTAS_MAX, "the number of a CTA is wanted", &c->to.cta))
		return false;
	if (!read_warp(r, &c->to.warp))
		return false;
	if (!takes(r, 'l'))
		return true;
	if (!read_u32(r, LANES_MAX - 1, "a lane is wanted: l0 to l31", &lane))
		return false;
	c->to.lane = (u8)lane;
	if (!takes(r, '-'))
		return true;
	if (!read_u32(r, LANES_MAX - 1, "a lane is wanted: l0-1 to l30-31", &last))
		return false;
	if (last <= lane)
		return wrong(r, "a later lane is wanted: l0-1 to l30-31");
	c->to.last = (u8)last;
	return true;
}

static bool read_token_choice(struct reader *r, u64 launch, u64 cta, struct schedule *s)
{
	struct schedule_choice c = {.launch = launch,
				    .cta = cta,
				    .count = 1,
				    .to = {.cta = cta, .lane = SCHEDULE_NO_LANE}};

	if (!read_warp(r, &c.warp))
		return false;
	c.at_turn = takes(r, '.');
	if (!c.at_turn && !needs(r, '@', "@STEP is wanted, or .STEP"))
		return false;
	if (!read_u32(r, UINT32_MAX, "the number of a step is wanted", &c.step) ||
	    !needs(r, '/', "/ and the warp that goes on are wanted"))
		return false;
	if (!read_target(r, &c))
		return false;
	if (c.passes && !c.at_turn)
		return wrong(r, "n is for turns alone, wN.STEP");
	return VEC_PUSH(&s->choices, c) || wrong(r, "no memory left");
}

static bool read_choice_list(struct reader *r, struct schedule *s)
{
	u64 launch, cta;

	s->kind = SCHEDULE_LIST;
	while (takes(r, ':')) {
		if (!read_launch_cta(r, &launch, &cta) ||
		    !needs(r, ':', "a colon and choices are wanted"))
			return false;
		do {
			if (!read_token_choice(r, launch, cta, s))
				return false;
		} while (takes(r, ','));
	}
	schedule_sort(s);
	return true;
}

static bool read_focus(struct reader *r, struct schedule *s)
{
	if (!read_launch_cta(r, &s->launch, &s->cta[0]))
		return false;
	s->cta[1] = s->cta[0];
	return !takes(r, '-') ||
	       read_token_number(r, 0, CTAS_MAX, "the number of a CTA is wanted", &s->cta[1]);
}

static bool read_point(struct reader *r, struct schedule *s)
{
	struct schedule_point p = {.place = UINT32_MAX};

	if (s->points == SCHEDULE_POINTS)
		return wrong(r, "there are too many points, 16 at most");
	if (takes(r, 'p') &&
	    !(read_u32(r, UINT32_MAX - 1, "the number of a micro-op is wanted", &p.place) &&
	      needs(r, '.', "pPLACE.N is wanted: a dot is missing")))
		return false;
	if (!read_token_number(r, 1, UINT64_MAX, "a number from 1 on is wanted", &p.nth))
		return false;
	s->point[s->points++] = p;
	return true;
}

static bool read_seed(struct reader *r, struct schedule *s)
{
	return needs(r, ':', "a colon and a seed are wanted") &&
	       read_token_number(r, 0, UINT64_MAX, "a seed is wanted, a number", &s->seed);
}

static bool read_pct(struct reader *r, struct schedule *s)
{
	s->kind = SCHEDULE_PCT;
	if (!needs(r, ':', "a colon and a depth are wanted") ||
	    !read_u32(r, DEPTH_MAX, "a depth is wanted, 1 to 17", &s->depth))
		return false;
	if (!s->depth)
		return wrong(r, "a depth is wanted, 1 to 17");
	if (!read_seed(r, s))
		return false;
	if (!takes(r, ':'))
		return true;
	if (!read_focus(r, s))
		return false;
	if (takes(r, ':')) {
		do {
			if (!read_point(r, s))
				return false;
		} while (takes(r, ','));
	}
	return true;
}

static bool read_starve(struct reader *r, struct schedule *s)
{
	s->kind = SCHEDULE_STARVE;
	return read_seed(r, s) && needs(r, ':', "a colon and LAUNCH.CTA are wanted") &&
	       read_focus(r, s) && needs(r, ':', "a colon and FROM-COUNT are wanted") &&
	       read_token_number(r, 0, UINT64_MAX / 2, "the step is wanted from which on it waits",
				 &s->from) &&
	       needs(r, '-', "FROM-COUNT is wanted: a dash is missing") &&
	       read_token_number(r, 1, UINT64_MAX / 2, "a number of steps is wanted", &s->count);
}

static bool read_weak(struct reader *r, struct schedule *s)
{
	return !takes_word(r, "weak") ||
	       (needs(r, ':', "a colon and a seed are wanted") &&
		read_token_number(r, 1, UINT64_MAX, "a seed of weak memory is wanted, from 1 on",
				  &s->weak) &&
		needs(r, ':', "a colon and a schedule are wanted"));
}

static bool read_body(struct reader *r, struct schedule *s)
{
	s->eager = takes_word(r, "eager:");
	if (!read_weak(r, s))
		return false;
	if (takes_word(r, "natural"))
		return true;
	if (takes_word(r, "reverse")) {
		s->kind = SCHEDULE_REVERSE;
		return true;
	}
	if (takes_word(r, "random")) {
		s->kind = SCHEDULE_RANDOM;
		return read_seed(r, s);
	}
	if (takes_word(r, "pct"))
		return read_pct(r, s);
	if (takes_word(r, "starve"))
		return read_starve(r, s);
	skip_token_blanks(r);
	if (takes(r, '1') && (r->at == r->end || !isalnum((unsigned char)*r->at)))
		return read_choice_list(r, s);
	return wrong(r, "a schedule of version 1 is wanted: 1:.., pct:.., random:.., starve:.., "
			"reverse or natural");
}

static bool read_hash(struct reader *r, u32 *out)
{
	u32 x = 0;

	skip_token_blanks(r);
	for (u32 i = 0; i < 6; i++, r->at++) {
		char c = '\0';

		if (r->at < r->end)
			c = *r->at;
		if (c >= '0' && c <= '9')
			x = x * 16 + (u32)(c - '0');
		else if (c >= 'a' && c <= 'f')
			x = x * 16 + (u32)(c - 'a' + 10);
		else
			return wrong(r, "six digits 0-9a-f are wanted for each launch");
	}
	*out = x;
	return true;
}

/* "+a1b2c3.5xd4e5f6" */
static bool read_digest(struct reader *r, struct schedule *s)
{
	if (!takes(r, '+'))
		return true;
	s->has_digest = true;
	if (takes_word(r, "none"))
		return true;
	do {
		const char *x;
		u64 times = 1;
		u32 hash = 0;

		skip_token_blanks(r);
		for (x = r->at; x < r->end && *x >= '0' && *x <= '9'; x++)
			;
		if (x < r->end && *x == 'x' &&
		    !(read_token_number(r, 1, LAUNCHES_MAX, "a number of launches is wanted",
					&times) &&
		      takes(r, 'x')))
			return false;
		if (!read_hash(r, &hash))
			return false;
		if (s->launches.len + times > LAUNCHES_MAX)
			return wrong(r, "there are too many launches");
		while (times--)
			if (!VEC_PUSH(&s->launches, hash))
				return wrong(r, "no memory left");
	} while (takes(r, '.'));
	return true;
}

static bool read_token(struct reader *r, struct schedule *s)
{
	if (!read_body(r, s) || !read_digest(r, s))
		return false;
	skip_token_blanks(r);
	return r->at == r->end || wrong(r, "the schedule ends here, but there is more");
}

static bool read_schedule_file(struct schedule *s, const char *path, struct text *why)
{
	struct reader r = {.name = path, .line = 1, .is_file = true, .why = why};
	struct file f;
	bool ok;

	if (!file_open(&f, path)) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	r.at = r.begin = (const char *)f.data;
	r.end = r.at + f.size;
	ok = f.size <= FILE_MAX ? read_token(&r, s) : wrong(&r, "the file is too large");
	file_close(&f);
	return ok;
}

bool schedule_read(struct schedule *s, const char *value, const char *name, struct text *why)
{
	struct reader r = {.name = name, .line = 1, .why = why};

	*s = (struct schedule){0};
	if (*value == '@')
		return read_schedule_file(s, value + 1, why);
	r.at = r.begin = value;
	r.end = value + strlen(value);
	return read_token(&r, s);
}

void schedule_fini(struct schedule *s)
{
	VEC_FREE(&s->choices);
	VEC_FREE(&s->launches);
}

/* ---- writing ---- */

static unsigned long long number(u64 x)
{
	return x;
}

static void write_choice(const struct schedule_choice *c, struct text *out)
{
	text_printf(out, "w%u%c%u/", c->warp, c->at_turn ? '.' : '@', c->step);
	if (c->passes) {
		text_puts(out, "n");
		if (c->count > 1)
			text_printf(out, "%u", c->count);
		return;
	}
	if (c->to.cta != c->cta)
		text_printf(out, "c%llu", number(c->to.cta));
	text_printf(out, "w%u", c->to.warp);
	if (c->to.lane != SCHEDULE_NO_LANE)
		text_printf(out, "l%u", c->to.lane);
	if (c->to.last)
		text_printf(out, "-%u", c->to.last);
}

static void write_list(const struct schedule *s, struct text *out)
{
	const struct schedule_choice *last = NULL;

	text_puts(out, s->choices.len ? "1" : "natural");
	for (size_t i = 0; i < s->choices.len; i++) {
		const struct schedule_choice *c = &s->choices.at[i];

		if (last && last->launch == c->launch && last->cta == c->cta)
			text_puts(out, ",");
		else
			text_printf(out, ":%llu.%llu:", number(c->launch), number(c->cta));
		write_choice(c, out);
		last = c;
	}
}

static void write_focus(const struct schedule *s, struct text *out)
{
	text_printf(out, ":%llu.%llu", number(s->launch), number(s->cta[0]));
	if (s->cta[1] != s->cta[0])
		text_printf(out, "-%llu", number(s->cta[1]));
}

static void write_points(const struct schedule *s, struct text *out)
{
	for (u32 i = 0; i < s->points; i++) {
		text_puts(out, i ? "," : ":");
		if (s->point[i].place != UINT32_MAX)
			text_printf(out, "p%u.", s->point[i].place);
		text_printf(out, "%llu", number(s->point[i].nth));
	}
}

static void write_digest(const struct schedule *s, struct text *out)
{
	text_puts(out, s->launches.len ? "+" : "+none");
	for (size_t i = 0, n; i < s->launches.len; i += n) {
		for (n = 1; i + n < s->launches.len && s->launches.at[i + n] == s->launches.at[i];)
			n++;
		if (i)
			text_puts(out, ".");
		if (n > 1)
			text_printf(out, "%zux", n);
		text_printf(out, "%06x", s->launches.at[i]);
	}
}

void schedule_write(const struct schedule *s, struct text *out)
{
	if (s->eager)
		text_puts(out, "eager:");
	if (s->weak)
		text_printf(out, "weak:%llu:", number(s->weak));
	switch (s->kind) {
	case SCHEDULE_LIST:
		write_list(s, out);
		break;
	case SCHEDULE_PCT:
		text_printf(out, "pct:%u:%llu", s->depth, number(s->seed));
		if (s->launch) {
			write_focus(s, out);
			write_points(s, out);
		}
		break;
	case SCHEDULE_RANDOM:
		text_printf(out, "random:%llu", number(s->seed));
		break;
	case SCHEDULE_STARVE:
		text_printf(out, "starve:%llu", number(s->seed));
		write_focus(s, out);
		text_printf(out, ":%llu-%llu", number(s->from), number(s->count));
		break;
	case SCHEDULE_REVERSE:
		text_puts(out, "reverse");
		break;
	}
	if (s->has_digest)
		write_digest(s, out);
}

/* ---- launches ---- */

u32 schedule_launch_hash(const char *kernel, const u32 grid[3], const u32 block[3])
{
	u64 shape = hash_more(hash_bytes(grid, 3 * sizeof(*grid)), block, 3 * sizeof(*block));

	return (u32)(hash_bytes(kernel, strlen(kernel)) & 0xffff) << 8 | (u32)(shape >> 24 & 0xff);
}

bool schedule_is_kernel(u32 hash, const char *kernel)
{
	return (hash_bytes(kernel, strlen(kernel)) & 0xffff) == hash >> 8;
}

/* ---- finding ---- */

static int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int compare_keys(const struct schedule_choice *x, const struct schedule_choice *y)
{
	int c = compare_u64(x->launch, y->launch);

	c = c ? c : compare_u64(x->cta, y->cta);
	c = c ? c : compare_u64(x->warp, y->warp);
	c = c ? c : compare_u64(x->step, y->step);
	return c ? c : compare_u64(!x->at_turn, !y->at_turn);
}

/* Stable; lists are in order but for what was put together by hand. */
void schedule_sort(struct schedule *s)
{
	struct schedule_choice *at = s->choices.at, *tmp;
	size_t n = s->choices.len;

	tmp = n > 1 ? malloc(n * sizeof(*tmp)) : NULL;
	for (size_t width = 1; tmp && width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n;
			size_t hi = mid + width < n ? mid + width : n, a = lo, b = mid;

			for (size_t k = lo; k < hi; k++)
				tmp[k] = a < mid && (b == hi || compare_keys(&at[a], &at[b]) <= 0)
						 ? at[a++]
						 : at[b++];
		}
		memcpy(at, tmp, n * sizeof(*tmp));
	}
	free(tmp);
}

/* The first choice whose key is not before this one. */
static size_t first_choice(const struct schedule *s, const struct schedule_choice *key)
{
	size_t lo = 0, hi = s->choices.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare_keys(&s->choices.at[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct schedule_choice *schedule_find(const struct schedule *s, u64 launch, u64 cta, u32 warp,
					    u32 step, bool at_turn, u32 held)
{
	struct schedule_choice key = {
		.launch = launch, .cta = cta, .warp = warp, .step = step, .at_turn = at_turn};

	for (size_t i = first_choice(s, &key); i < s->choices.len; i++) {
		const struct schedule_choice *c = &s->choices.at[i];

		if (compare_keys(c, &key))
			return NULL;
		if (held < c->count)
			return c;
		held -= c->count;
	}
	return NULL;
}

bool schedule_has_launch(const struct schedule *s, u64 launch)
{
	struct schedule_choice key = {.launch = launch, .at_turn = true};
	size_t i = first_choice(s, &key);

	return i < s->choices.len && s->choices.at[i].launch == launch;
}
