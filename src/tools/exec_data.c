/*
 * Data for kernels from the command line.
 * The format of .npy files: NumPy Enhancement Proposal 1, versions 1.0 and 2.0.
 */
#include "src/tools/exec_data.h"
#include "src/base/file.h"
#include "src/num/numeric_half.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The most a buffer may have: more is a slip of the fingers. */
#define BYTES_MAX ((u64)1 << 40)
#define PER_LINE 8u

static const struct data_type types[] = {
	{"b8", DATA_BITS, 1, "u1"},   {"b16", DATA_BITS, 2, "u2"},    {"b32", DATA_BITS, 4, "u4"},
	{"b64", DATA_BITS, 8, "u8"},  {"u8", DATA_UINT, 1, "u1"},     {"u16", DATA_UINT, 2, "u2"},
	{"u32", DATA_UINT, 4, "u4"},  {"u64", DATA_UINT, 8, "u8"},    {"s8", DATA_SINT, 1, "i1"},
	{"s16", DATA_SINT, 2, "i2"},  {"s32", DATA_SINT, 4, "i4"},    {"s64", DATA_SINT, 8, "i8"},
	{"f16", DATA_HALF, 2, "f2"},  {"bf16", DATA_BFLOAT, 2, NULL}, {"f32", DATA_FLOAT, 4, "f4"},
	{"f64", DATA_FLOAT, 8, "f8"},
};

const struct data_type *data_type_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, name, n))
			return &types[i];
	return NULL;
}

void data_fini(struct data *d)
{
	free(d->bytes);
	d->bytes = NULL;
}

bool data_parse_type(const char **s, struct data *out, struct text *why)
{
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz0123456789");
	char *end;

	*out = (struct data){.type = data_type_find(*s, n), .count = 1};
	if (!out->type) {
		text_printf(why, "'%.*s' is not a type; the types are", (int)n, *s);
		for (size_t i = 0; i < ARRAY_LEN(types); i++)
			text_printf(why, " %s", types[i].name);
		return false;
	}
	*s += n;
	if (**s != '[')
		return true;
	out->array = true;
	errno = 0;
	out->count = strtoull(*s + 1, &end, 0);
	if (*end != ']' || (*s)[1] == '-' || errno || out->count > BYTES_MAX / out->type->bytes) {
		text_puts(why, "the number of elements in [ ] is invalid");
		return false;
	}
	/* Nothing in between: it follows from the values. */
	if (end == *s + 1)
		out->count = UINT64_MAX;
	*s = end + 1;
	return true;
}

/* ---- elements ---- */

static void data_put(struct data *d, u64 i, u64 bits)
{
	memcpy(d->bytes + i * d->type->bytes, &bits, d->type->bytes);
}

u64 data_get(const struct data *d, u64 i)
{
	u64 bits = 0;

	memcpy(&bits, d->bytes + i * d->type->bytes, d->type->bytes);
	return bits;
}

static u64 from_double(const struct data_type *t, f64 v)
{
	switch ((enum data_kind)t->kind) {
	case DATA_HALF:
		return num_f16_from_f32(bits_f32((f32)v), 0);
	case DATA_BFLOAT:
		return num_bf16_from_f32(bits_f32((f32)v), 0);
	case DATA_FLOAT:
		return t->bytes == 8 ? bits_f64(v) : bits_f32((f32)v);
	case DATA_SINT:
		return (u64)(s64)v;
	case DATA_BITS:
	case DATA_UINT:
		break;
	}
	return (u64)v;
}

bool data_is_whole(const struct data_type *t)
{
	return t->kind == DATA_BITS || t->kind == DATA_UINT || t->kind == DATA_SINT;
}

long double data_real(const struct data_type *t, u64 v)
{
	u32 unused = 64 - 8u * t->bytes;

	switch ((enum data_kind)t->kind) {
	case DATA_HALF:
		return (long double)f32_bits(num_widen_f16((u32)v));
	case DATA_BFLOAT:
		return (long double)f32_bits(num_widen_bf16((u32)v));
	case DATA_FLOAT:
		return t->bytes == 8 ? (long double)f64_bits(v) : (long double)f32_bits((u32)v);
	case DATA_SINT:
		return (long double)((s64)(v << unused) >> unused);
	case DATA_BITS:
	case DATA_UINT:
		break;
	}
	return (long double)v;
}

