/*
 * Recording what a CTA asks of the caches.
 */
#include "src/cache/trace.h"

#define RECENT 1024u
#define PATTERNS 256u
/* Words of shapes that a trace keeps; further ones are written where they occur. */
#define KEPT_WORDS ((size_t)1 << 15)
#define NOT_KEPT TRACE_INLINE

static size_t shape_words(const struct cache_shape *s)
{
	return (offsetof(struct cache_shape, piece) + s->pieces * sizeof(s->piece[0])) /
	       sizeof(u64);
}

struct cache_trace *cache_trace_new(u64 cta, u32 warps)
{
	struct cache_trace *t = calloc(1, sizeof(*t) + warps * sizeof(t->warp[0]));

	if (!t)
		return NULL;
	t->cta = cta;
	t->warps = warps;
	t->recent = calloc(RECENT, sizeof(*t->recent));
	t->pattern = calloc(PATTERNS, sizeof(*t->pattern));
	if (t->recent && t->pattern)
		return t;
	cache_trace_free(t);
	return NULL;
}

static void block_free(const struct cache_trace *t, struct cache_block *b)
{
	if (b->words) {
		free(b->words);
		if (t->spill)
			cache_spill_forget(t->spill);
	} else if (b->len && t->spill) {
		cache_spill_drop(t->spill, b->at);
	}
	b->words = NULL;
	b->len = 0;
}

void cache_trace_free(struct cache_trace *t)
{
	if (!t)
		return;
	for (u32 w = 0; w < t->warps; w++) {
		for (size_t i = 0; i < t->warp[w].blocks.len; i++)
			block_free(t, &t->warp[w].blocks.at[i]);
		VEC_FREE(&t->warp[w].blocks);
		VEC_FREE(&t->warp[w].of);
	}
	VEC_FREE(&t->shapes);
	VEC_FREE(&t->shape_at);
	free(t->recent);
	free(t->pattern);
	free(t);
}

static const struct cache_shape *kept_shape(const struct cache_trace *t, size_t number)
{
	return (const struct cache_shape *)(t->shapes.at + t->shape_at.at[number]);
}

/* Keep the shape; its number, or NOT_KEPT. */
static size_t keep_shape(struct cache_trace *t, const struct cache_shape *s)
{
	size_t words = shape_words(s), number = t->shape_at.len;

	if (t->shapes.len + words > KEPT_WORDS || !VEC_RESERVE(&t->shapes, words) ||
	    !VEC_PUSH(&t->shape_at, (u32)t->shapes.len))
		return NOT_KEPT;
	memcpy(t->shapes.at + t->shapes.len, s, words * sizeof(u64));
	t->shapes.len += words;
	return number;
}

static size_t shape_number(struct cache_trace *t, const struct cache_shape *s)
{
	u32 *recent = &t->recent[cache_shape_hash(s) % RECENT];
	size_t number = *recent - 1;

	if (*recent && cache_shape_equal(kept_shape(t, number), s))
		return number;
	number = keep_shape(t, s);
	if (number != NOT_KEPT)
		*recent = (u32)number + 1;
	return number;
}

/* ---- records ---- */

/* What the warp has is a block: it stays, or goes to the file. */
static bool seal_block(struct cache_trace *t, struct cache_records *r)
{
	struct cache_block b = {.len = (u32)r->of.len};
	bool keeps = !t->spill || cache_spill_keeps(t->spill);

	/* The file has whole blocks. */
	if (!VEC_RESERVE(&r->blocks, 1) || !VEC_RESERVE(&r->of, SPILL_BLOCK_WORDS - r->of.len) ||
	    (!keeps && !cache_spill_write(t->spill, r->of.at, &b.at))) {
		if (keeps && t->spill)
			cache_spill_forget(t->spill);
		return false;
	}
	if (keeps) {
		b.words = r->of.at;
		r->of.at = NULL;
		r->of.cap = 0;
	}
	r->of.len = 0;
	r->blocks.at[r->blocks.len++] = b;
	return true;
}

