/*
 * Recording what a CTA asks of the caches.
 */
#include "src/cache/trace.h"

#define RECENT 1024u
#define PATTERNS 256u
#define SHAPES_MOST ((size_t)1 << TRACE_SHAPE_BITS)

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

void cache_trace_free(struct cache_trace *t)
{
	for (u32 w = 0; t && w < t->warps; w++)
		VEC_FREE(&t->warp[w].of);
	if (!t)
		return;
	VEC_FREE(&t->shapes);
	VEC_FREE(&t->shape_at);
	free(t->recent);
	free(t->pattern);
	free(t);
}

const struct cache_shape *cache_trace_shape(const struct cache_trace *t, u64 record)
{
	u32 number = (u32)(record & (SHAPES_MOST - 1));

	return (const struct cache_shape *)(t->shapes.at + t->shape_at.at[number]);
}

/* Keep the shape; its number, or SHAPES_MOST if there is no room. */
static size_t keep_shape(struct cache_trace *t, const struct cache_shape *s)
{
	size_t words = shape_words(s), number = t->shape_at.len;

	if (number == SHAPES_MOST || t->shapes.len > UINT32_MAX - words ||
	    !VEC_RESERVE(&t->shapes, words) || !VEC_PUSH(&t->shape_at, (u32)t->shapes.len))
		return SHAPES_MOST;
	memcpy(t->shapes.at + t->shapes.len, s, words * sizeof(u64));
	t->shapes.len += words;
	return number;
}

/* The number of the shape, SHAPES_MOST: there is no memory. */
static size_t shape_number(struct cache_trace *t, const struct cache_shape *s)
{
	u32 *recent = &t->recent[cache_shape_hash(s) % RECENT];
	size_t number = *recent - 1;

	if (*recent && cache_shape_equal(cache_trace_shape(t, number), s))
		return number;
	number = keep_shape(t, s);
	*recent = number == SHAPES_MOST ? 0 : (u32)number + 1;
	return number;
}

static void add_record(struct cache_trace *t, u32 warp, size_t number, u64 first_line)
{
	t->is_cut |= number == SHAPES_MOST ||
		     !VEC_PUSH(&t->warp[warp].of, first_line << TRACE_SHAPE_BITS | number);
}

void cache_trace_add(struct cache_trace *t, u32 warp, const struct cache_shape *s)
{
	add_record(t, warp, shape_number(t, s), s->first_line);
}

void cache_trace_add_pattern(struct cache_trace *t, u32 warp, u64 pattern,
			     const struct cache_shape *s)
{
	size_t number = shape_number(t, s);

	if (pattern && number != SHAPES_MOST)
		t->pattern[pattern % PATTERNS] = (struct cache_pattern){pattern, (u32)number};
	add_record(t, warp, number, s->first_line);
}

bool cache_trace_again(struct cache_trace *t, u32 warp, u64 pattern, u64 first_line)
{
	const struct cache_pattern *p = &t->pattern[pattern % PATTERNS];

	if (!pattern || p->number != pattern)
		return false;
	add_record(t, warp, p->shape, first_line);
	return true;
}
