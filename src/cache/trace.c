/*
 * Recording what a CTA asks of the caches.
 */
#include "src/cache/trace.h"

#define RECENT 1024u
#define PATTERNS 1024u
/* Words of shapes that are kept; further ones are written where they occur. */
#define KEPT_WORDS ((size_t)1 << 16)
/* Shapes of more pieces seldom come again. */
#define KEPT_PIECES 8u
#define NOT_KEPT UINT32_MAX
#define WORD_BYTES 4u
#define SECTOR_WORDS (CACHE_SECTOR_BYTES / WORD_BYTES)

_Static_assert(KEPT_WORDS < TRACE_SCATTERED, "places of shapes have room in a record");

#define SHAPE_HEAD_WORDS (offsetof(struct cache_shape, piece) / sizeof(u64))

static size_t shape_words(const struct cache_shape *s)
{
	return SHAPE_HEAD_WORDS + s->pieces * (sizeof(s->piece[0]) / sizeof(u64));
}

bool cache_shapes_init(struct cache_shapes *s)
{
	*s = (struct cache_shapes){.words = malloc(KEPT_WORDS * sizeof(u64)),
				   .recent = calloc(RECENT, sizeof(*s->recent)),
				   .pattern = calloc(PATTERNS, sizeof(*s->pattern))};
	if (s->words && s->recent && s->pattern)
		return true;
	cache_shapes_fini(s);
	return false;
}

void cache_shapes_fini(struct cache_shapes *s)
{
	free(s->words);
	free(s->recent);
	free(s->pattern);
	*s = (struct cache_shapes){0};
}

/* ---- traces ---- */

void cache_trace_renew(struct cache_trace *t, u64 cta, struct cache_shapes *shapes)
{
	t->cta = cta;
	t->shapes = shapes;
	t->is_cut = t->is_over = false;
	for (u32 w = 0; w < t->warps; w++)
		t->warp[w].hinted = 0;
}

void cache_trace_hint(struct cache_trace *t, u32 warp, u64 insn, u8 hint)
{
	t->warp[warp].hinted = insn;
	t->warp[warp].hint = hint;
}

u8 cache_trace_hint_of(const struct cache_trace *t, u32 warp, u64 insn)
{
	return t->warp[warp].hinted == insn ? t->warp[warp].hint : 0;
}

struct cache_trace *cache_trace_new(u64 cta, u32 warps, struct cache_shapes *shapes)
{
	struct cache_trace *t = malloc(sizeof(*t) + warps * sizeof(t->warp[0]));