bool data_set_real(struct data *d, u64 i, long double v)
{
	const struct data_type *t = d->type;
	long double most = ldexpl(1, 8 * t->bytes - (t->kind == DATA_SINT)),
		    least = t->kind == DATA_SINT ? -most : 0;

	if (!data_is_whole(t)) {
		/* From f64 to f32 it is rounded once, to narrower types by way of f32. */
		data_put(d, i,
			 t->bytes == 4   ? bits_f32((f32)v)
			 : t->bytes == 8 ? bits_f64((f64)v)
					 : from_double(t, (f64)(f32)v));
		return true;
	}
	if (!(v >= least && v < most) || v != floorl(v))
		return false;
	data_put(d, i, v < 0 ? (u64)(s64)v : (u64)v);
	return true;
}

/* Bits of a floating-point type that are infinity, without its sign; every exponent bit is set. */
static u64 infinity_of(const struct data_type *t)
{
	return from_double(t, (f64)INFINITY);
}

/* PTX's bits of a float: 0f and 8 digits, 0d and 16. */
static bool parse_bits(const struct data_type *t, const char *s, char **end, u64 *bits)
{
	size_t digits = s[1] == 'f' ? 8 : 16;

	*bits = strtoull(s + 2, end, 16);
	return t->bytes == digits / 2 && (size_t)(*end - s) == 2 + digits;
}

/* Does the number fit, signed or unsigned? */
static bool value_fits_type(const struct data_type *t, bool negative, u64 v)
{
	u32 bits = 8u * t->bytes;
	u64 max = bits == 64 ? UINT64_MAX : ((u64)1 << bits) - 1;

	if (negative)
		return t->kind != DATA_UINT && v <= max / 2 + 1;
	return t->kind == DATA_SINT ? v <= max / 2 : v <= max;
}

/* Does a type hold a whole number, perhaps rounded? */
static bool holds_whole(const struct data_type *t, u64 v)
{
	return data_is_whole(t) ? value_fits_type(t, false, v)
				: (from_double(t, (f64)v) & infinity_of(t)) != infinity_of(t);
}

/* One number; floating-point ones also as bits: 0f3f800000, 0d3ff0000000000000, as in PTX. */
static bool data_parse_number(const struct data_type *t, const char *s, char **end, u64 *bits)
{
	bool negative = *s == '-';
	u64 v;

	if (!data_is_whole(t) && s[0] == '0' && (s[1] == 'f' || s[1] == 'd') &&
	    isxdigit((unsigned char)s[2]))
		return parse_bits(t, s, end, bits);
	if (!data_is_whole(t)) {
		/* Twice rounded values of narrow types would not be the nearest: strtof is exact
		 * for f32. */
		f64 x = t->bytes == 8 ? strtod(s, end) : (f64)strtof(s, end);

		*bits = from_double(t, x);
		/* Infinity is what is called so, not what is too large. */
		return *end != s && ((*bits & infinity_of(t)) != infinity_of(t) || isnan(x) ||
				     memchr("iI", s[*s == '-' || *s == '+'], 2));
	}
	errno = 0;
	v = strtoull(s + (negative || *s == '+'), end, 0);
	*bits = negative ? 0 - v : v;
	return *end != s + (negative || *s == '+') &&
	       isalnum((unsigned char)s[negative || *s == '+']) && !errno &&
	       value_fits_type(t, negative, v);
}

/* ---- initialisers ---- */

static bool make_room(struct data *d, struct text *why)
{
	u64 size = d->count * d->type->bytes;

	d->bytes = calloc(size ? size : 1, 1);
	if (!d->bytes)
		text_printf(why, "no memory for %" PRIu64 " bytes", size);
	return d->bytes != NULL;
}

static u64 list_length(const char *s)
{
	u64 n = 1;

	for (; *s; s++)
		n += *s == ',';
	return n;
}

static bool fill_list(struct data *d, const char *init, struct text *why)
{
	u64 n = list_length(init), bits;
	char *end;

	if (d->count == UINT64_MAX)
		d->count = n;
	if (n != d->count && (n > 1 || data_parse_number(d->type, init, &end, &bits))) {
		text_printf(why, "%" PRIu64 " values for %" PRIu64 " elements", n, d->count);
		return false;
	}
	if (!make_room(d, why))
		return false;
	for (u64 i = 0; i < n; i++) {
		if (!data_parse_number(d->type, init, &end, &bits) || (*end && *end != ',')) {
			text_printf(why, "'%.*s' is not a value of type %s",
				    (int)strcspn(init, ","), init, d->type->name);
			return false;
		}
		data_put(d, i, bits);
		init = end + (*end == ',');
	}
	return true;
}