/* Room for n words that stay side by side; NULL: there is none. */
static u64 *room_for(struct cache_trace *t, u32 warp, size_t n)
{
	struct cache_records *r = &t->warp[warp];
	u64 *to;

	if (PL_UNLIKELY(r->of.len + n > SPILL_BLOCK_WORDS) && !seal_block(t, r))
		return NULL;
	if (!VEC_RESERVE(&r->of, n))
		return NULL;
	to = r->of.at + r->of.len;
	r->of.len += n;
	return to;
}

_Static_assert(1 + sizeof(struct cache_shape) / sizeof(u64) <= SPILL_BLOCK_WORDS,
	       "a block has room for every shape");

/* The record, and the shape behind it. */
static void add_inline(struct cache_trace *t, u32 warp, const struct cache_shape *s)
{
	size_t words = shape_words(s);
	u64 *to = room_for(t, warp, 1 + words);

	if (!to) {
		t->is_cut = true;
		return;
	}
	to[0] = s->first_line << TRACE_SHAPE_BITS | TRACE_INLINE;
	memcpy(to + 1, s, words * sizeof(u64));
}

static void add_record(struct cache_trace *t, u32 warp, size_t number, u64 first_line)
{
	u64 *to = room_for(t, warp, 1);

	if (to)
		*to = first_line << TRACE_SHAPE_BITS | number;
	else
		t->is_cut = true;
}

void cache_trace_add_pattern(struct cache_trace *t, u32 warp, u64 pattern,
			     const struct cache_shape *s)
{
	size_t number = shape_number(t, s);

	if (number == NOT_KEPT) {
		add_inline(t, warp, s);
		return;
	}
	if (pattern)
		t->pattern[pattern % PATTERNS] = (struct cache_pattern){pattern, (u32)number};
	add_record(t, warp, number, s->first_line);
}

void cache_trace_add(struct cache_trace *t, u32 warp, const struct cache_shape *s)
{
	cache_trace_add_pattern(t, warp, 0, s);
}

bool cache_trace_again(struct cache_trace *t, u32 warp, u64 pattern, u64 first_line)
{
	const struct cache_pattern *p = &t->pattern[pattern % PATTERNS];

	if (!pattern || p->number != pattern)
		return false;
	add_record(t, warp, p->shape, first_line);
	return true;
}

/* ---- reading ---- */

void cache_reader_init(struct cache_reader *r, struct cache_trace *t, u32 warp)
{
	*r = (struct cache_reader){.trace = t, .warp = warp};
}

void cache_reader_fini(struct cache_reader *r)
{
	free(r->window);
}

/* From the file. */
static const u64 *fetch_block(struct cache_reader *r, struct cache_block *b)
{
	if (!r->window)
		r->window = malloc(SPILL_BLOCK_BYTES);
	if (!r->window || !cache_spill_read(r->trace->spill, b->at, r->window)) {
		r->trace->is_cut = true;
		return NULL;
	}
	return r->window;
}

static void next_block(struct cache_reader *r)
{
	struct cache_records *of = &r->trace->warp[r->warp];
	struct cache_block *b = r->blocks < of->blocks.len ? &of->blocks.at[r->blocks] : NULL;

	/* What has been read is not needed any more. */
	if (!r->keeps && r->blocks && r->blocks <= of->blocks.len)
		block_free(r->trace, &of->blocks.at[r->blocks - 1]);
	r->blocks++;
	r->next = 0;
	r->len = b ? b->len : of->of.len;
	r->at = !b ? of->of.at : b->words ? b->words : fetch_block(r, b);
	if (!r->at)
		r->len = 0;
}

bool cache_reader_is_over(struct cache_reader *r)
{
	while (r->next == r->len) {
		if (r->blocks > r->trace->warp[r->warp].blocks.len)
			return true;
		next_block(r);
	}
	return false;
}

const struct cache_shape *cache_reader_look(const struct cache_reader *r)
{
	u64 number = r->at[r->next] & TRACE_INLINE;

	return number == TRACE_INLINE ? (const void *)(r->at + r->next + 1)
				      : kept_shape(r->trace, number);
}

void cache_reader_go(struct cache_reader *r)
{
	bool is_inline = (r->at[r->next] & TRACE_INLINE) == TRACE_INLINE;

	r->next += is_inline ? 1 + shape_words(cache_reader_look(r)) : 1;
}
