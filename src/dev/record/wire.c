/*
 * Bytes of records: values in both directions, packing.
 */
#include "src/dev/record/wire.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Quick: a launch that has failed waits for it, and most of memory is easy to pack. */
#define PACK_LEVEL 3
/* Sizes come from files: memory is asked for by what has been read. */
#define STEP ((u64)1 << 20)

bool wire_open(struct wire *w, const u8 *data, u64 bytes, enum wire_packing packing)
{
	*w = (struct wire){.reading = true, .in = data, .left = bytes};
	if (packing == WIRE_PLAIN)
		return true;
	w->stream = ZSTD_createDStream();
	return w->stream && !ZSTD_isError(ZSTD_initDStream(w->stream));
}

void wire_fini(struct wire *w)
{
	ZSTD_freeDStream(w->stream);
	VEC_FREE(&w->out);
	*w = (struct wire){0};
}

bool wire_is_over(struct wire *w)
{
	while (!w->failed && w->stream && !w->ended) {
		u8 more;
		ZSTD_outBuffer out = {&more, 1, 0};
		ZSTD_inBuffer in = {w->in, w->left, 0};
		size_t r = ZSTD_decompressStream(w->stream, &out, &in);

		w->ended = r == 0;
		if (ZSTD_isError(r) || out.pos || (r && !in.pos))
			return false;
		w->in += in.pos;
		w->left -= in.pos;
	}
	return !w->failed && !w->left;
}

/* ---- plain bytes ---- */

static bool unpack(struct wire *w, void *to, u64 n)
{
	ZSTD_outBuffer out = {to, n, 0};

	while (out.pos < n && !w->ended) {
		ZSTD_inBuffer in = {w->in, w->left, 0};
		size_t before = out.pos, r = ZSTD_decompressStream(w->stream, &out, &in);

		if (ZSTD_isError(r) || (!in.pos && out.pos == before))
			return false;
		w->ended = r == 0;
		w->in += in.pos;
		w->left -= in.pos;
	}
	return out.pos == n;
}

static bool wire_take(struct wire *w, void *to, u64 n)
{
	if (w->stream)
		return unpack(w, to, n);
	if (n > w->left)
		return false;
	memcpy(to, w->in, n);
	w->in += n;
	w->left -= n;
	return true;
}

void wire_bytes(struct wire *w, void *bytes, u64 n)
{
	if (!n)
		return;
	if (w->reading) {
		w->failed = w->failed || !wire_take(w, bytes, n);
		if (w->failed)
			memset(bytes, 0, n);
	} else if (!w->failed && VEC_RESERVE(&w->out, n)) {
		memcpy(w->out.at + w->out.len, bytes, n);
		w->out.len += n;
	} else {
		w->failed = true;
	}
}

/* ---- values ---- */

static u64 wire_number(struct wire *w, u64 v, u32 bytes)
{
	u8 b[8];

	for (u32 i = 0; i < bytes; i++)
		b[i] = (u8)(v >> 8 * i);
	wire_bytes(w, b, bytes);
	v = 0;
	for (u32 i = 0; i < bytes; i++)
		v |= (u64)b[i] << 8 * i;
	return v;
}

void wire_u32(struct wire *w, u32 *v)
{
	*v = (u32)wire_number(w, *v, 4);
}

void wire_u64(struct wire *w, u64 *v)
{
	*v = wire_number(w, *v, 8);
}

void wire_bool(struct wire *w, bool *v)
{
	u64 n = wire_number(w, *v, 1);

	w->failed |= n > 1;
	*v = n == 1;
}

void wire_dims(struct wire *w, u32 *v)
{
	for (u32 i = 0; i < 3; i++)
		wire_u32(w, &v[i]);
}

static bool read_blob(struct wire *w, u8 **bytes, u64 n)
{
	VEC(u8) to = {0};

	while (to.len < n && !w->failed) {
		u64 step = min_u64(n - to.len, STEP);

		if (!VEC_RESERVE(&to, step + 1)) {
			w->failed = true;
			break;
		}
		wire_bytes(w, to.at + to.len, step);
		to.len += step;
	}
	if (w->failed || !VEC_RESERVE(&to, 1)) {
		w->failed = true;
		VEC_FREE(&to);
		return false;
	}
	to.at[n] = 0;
	*bytes = to.at;
	return true;
}

void wire_blob(struct wire *w, u8 **bytes, u64 *n)
{
	wire_u64(w, n);
	if (!w->reading) {
		wire_bytes(w, *bytes, *n);
		return;
	}
	*bytes = NULL;
	w->failed |= *n > WIRE_BYTES_MAX;
	if (w->failed || !read_blob(w, bytes, *n))
		*n = 0;
}

void wire_text(struct wire *w, char **text)
{
	u64 n = w->reading || !*text ? 0 : strlen(*text);

	wire_blob(w, (u8 **)text, &n);
	if (w->reading && *text)
		w->failed |= strlen(*text) != n;
}

/* ---- files ---- */

static bool pack_to(FILE *f, const u8 *at, size_t n)
{
	ZSTD_CStream *stream = ZSTD_createCStream();
	size_t room = ZSTD_CStreamOutSize(), left = 1;
	u8 *buffer = malloc(room);
	ZSTD_inBuffer in = {at, n, 0};
	bool ok = stream && buffer &&
		  !ZSTD_isError(
			  ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, PACK_LEVEL)) &&
		  !ZSTD_isError(ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1));

	if (!stream || !buffer)
		errno = ENOMEM;
	while (ok && left) {
		ZSTD_outBuffer out = {buffer, room, 0};

		left = ZSTD_compressStream2(stream, &out, &in, ZSTD_e_end);
		ok = !ZSTD_isError(left) && fwrite(buffer, 1, out.pos, f) == out.pos;
	}
	ZSTD_freeCStream(stream);
	free(buffer);
	return ok;
}

bool wire_save(const struct wire *w, const void *head, size_t head_bytes, enum wire_packing packing,
	       const char *path)
{
	struct text part = {0};
	bool ok = false;
	FILE *f;
	int e;

	/* Under another name until it is whole. */
	text_printf(&part, "%s.%ld.part", path, (long)getpid());
	f = part.at && !part.failed ? fopen(part.at, "wbe") : NULL;
	if (f) {
		ok = fwrite(head, 1, head_bytes, f) == head_bytes &&
		     (packing == WIRE_PLAIN ? fwrite(w->out.at, 1, w->out.len, f) == w->out.len
					    : pack_to(f, w->out.at, w->out.len));
		ok &= !fclose(f);
		ok = ok && !rename(part.at, path);
		e = errno;
		if (!ok)
			unlink(part.at);
		errno = e;
	}
	text_fini(&part);
	return ok;
}