/* Whole types get any bits, floating-point ones values in [0, 1). */
static u64 random_element(const struct data_type *t, u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	if (data_is_whole(t))
		return x;
	/* As many bits as the type holds below 1, so that nothing rounds up to it. */
	return from_double(t, t->bytes == 8          ? (f64)(x >> 11) * 0x1p-53
			      : t->bytes == 4        ? (f64)(x >> 40) * 0x1p-24
			      : t->kind == DATA_HALF ? (f64)(x >> 53) * 0x1p-11
						     : (f64)(x >> 56) * 0x1p-8);
}

static bool fill_made(struct data *d, const char *init, struct text *why)
{
	u64 seed = 0;
	char *end;

	if (d->count == UINT64_MAX) {
		text_printf(why, "'%s' needs a number of elements in [ ]", init);
		return false;
	}
	if (!strncmp(init, "random", 6) && (!init[6] || init[6] == ':')) {
		seed = init[6] ? strtoull(init + 7, &end, 0) : 0;
		if (init[6] && (*end || end == init + 7)) {
			text_printf(why, "'%s': a seed is a number", init);
			return false;
		}
	}
	if (*init == 'i' && d->count && !holds_whole(d->type, d->count - 1)) {
		text_printf(why, "iota: %" PRIu64 " is not a value of type %s", d->count - 1,
			    d->type->name);
		return false;
	}
	if (!make_room(d, why))
		return false;
	for (u64 i = 0; *init != 'z' && i < d->count; i++)
		data_put(d, i,
			 *init == 'r' ? random_element(d->type, &seed)
				      : from_double(d->type, *init == 'o' ? 1 : (f64)i));
	return true;
}

/* ---- files ---- */

/* The value of 'KEY': in the header, blanks skipped; NULL: not there. */
static const char *npy_value(const char *header, const char *key)
{
	const char *at = strstr(header, key);

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, "': ");
	return at;
}

/* Elements that the shape tuple has; UINT64_MAX: invalid. */
static u64 npy_elements(const char *shape)
{
	u64 n = 1, dim;
	char *end;

	if (!shape || *shape != '(')
		return UINT64_MAX;
	for (shape++; *shape && *shape != ')'; shape = end + strspn(end, ", ")) {
		dim = strtoull(shape, &end, 10);
		if (end == shape || (dim && n > BYTES_MAX / dim))
			return UINT64_MAX;
		n *= dim;
	}
	return n;
}

static bool npy_check(const struct data *d, const char *header, struct text *why)
{
	const char *descr = npy_value(header, "'descr'"),
		   *order = npy_value(header, "'fortran_order'");
	const char *want = d->type->numpy;

	if (!descr || !want || (*descr != '<' && *descr != '|' && *descr != '=') ||
	    strncmp(descr + 1, want, 2)) {
		text_printf(why, "the file holds '%.*s', not %s",
			    descr ? (int)strcspn(descr, "'\",") : 0, descr ? descr : "",
			    d->type->name);
		return false;
	}
	if (!order || !strncmp(order, "True", 4)) {
		text_puts(why, "the file is in Fortran order");
		return false;
	}
	return true;
}

/* Where the elements begin, and how many there are. */
static bool npy_open(const struct data *d, const struct file *f, size_t *begin, u64 *count,
		     struct text *why)
{
	size_t at, len;
	char *header;
	bool ok;

	if (f->size < 12)
		goto damaged;
	at = f->data[6] == 1 ? 10 : 12;
	len = f->data[8] | (size_t)f->data[9] << 8;
	if (at == 12)
		len |= (size_t)f->data[10] << 16 | (size_t)f->data[11] << 24;
	if (len > f->size - at)
		goto damaged;
	header = calloc(len + 1, 1);
	if (!header)
		goto damaged;
	memcpy(header, f->data + at, len);
	*count = npy_elements(npy_value(header, "'shape'"));
	*begin = at + len;
	ok = npy_check(d, header, why);
	free(header);
	if (!ok)
		return false;
	if (*count != UINT64_MAX && *count * d->type->bytes <= f->size - *begin)
		return true;
damaged:
	text_puts(why, "the .npy file is damaged");
	return false;
}