	if (!t)
		return NULL;
	t->warps = warps;
	t->spill = NULL;
	for (u32 w = 0; w < warps; w++) {
		struct cache_records *r = &t->warp[w];

		r->blocks.at = NULL;
		r->blocks.len = r->blocks.cap = 0;
		r->words = r->first;
		r->len = 0;
		r->cap = TRACE_FIRST_WORDS;
	}
	cache_trace_renew(t, cta, shapes);
	return t;
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

void cache_trace_clear(struct cache_trace *t)
{
	for (u32 w = 0; w < t->warps; w++) {
		struct cache_records *r = &t->warp[w];

		for (size_t i = 0; i < r->blocks.len; i++)
			block_free(t, &r->blocks.at[i]);
		VEC_FREE(&r->blocks);
		if (r->words != r->first)
			free(r->words);
		r->words = r->first;
		r->len = 0;
		r->cap = TRACE_FIRST_WORDS;
	}
}

void cache_trace_free(struct cache_trace *t)
{
	if (!t)
		return;
	cache_trace_clear(t);
	free(t);
}

/* ---- shapes ---- */

static const struct cache_shape *kept_shape(const struct cache_shapes *s, u64 at)
{
	return (const struct cache_shape *)(s->words + at);
}

/* Keep the shape; where it is, or NOT_KEPT. */
static u32 keep_shape(struct cache_shapes *to, const struct cache_shape *s)
{
	size_t words = shape_words(s);
	u32 at = to->len;

	if (at + words > KEPT_WORDS)
		return NOT_KEPT;
	memcpy(to->words + at, s, words * sizeof(u64));
	to->len += (u32)words;
	return at;
}

static u32 shape_place(struct cache_shapes *of, const struct cache_shape *s)
{
	u32 *recent, at;

	if (s->pieces > KEPT_PIECES)
		return NOT_KEPT;
	recent = &of->recent[cache_shape_hash(s) % RECENT];
	if (*recent && cache_shape_equal(kept_shape(of, *recent - 1), s))
		return *recent - 1;
	at = keep_shape(of, s);
	if (at != NOT_KEPT)
		*recent = at + 1;
	return at;
}

/* ---- records ---- */

/* Room for `cap` words in memory of their own. */
static bool records_grow(struct cache_records *r, u32 cap)
{
	u64 *words;

	if (cap <= r->cap)
		return true;
	words = realloc(r->words == r->first ? NULL : r->words, cap * sizeof(*words));
	if (!words)
		return false;
	if (r->words == r->first)
		memcpy(words, r->first, r->len * sizeof(*words));
	r->words = words;
	r->cap = cap;
	return true;
}

/* What the warp has is a block: it stays, or goes to the file. */
static bool seal_block(struct cache_trace *t, struct cache_records *r)
{
	struct cache_block b = {.len = r->len};
	bool keeps = !t->spill || cache_spill_keeps(t->spill);

	/* The file has whole blocks. */
	if (!VEC_RESERVE(&r->blocks, 1) || !records_grow(r, SPILL_BLOCK_WORDS) ||
	    (!keeps && !cache_spill_write(t->spill, r->words, &b.at))) {
		if (keeps && t->spill)
			cache_spill_forget(t->spill);
		return false;
	}
	if (keeps) {
		b.words = r->words;
		r->words = r->first;
		r->cap = TRACE_FIRST_WORDS;
	}
	r->len = 0;
	r->blocks.at[r->blocks.len++] = b;
	return true;
}

/* Room for n words that stay side by side; NULL: there is none. */
static u64 *room_for(struct cache_trace *t, u32 warp, u32 n)
{
	struct cache_records *r = &t->warp[warp];
	u32 cap = r->cap;
	u64 *to;

	if (PL_UNLIKELY(r->len + n > cap)) {
		if (r->len + n > SPILL_BLOCK_WORDS && !seal_block(t, r))
			return NULL;
		while (cap < r->len + n)
			cap *= 2;
		if (!records_grow(r, cap < SPILL_BLOCK_WORDS ? cap : SPILL_BLOCK_WORDS))
			return NULL;
	}
	to = r->words + r->len;
	r->len += n;
	return to;
}

_Static_assert(1 + sizeof(struct cache_shape) / sizeof(u64) <= SPILL_BLOCK_WORDS,
	       "a block has room for every shape");

/* The words that a piece asks for; false: it says more than that. */
static bool piece_words(const struct cache_piece *p, u32 *words)
{
	*words = 0;
	for (u32 k = 0; k < CACHE_SECTORS; k++) {
		u32 any = p->bytes[k] & 0x11111111;

		if (any * 0xf != p->bytes[k])
			return false;
		/* Each fourth bit, side by side. */
		any = (any | any >> 3) & 0x03030303;
		any = (any | any >> 6) & 0x000f000f;
		*words |= ((any | any >> 12) & 0xff) << k * SECTOR_WORDS;
	}
	return p->line == (s32)p->line && !p->count && !p->requests && !p->packets;
}

static void words_piece(u64 word, struct cache_piece *p)
{
	*p = (struct cache_piece){.line = cache_word_line(word)};
	for (u32 k = 0; k < CACHE_SECTORS; k++)
		p->bytes[k] = cache_word_bytes((u32)word >> k * SECTOR_WORDS & 0xff);
}

/* The record, and the shape behind it; by words if that is all it says. */
static bool add_scattered(u64 *to, const struct cache_shape *s)
{
	u32 words;

	for (u32 i = 0; i < s->pieces; i++) {
		if (!piece_words(&s->piece[i], &words))
			return false;
		to[1 + SHAPE_HEAD_WORDS + i] = (u64)(u32)s->piece[i].line << 32 | words;
	}
	memcpy(to + 1, s, SHAPE_HEAD_WORDS * sizeof(u64));
	to[0] = s->first_line << TRACE_SHAPE_BITS | TRACE_SCATTERED;
	return true;
}

static void add_inline(struct cache_trace *t, u32 warp, const struct cache_shape *s)
{
	u32 words = (u32)shape_words(s);
	u64 *to = room_for(t, warp, 1 + words);

	if (!to) {
		t->is_cut = true;
	} else if (add_scattered(to, s)) {
		t->warp[warp].len -= words - (u32)SHAPE_HEAD_WORDS - s->pieces;
	} else {
		to[0] = s->first_line << TRACE_SHAPE_BITS | TRACE_INLINE;
		memcpy(to + 1, s, words * sizeof(u64));
	}
}

static void add_record(struct cache_trace *t, u32 warp, u32 at, u64 first_line)
{
	u64 *to = room_for(t, warp, 1);

	if (to)
		*to = first_line << TRACE_SHAPE_BITS | at;
	else
		t->is_cut = true;
}

void cache_trace_add_pattern(struct cache_trace *t, u32 warp, u64 pattern,
			     const struct cache_shape *s)
{
	u32 at = shape_place(t->shapes, s);

	if (at == NOT_KEPT) {
		add_inline(t, warp, s);
		return;
	}
	if (pattern)
		t->shapes->pattern[pattern % PATTERNS] = (struct cache_pattern){pattern, at};
	add_record(t, warp, at, s->first_line);
}

void cache_trace_add(struct cache_trace *t, u32 warp, const struct cache_shape *s)
{
	cache_trace_add_pattern(t, warp, 0, s);
}

bool cache_trace_again(struct cache_trace *t, u32 warp, u64 pattern, u64 first_line)
{
	const struct cache_pattern *p = &t->shapes->pattern[pattern % PATTERNS];

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
	r->len = b ? b->len : of->len;
	r->at = !b ? of->words : b->words ? b->words : fetch_block(r, b);
	if (!r->at)
		r->len = 0;
}

bool cache_reader_next_block(struct cache_reader *r)
{
	while (r->next == r->len) {
		if (r->blocks > r->trace->warp[r->warp].blocks.len)
			return false;
		next_block(r);
	}
	return true;
}

const struct cache_shape *cache_reader_look(const struct cache_reader *r, struct cache_shape *room)
{
	const u64 *at = r->at + r->next;
	u64 place = at[0] & TRACE_INLINE;

	if (place == TRACE_INLINE)
		return (const void *)(at + 1);
	if (place != TRACE_SCATTERED)
		return kept_shape(r->trace->shapes, place);
	memcpy(room, at + 1, SHAPE_HEAD_WORDS * sizeof(u64));
	for (u32 i = 0; i < room->pieces; i++)
		words_piece(at[1 + SHAPE_HEAD_WORDS + i], &room->piece[i]);
	return room;
}

const u64 *cache_reader_words(const struct cache_reader *r)
{
	const u64 *at = r->at + r->next;

	return (at[0] & TRACE_INLINE) == TRACE_SCATTERED ? at + 1 + SHAPE_HEAD_WORDS : NULL;
}

void cache_reader_go(struct cache_reader *r)
{
	const u64 *at = r->at + r->next;
	u64 place = at[0] & TRACE_INLINE;
	const struct cache_shape *s = (const void *)(at + 1);

	r->next += place == TRACE_INLINE      ? 1 + shape_words(s)
		   : place == TRACE_SCATTERED ? 1 + SHAPE_HEAD_WORDS + s->pieces
					      : 1;
}
