/*
 * Tables of signatures: reading, and what they are compared by.
 */
#include "src/signature/signature.h"

#include <stdlib.h>

struct words {
	const char *at, *end; /* of the line */
};

struct word {
	const char *at;
	u32 bytes;
};

static bool next_field(struct words *w, struct word *out)
{
	while (w->at < w->end && (*w->at == ' ' || *w->at == '\t' || *w->at == '\r'))
		w->at++;
	out->at = w->at;
	while (w->at < w->end && *w->at != ' ' && *w->at != '\t' && *w->at != '\r')
		w->at++;
	out->bytes = (u32)(w->at - out->at);
	return out->bytes != 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const struct word *w, u64 limit, u64 *out)
{
	u64 v = 0;

	if (!w->bytes || w->bytes > 16)
		return false;
	for (u32 i = 0; i < w->bytes; i++) {
		int digit = hex_digit(w->at[i]);

		if (digit < 0)
			return false;
		v = v << 4 | (u64)digit;
	}
	*out = v;
	return v <= limit;
}

static bool is_field(const struct word *w, const char *s)
{
	return w->bytes == strlen(s) && !memcmp(w->at, s, w->bytes);
}

u32 signature_next_place(const char **mask, const char *end, u64 *at)
{
	u64 gap = 0;
	int digit;

	while (*mask < end && (digit = hex_digit(**mask)) >= 0 && gap <= SIGNATURE_MAX_BYTES) {
		gap = gap << 4 | (u64)digit;
		++*mask;
	}
	if (*mask >= end || **mask < 'A' || **mask > 'Z' || gap > SIGNATURE_MAX_BYTES)
		return 0;
	*at += gap;
	return (u32)(*(*mask)++ - 'A') + 1;
}

/* Do its places lie in the function? */
static bool is_mask(const struct word *w, u32 size)
{
	const char *at = w->at, *end = w->at + w->bytes;
	u64 place = 0;
	u32 n;

	if (is_field(w, "-"))
		return true;
	while (at < end) {
		n = signature_next_place(&at, end, &place);
		if (!n || place + n > size)
			return false;
		place += n;
	}
	return true;
}

static const char *read_function(struct signature_set *set, const struct word *name,
				 struct words *w)
{
	struct signature s = {.name = name->at, .name_bytes = name->bytes};
	struct word offset, size, hash, anchor, mask, more;
	u64 v[4] = {0};

	if (set->sections == set->builds.at[set->builds.len - 1].sections)
		return "a function outside of sections";
	if (name->bytes > SIGNATURE_MAX_NAME)
		return "a name that is too long";
	if (!next_field(w, &offset) || !next_field(w, &size) || !next_field(w, &hash) ||
	    !next_field(w, &anchor) || !next_field(w, &mask) || next_field(w, &more))
		return "not the six fields of a function";
	s.anchored = !is_field(&anchor, "-");
	if (!read_hex(&offset, UINT32_MAX / 2, &v[0]) ||
	    !read_hex(&size, SIGNATURE_MAX_BYTES, &v[1]) || !v[1] ||
	    !read_hex(&hash, UINT64_MAX, &v[2]) ||
	    (s.anchored && !read_hex(&anchor, UINT32_MAX, &v[3])))
		return "a field that is no number, or one that is too large";
	if (s.anchored && v[1] < ANCHOR_BYTES)
		return "an anchor that is longer than its function";
	if (!is_mask(&mask, (u32)v[1]))
		return "a mask that does not fit its function";
	s.offset = (u32)v[0];
	s.size = (u32)v[1];
	s.hash = v[2];
	s.anchor = (u32)v[3];
	s.section = set->sections - 1;
	s.mask = mask.at;
	s.mask_bytes = is_field(&mask, "-") ? 0 : mask.bytes;
	if (!VEC_PUSH(&set->all, s))
		return "out of memory";
	set->builds.at[set->builds.len - 1].count++;
	return NULL;
}

static const char *read_build(struct signature_set *set, struct words *w)
{
	struct word name, more;
	struct signature_build b = {.first = (u32)set->all.len, .sections = set->sections};

	if (!next_field(w, &name) || next_field(w, &more))
		return "'runtime' and not one name";
	b.name = name.at;
	b.name_bytes = name.bytes;
	return VEC_PUSH(&set->builds, b) ? NULL : "out of memory";
}

static const char *read_table_line(struct signature_set *set, size_t first_build, struct words *w)
{
	struct word word;

	if (!next_field(w, &word) || *word.at == '#')
		return NULL;
	if (is_field(&word, "runtime"))
		return read_build(set, w);
	if (set->builds.len == first_build)
		return "no line 'runtime NAME' before it";
	if (is_field(&word, "section"))
		return set->sections++ < UINT32_MAX / 2 ? NULL : "too many sections";
	return read_function(set, &word, w);
}

bool signature_read(struct signature_set *set, const char *text, size_t bytes, struct text *why)
{
	size_t functions = set->all.len, builds = set->builds.len;
	u32 sections = set->sections;
	const char *end = bytes ? text + bytes : text, *error = NULL, *newline;
	u32 line = 0;

	for (const char *at = text; at < end && !error; at = newline < end ? newline + 1 : end) {
		struct words w = {at, NULL};

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			newline = end;
		w.end = newline;
		line++;
		error = read_table_line(set, builds, &w);
	}
	if (!error && set->all.len == functions)
		error = "no function";
	if (!error)
		return true;
	text_printf(why, "line %u: %s", line, error);
	set->all.len = functions;
	set->builds.len = builds;
	set->sections = sections;
	return false;
}

void signature_fini(struct signature_set *set)
{
	VEC_FREE(&set->all);
	VEC_FREE(&set->builds);
	*set = (struct signature_set){0};
}

static u64 mix_code(u64 h, u64 w)
{
	h = (h ^ w) * HASH_PRIME;
	return h ^ h >> 32;
}

/* By words: a library is compared with thousands of functions. */
static u64 mix_bytes(u64 h, const u8 *code, u64 bytes)
{
	u64 w = 0, i = 0;

	for (; i + 8 <= bytes; i += 8) {
		memcpy(&w, code + i, 8);
		h = mix_code(h, w);
	}
	w = 0;
	memcpy(&w, code + i, bytes - i);
	return mix_code(h, w ^ bytes << 56);
}

u64 signature_hash(const u8 *code, u32 size, const char *mask, u32 mask_bytes)
{
	const char *end = mask + mask_bytes;
	u64 h = HASH_SEED, done = 0, place = 0;
	u32 n;

	while ((n = signature_next_place(&mask, end, &place))) {
		h = mix_bytes(h, code + done, place - done);
		place += n;
		done = place;
	}
	return mix_bytes(h, code + done, size - done);
}

bool signature_folder(struct text *out)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && *data == '/')
		text_printf(out, "%s/ptxloom/runtimes/", data);
	else if (home && *home)
		text_printf(out, "%s/.local/share/ptxloom/runtimes/", home);
	else
		return false;
	return !out->failed;
}
