/*
 * printf of device code. The device takes the arguments that the format's conversions ask for from
 * packed memory, each at its natural alignment, at least 4 (int 4 bytes, long, long long and
 * pointers 8, floating point as double), and hands on up to 32 of them, in places of 8 bytes, with
 * the format; the host prints conversion by conversion, each with the text before it. As measured
 * on an H200 (tests/vectors/printf_gh100.tsv):
 * - a precision of `*`, the sizes j, z, t, q, L and the letters n, m and C make no conversion: such
 *   text is printed as it stands and takes no argument;
 * - a size of hh passes nothing, but the host takes the next argument; after the last one it finds
 *   the format;
 * - a conversion whose width or precision is beyond 2^31 - 1, and wide text that the host's locale
 *   lacks, prints nothing, nor does the text before it;
 * - %ls takes the bytes up to the first zero for wide characters; %S takes wide characters.
 * Source of the rest: CUDA C++ Programming Guide "Formatted Output: Format Specifiers",
 * "Limitations". Deviation: widths and precisions count as NUMBER_MAX at most, so that no format
 * writes more than 64 KiB for each of its conversions; an H200 writes up to 2 GiB. What looks like
 * a conversion to the host only (%jd, %.*d) misplaces the arguments of others in the same format
 * there.
 */
#include "src/host/syscall.h"

#include "src/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define ARGUMENTS_MAX 32u
#define NUMBER_MAX 65535

struct printer {
	const struct exec_call *c;
	struct text *out;
	u64 args; /* address of the packed arguments */
	u64 at;   /* offset of the next */
	u64 slot[ARGUMENTS_MAX];
	u32 slots, used;
	bool bad; /* a bad address was met: */
	u64 bad_at;
};

/* One conversion as written, with its parts. */
struct conversion {
	const char *begin, *end;
	char flags[8];
	s32 width, precision; /* -1: none */
	bool star;            /* the width is an argument */
	bool beyond;          /* the width or precision is no int */
	bool byte;            /* hh */
	u32 bytes;            /* of an integer: 4 or 8; 1 and 2: reduced to that after promotion */
	char letter;
};

/* ---- reading the format ---- */

static const char *read_number(const char *s, s32 *n, bool *beyond)
{
	s64 all = 0;

	*n = -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		all = all > INT32_MAX ? all : all * 10 + (*s - '0');
		*n = (s32)min_u64((u64)all, NUMBER_MAX);
	}
	*beyond |= all > INT32_MAX;
	return s;
}

static const char *read_size(const char *s, struct conversion *v)
{
	char size = *s == 'h' || *s == 'l' ? *s : 0;
	bool twice = size && s[1] == size;

	v->byte = twice && size == 'h';
	v->bytes = size == 'l' ? 8 : v->byte ? 1 : size ? 2 : 4;
	return s + (size != 0) + twice;
}

/* Reads the conversion at a '%'. False: not one; what is passed over is printed literally. */
static bool read_conversion(const char *s, struct conversion *v)
{
	size_t n = 0;

	*v = (struct conversion){.begin = s, .precision = -1};
	for (s++; *s && strchr("-+ #0", *s); s++)
		if (n + 1 < sizeof(v->flags) && !strchr(v->flags, *s))
			v->flags[n++] = *s;
	v->star = *s == '*';
	s = v->star ? s + 1 : read_number(s, &v->width, &v->beyond);
	if (*s == '.') {
		s = read_number(s + 1, &v->precision, &v->beyond);
		if (v->precision < 0)
			v->precision = 0;
	}
	s = read_size(s, v);
	v->letter = *s;
	v->end = *s ? s + 1 : s;
	return *s && strchr("diouxXcsSfFeEgGaAp", *s);
}

/* The next conversion from *s on, which moves past it; what lies before it goes to `out`. */
static bool next_conversion(const char **s, struct conversion *v, struct text *out)
{
	while (**s) {
		size_t plain = strcspn(*s, "%");
		bool found;

		text_add(out, *s, plain);
		*s += plain;
		if (!**s)
			break;
		if ((*s)[1] == '%') {
			text_add(out, "%", 1);
			*s += 2;
			continue;
		}
		found = read_conversion(*s, v);
		if (!found)
			text_add(out, *s, (size_t)(v->end - *s));
		*s = v->end;
		if (found)
			return true;
	}
	return false;
}

/* ---- the device's part: arguments ---- */

static void pack(struct printer *p, u32 bytes)
{
	const u8 *at;
	u64 x = 0;

	if (p->slots == ARGUMENTS_MAX || p->bad)
		return;
	p->at = align_up(p->at, bytes);
	at = p->args ? exec_call_memory(p->c, p->args + p->at, bytes, NULL) : NULL;
	if (at) {
		memcpy(&x, at, bytes);
		exec_call_tell(p->c, ACCESS_LOAD, p->args + p->at, bytes);
	} else {
		p->bad_at = p->args + p->at;
	}
	p->bad = !at;
	p->at += bytes;
	p->slot[p->slots++] = x;
}

static void pack_all(struct printer *p, const char *fmt)
{
	struct text nowhere = {.failed = true};
	struct conversion v;

	while (next_conversion(&fmt, &v, &nowhere)) {
		if (v.byte)
			continue;
		if (v.star)
			pack(p, 4);
		pack(p, strchr("diouxXc", v.letter) && v.bytes < 8 ? 4 : 8);
	}
}

/* ---- the host's part ---- */

