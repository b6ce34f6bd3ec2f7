/*
 * printf of device code: the format's conversions, one by one, with arguments from packed memory.
 * Each argument lies at its natural alignment, at least 4: int 4 bytes, long, long long and
 * pointers 8, floating point as double. At most 32 arguments; conversions beyond them, and unknown
 * ones, come out as they are written.
 * Source: CUDA C++ Programming Guide "Formatted Output: Format Specifiers", "Limitations".
 * A conversion whose width or precision is beyond 2^31 - 1 prints nothing and takes its argument, as on an H200.
 * Deviation: below that, widths and precisions count as NUMBER_MAX at most, so that no format writes more than
 * 64 KiB for each of its conversions; an H200 writes up to 2 GiB.
 */
#include "src/host/syscall.h"

#include "src/base/text.h"

#include <stdio.h>

#define ARGUMENTS_MAX 32u
#define NUMBER_MAX 65535

struct printer {
	const struct exec_call *c;
	struct text *out;
	u64 args;  /* address of the packed arguments */
	u64 at;    /* offset of the next */
	u32 count; /* used so far */
	bool bad;
};

/* One conversion as written, with its parts. */
struct conversion {
	const char *begin, *end;
	char flags[8];
	s32 width, precision; /* -1: none */
	bool star_width, star_precision;
	bool beyond; /* the width or precision is no int */
	u32 bytes; /* of an integer: 4 or 8; 1 and 2: reduced to that after promotion */
	char letter;
};

static u64 next_argument(struct printer *p, u32 bytes)
{
	const u8 *at;
	u64 x = 0;

	p->at = align_up(p->at, bytes);
	at = p->args ? exec_call_memory(p->c, p->args + p->at, bytes, NULL) : NULL;
	p->at += bytes;
	p->count++;
	if (at)
		memcpy(&x, at, bytes);
	p->bad |= !at;
	return x;
}

static const char *read_number(const char *s, s32 *n, bool *star, bool *beyond)
{
	s64 all = 0;

	*n = -1;
	*star = *s == '*';
	if (*star)
		return s + 1;
	for (; *s >= '0' && *s <= '9'; s++) {
		all = all > INT32_MAX ? all : all * 10 + (*s - '0');
		*n = (s32)min_u64((u64)all, NUMBER_MAX);
	}
	*beyond |= all > INT32_MAX;
	return s;
}

static const char *read_size(const char *s, u32 *bytes)
{
	static const struct {
		const char *text;
		u32 bytes;
	} sizes[] = {{"hh", 1}, {"h", 2}, {"ll", 8}, {"l", 8}, {"j", 8}, {"z", 8}, {"t", 8}, {"q", 8}, {"L", 8}};

	*bytes = 4;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (!strncmp(s, sizes[i].text, strlen(sizes[i].text))) {
			*bytes = sizes[i].bytes;
			return s + strlen(sizes[i].text);
		}
	return s;
}

/* Reads the conversion behind a '%'. False: not one. */
static bool read_conversion(const char *s, struct conversion *v)
{
	size_t n = 0;

	*v = (struct conversion){.begin = s, .precision = -1};
	for (s++; *s && strchr("-+ #0", *s); s++)
		if (n + 1 < sizeof(v->flags) && !strchr(v->flags, *s))
			v->flags[n++] = *s;
	s = read_number(s, &v->width, &v->star_width, &v->beyond);
	if (*s == '.') {
		s = read_number(s + 1, &v->precision, &v->star_precision, &v->beyond);
		if (v->precision < 0)
			v->precision = 0;
	}
	s = read_size(s, &v->bytes);
	v->letter = *s;
	v->end = *s ? s + 1 : s;
	return *s && strchr("diouxXcsfFeEgGaAp", *s);
}

/* Take the arguments of a conversion that prints nothing. */
static void skip(struct printer *p, const struct conversion *v)
{
	if (v->star_width)
		next_argument(p, 4);
	if (v->star_precision)
		next_argument(p, 4);
	next_argument(p, strchr("diouxXc", v->letter) && v->bytes < 8 ? 4 : 8);
}

/* Nothing is printed of an argument that could not be read. */
static void add(struct printer *p, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!p->bad)
		text_vprintf(p->out, fmt, args);
	va_end(args);
}

static void convert_string(struct printer *p, const char *fmt, u64 address)
{
	u64 left;
	const char *s = address ? (const char *)exec_call_memory(p->c, address, 1, &left) : "(null)";

	if (!s || (address && !memchr(s, 0, left))) {
		p->bad = true;
		return;
	}
	add(p, fmt, s);
}

static u64 reduce(u64 x, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(x << shift) >> shift) : x << shift >> shift;
}

#pragma GCC diagnostic push
/* The formats are put together here from parts that were checked. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void convert(struct printer *p, struct conversion *v)
{
	char fmt[64], number[24] = "";
	u64 x;

	if (v->star_width) {
		s64 width = (s32)next_argument(p, 4);

		if (width < 0)
			snprintf(v->flags + strlen(v->flags), 2, "-");
		v->width = (s32)min_u64((u64)(width < 0 ? -width : width), NUMBER_MAX);
	}
	if (v->star_precision) {
		v->precision = (s32)next_argument(p, 4);
		v->precision = v->precision > NUMBER_MAX ? NUMBER_MAX : v->precision;
	}
	if (v->precision >= 0)
		snprintf(number, sizeof(number), ".%d", v->precision);
	snprintf(fmt, sizeof(fmt), "%%%s", v->flags);
	if (v->width >= 0)
		snprintf(fmt + strlen(fmt), 16, "%d", v->width);
	strcat(fmt, number);
	switch (v->letter) {
	case 'd': case 'i':
		strcat(fmt, "lld");
		x = next_argument(p, v->bytes < 8 ? 4 : 8);
		add(p, fmt, (long long)reduce(x, v->bytes, true));
		break;
	case 'o': case 'u': case 'x': case 'X':
		snprintf(fmt + strlen(fmt), 8, "ll%c", v->letter);
		x = next_argument(p, v->bytes < 8 ? 4 : 8);
		add(p, fmt, (unsigned long long)reduce(x, v->bytes, false));
		break;
	case 'c':
		strcat(fmt, "c");
		add(p, fmt, (int)next_argument(p, 4));
		break;
	case 'p':
		strcat(fmt, "p");
		add(p, fmt, (void *)(uintptr_t)next_argument(p, 8));
		break;
	case 's':
		strcat(fmt, "s");
		convert_string(p, fmt, next_argument(p, 8));
		break;
	default:
		snprintf(fmt + strlen(fmt), 4, "%c", v->letter);
		add(p, fmt, f64_bits(next_argument(p, 8)));
		break;
	}
}

#pragma GCC diagnostic pop

s32 exec_format(const struct exec_call *c, const char *fmt, u64 args, struct text *out)
{
	struct printer p = {.c = c, .out = out, .args = args};

	for (const char *s = fmt; *s && !p.bad;) {
		size_t plain = strcspn(s, "%");
		struct conversion v;

		text_add(out, s, plain);
		s += plain;
		if (!*s)
			break;
		if (s[1] == '%') {
			text_add(out, "%", 1);
			s += 2;
			continue;
		}
		if (!read_conversion(s, &v) || p.count + 1 + v.star_width + v.star_precision > ARGUMENTS_MAX)
			text_add(out, s, (size_t)(v.end - s));
		else if (v.beyond)
			skip(&p, &v);
		else
			convert(&p, &v);
		s = v.end;
	}
	return p.bad ? -2 : (s32)p.count;
}