static bool fill_from(struct data *d, const struct file *f, struct text *why)
{
	bool npy = f->size >= 6 && !memcmp(f->data, "\x93NUMPY", 6);
	u64 count = f->size / d->type->bytes;
	size_t begin = 0;

	if (npy && !npy_open(d, f, &begin, &count, why))
		return false;
	if (!npy && f->size % d->type->bytes) {
		text_printf(why, "%zu bytes are not a whole number of %s", f->size, d->type->name);
		return false;
	}
	if (d->count == UINT64_MAX)
		d->count = count;
	if (d->count != count) {
		text_printf(why, "the file has %" PRIu64 " elements, not %" PRIu64, count,
			    d->count);
		return false;
	}
	if (!make_room(d, why))
		return false;
	if (count)
		memcpy(d->bytes, f->data + begin, count * d->type->bytes);
	return true;
}

static bool fill_file(struct data *d, const char *path, struct text *why)
{
	struct file f;
	bool ok;

	if (!file_open(&f, path)) {
		text_printf(why, "%s: %s", path, strerror(errno));
		return false;
	}
	ok = fill_from(d, &f, why);
	file_close(&f);
	return ok;
}

bool data_fill(struct data *d, const char *init, struct text *why)
{
	if (!init)
		init = "zeros";
	if (*init == '@')
		return fill_file(d, init + 1, why);
	if (!strcmp(init, "zeros") || !strcmp(init, "ones") || !strcmp(init, "iota") ||
	    !strncmp(init, "random", 6))
		return fill_made(d, init, why);
	return fill_list(d, init, why);
}

/* ---- output ---- */

void data_print_element(const struct data *d, u64 i, struct text *out)
{
	u32 bits = 8u * d->type->bytes;
	u64 v = data_get(d, i);

	switch ((enum data_kind)d->type->kind) {
	case DATA_BITS:
		text_printf(out, " 0x%0*" PRIx64, 2 * d->type->bytes, v);
		break;
	case DATA_UINT:
		text_printf(out, " %" PRIu64, v);
		break;
	case DATA_SINT:
		text_printf(out, " %" PRId64, (s64)(v << (64 - bits)) >> (64 - bits));
		break;
	case DATA_HALF:
		text_printf(out, " %.5g", (f64)f32_bits(num_widen_f16((u32)v)));
		break;
	case DATA_BFLOAT:
		text_printf(out, " %.4g", (f64)f32_bits(num_widen_bf16((u32)v)));
		break;
	case DATA_FLOAT:
		if (bits == 64)
			text_printf(out, " %.17g", f64_bits(v));
		else
			text_printf(out, " %.9g", (f64)f32_bits((u32)v));
		break;
	}
}

void data_print(const struct data *d, const char *name, struct text *out)
{
	for (u64 i = 0; i < d->count; i += PER_LINE) {
		u64 end = min_u64(i + PER_LINE, d->count);

		text_printf(out, "%s[%" PRIu64 "..%" PRIu64 "] =", name, i, end - 1);
		for (u64 k = i; k < end; k++)
			data_print_element(d, k, out);
		text_puts(out, "\n");
	}
}

static bool write_npy_header(const struct data *d, FILE *f)
{
	struct text t = {0};
	u8 head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
	bool ok;

	text_printf(&t, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }",
		    d->type->bytes > 1 ? '<' : '|', d->type->numpy, d->count);
	/* Elements begin at a multiple of 64. */
	while ((sizeof(head) + t.len + 1) % 64 && !t.failed)
		text_puts(&t, " ");
	text_puts(&t, "\n");
	head[8] = (u8)t.len;
	head[9] = (u8)(t.len >> 8);
	ok = !t.failed && fwrite(head, sizeof(head), 1, f) == 1 && fwrite(t.at, t.len, 1, f) == 1;
	text_fini(&t);
	return ok;
}

bool data_write(const struct data *d, const char *path)
{
	size_t n = strlen(path);
	bool npy = n > 4 && !strcmp(path + n - 4, ".npy"), ok;
	FILE *f;

	if (npy && !d->type->numpy) {
		errno = EINVAL; /* NumPy has no such type */
		return false;
	}
	f = fopen(path, "wb");
	if (!f)
		return false;
	ok = (!npy || write_npy_header(d, f)) &&
	     (!d->count || fwrite(d->bytes, d->type->bytes, d->count, f) == d->count);
	return !fclose(f) && ok;
}