/*
 * An argument; after the last one there is the format, which ends with the conversion for the time
 * being.
 */
static u64 take_argument(struct printer *p, const char *fmt, const struct conversion *v)
{
	u64 at = 8 * (u64)(p->used - p->slots), len = (u64)(v->end - fmt), x = 0;

	if (p->used < p->slots)
		return p->slot[p->used++];
	p->used++;
	if (at < len)
		memcpy(&x, fmt + at, min_u64(8, len - at));
	return x;
}

/* False: the host has no text for it. */
static bool print_directive(struct printer *p, const char *fmt, ...)
{
	size_t before = p->out->len;
	va_list args, again;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n >= 0)
		text_vprintf(p->out, fmt, args);
	va_end(args);
	return n >= 0 && (p->out->failed || p->out->len == before + (size_t)n);
}

/* Text of the device at an address; NULL, with `bad` set: it is not there as a whole. */
static const void *text_at(struct printer *p, u64 address, bool wide, size_t *len)
{
	u64 left;
	const char *s = (const char *)exec_call_memory(p->c, address, 1, &left);
	const char *end = s && !wide ? memchr(s, 0, left) : NULL;
	u32 x = 1;

	*len = end ? (size_t)(end - s) : 0;
	for (u64 i = 0; s && wide && x && i + 4 <= left; i += 4) {
		memcpy(&x, s + i, 4);
		*len = i;
	}
	if (s && (wide ? !x : end != NULL)) {
		exec_call_tell(p->c, ACCESS_LOAD, address, *len + (wide ? 4 : 1));
		return s;
	}
	p->bad = true;
	p->bad_at = address;
	return NULL;
}

/* Bytes as wide characters, whatever their alignment and number. */
static bool add_wide(struct printer *p, const char *fmt, const void *s, size_t len)
{
	wchar_t *w = calloc(len / sizeof(*w) + 2, sizeof(*w));
	bool ok = w;

	if (w) {
		memcpy(w, s, len);
		ok = print_directive(p, fmt, w);
	}
	free(w);
	return ok;
}

#pragma GCC diagnostic push
/* The formats are put together here from parts that were checked. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static bool convert_string(struct printer *p, const char *fmt, const struct conversion *v,
			   u64 address)
{
	bool wide = v->letter == 'S' || v->bytes == 8;
	const void *s;
	size_t len;

	if (!address)
		return wide ? print_directive(p, fmt, (wchar_t *)NULL)
			    : print_directive(p, fmt, (char *)NULL);
	s = text_at(p, address, v->letter == 'S', &len);
	return s && (wide ? add_wide(p, fmt, s, len) : print_directive(p, fmt, (const char *)s));
}

static u64 narrow_to_size(u64 x, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(x << shift) >> shift) : x << shift >> shift;
}

/* The host's format up to the size: `fmt` has room. */
static void rewrite(struct printer *p, const char *all, struct conversion *v, char *fmt,
		    size_t size)
{
	if (v->star) {
		s64 width = (s32)take_argument(p, all, v);

		if (width < 0)
			snprintf(v->flags + strlen(v->flags), 2, "-");
		v->width = (s32)min_u64((u64)(width < 0 ? -width : width), NUMBER_MAX);
	}
	snprintf(fmt, size, "%%%s", v->flags);
	if (v->star || v->width >= 0)
		snprintf(fmt + strlen(fmt), 16, "%d", v->width);
	if (v->precision >= 0)
		snprintf(fmt + strlen(fmt), 16, ".%d", v->precision);
}

/* False: nothing is printed, nor is the text before it. */
static bool convert(struct printer *p, const char *all, struct conversion *v)
{
	char fmt[64];
	u64 x;

	rewrite(p, all, v, fmt, sizeof(fmt));
	x = take_argument(p, all, v);
	if (v->beyond)
		return false;
	switch (v->letter) {
	case 'd':
	case 'i':
		strcat(fmt, "lld");
		return print_directive(p, fmt, (long long)narrow_to_size(x, v->bytes, true));
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		snprintf(fmt + strlen(fmt), 8, "ll%c", v->letter);
		return print_directive(p, fmt,
				       (unsigned long long)narrow_to_size(x, v->bytes, false));
	case 'c':
		strcat(fmt, v->bytes == 8 ? "lc" : "c");
		return v->bytes == 8 ? print_directive(p, fmt, (wint_t)x)
				     : print_directive(p, fmt, (int)x);
	case 'p':
		strcat(fmt, "p");
		return print_directive(p, fmt, (void *)(uintptr_t)x);
	case 's':
	case 'S':
		strcat(fmt, v->letter == 'S' || v->bytes == 8 ? "ls" : "s");
		return convert_string(p, fmt, v, x);
	default:
		snprintf(fmt + strlen(fmt), 4, "%c", v->letter);
		return print_directive(p, fmt, f64_bits(x));
	}
}

#pragma GCC diagnostic pop

s32 exec_format(const struct exec_call *c, const char *fmt, u64 args, struct text *out, u64 *bad)
{
	struct printer p = {.c = c, .out = out, .args = args};
	const char *s = fmt;
	struct conversion v;
	size_t begin = out->len;

	pack_all(&p, fmt);
	while (!p.bad && next_conversion(&s, &v, out)) {
		if (!convert(&p, fmt, &v) && out->at) {
			out->len = begin;
			out->at[begin] = 0;
		}
		begin = out->len;
	}
	*bad = p.bad_at;
	return p.bad ? -2 : (s32)p.slots;
}
