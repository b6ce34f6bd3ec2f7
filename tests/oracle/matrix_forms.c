/*
 * The forms that compute capability 9.0 takes, spelled as templates, and their kernels.
 */
#include "tests/oracle/matrix_forms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct style styles[STYLES] = {
	{"ordinary", 0, true, true, false, false}, {"zeros", 96, true, true, false, false},
	{"finite", 8, true, false, false, false},  {"any", 0, false, false, false, false},
	{"table", 0, false, false, true, false},   {"tiny", 0, false, false, true, true},
};

/* Braces list alternatives; behind '@' stands what is no part of the instruction: the selector, or
 * where wgmma has A. '#' is a number of columns. */
static const char *const templates[] = {
	"mma.sync.aligned.m8n8k4.{row,col}.{row,col}.{f16.f16.f16.f16,f32.f16.f16.f16,f32.f16.f16.f32}",
	"mma.sync.aligned.m16n8k{8,16}.row.col.{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}",
	"mma.sync.aligned.m16n8k{4,8}.row.col.f32.tf32.tf32.f32",
	"mma.sync.aligned.m16n8k{16,32}.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32",
	"mma.sync.aligned.m16n8k{16,32}.row.col.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16",
	"mma.sync.aligned.{m8n8k4,m16n8k4,m16n8k8,m16n8k16}.row.col.f64.f64.f64.f64{,.rn,.rz,.rm,.rp}",
	"mma.sync.aligned.{m8n8k16,m16n8k16,m16n8k32}.row.col.{,satfinite.}s32.{s8,u8}.{s8,u8}.s32",
	"mma.sync.aligned.{m8n8k32,m16n8k32,m16n8k64}.row.col.{,satfinite.}s32.{s4,u4}.{s4,u4}.s32",
	"mma.sync.aligned.{m8n8k128,m16n8k128,m16n8k256}.row.col.s32.b1.b1.s32.{xor,and}.popc",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k16.row.col."
	"{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}@{0,1,2,3}",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k32.row.col."
	"{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}@{0,1}",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32@{0,1,2,3}",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32@{0,1}",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k64.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32@0",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k32.row.col.{,satfinite.}s32.{s8,u8}.{s8,u8}.s32@"
	"{0,1}",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k64.row.col.{,satfinite.}s32.{s8,u8}.{s8,u8}.s32@0",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k64.row.col.{,satfinite.}s32.{s4,u4}.{s4,u4}.s32@"
	"{0,1}",
	"mma.{sp,sp::ordered_metadata}.sync.aligned.m16n8k128.row.col.{,satfinite.}s32.{s4,u4}.{s4,u4}.s32@0",
	"wmma.mma.sync.aligned.{row,col}.{row,col}.{m16n16k16,m32n8k16,m8n32k16}.{f16,f32}.{f16,f32}",
	"wmma.mma.sync.aligned.{row,col}.{row,col}.{m16n16k16,m32n8k16,m8n32k16}.{f16,f32}.{f16,f32}.satfinite",
	"wmma.mma.sync.aligned.{row,col}.{row,col}.{m16n16k16,m32n8k16,m8n32k16}.f32.bf16.bf16.f32",
	"wmma.mma.sync.aligned.{row,col}.{row,col}.m16n16k8.f32.tf32.tf32.f32",
	"wmma.mma.sync.aligned.{row,col}.{row,col}.{m16n16k16,m32n8k16,m8n32k16}.s32.{s8.s8,u8.u8}.s32"
	"{,.satfinite}",
	"wmma.mma.sync.aligned.row.col.m8n8k32.s32.{s4.s4,u4.u4}.s32{,.satfinite}",
	"wmma.mma.{xor,and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
	"wmma.mma.sync.aligned.{row,col}.{row,col}.m8n8k4{,.rn,.rz,.rm,.rp}.f64.f64.f64.f64",
	"wgmma.mma_async.sync.aligned.m64n#k16.{f16.f16.f16,f32.f16.f16,f32.bf16.bf16}@{d,r}",
	"wgmma.mma_async.sync.aligned.m64n#k8.f32.tf32.tf32@{d,r}",
	"wgmma.mma_async.sync.aligned.m64n#k32.{f16,f32}.{e4m3,e5m2}.{e4m3,e5m2}@{d,r}",
	"wgmma.mma_async.sync.aligned.m64n#k32.s32.{s8,u8}.{s8,u8}{,.satfinite}@{d,r}",
	"wgmma.mma_async.sync.aligned.m64n#k256.s32.b1.b1.and.popc@{d,r}",
	"wgmma.mma_async.sp.sync.aligned.m64n#k32.{f16.f16.f16,f32.f16.f16,f32.bf16.bf16}@{d,r}{0,1}",
	"wgmma.mma_async.sp.sync.aligned.m64n#k16.f32.tf32.tf32@{d,r}{0,1}",
	"wgmma.mma_async.sp.sync.aligned.m64n#k64.{f16,f32}.{e4m3,e5m2}.{e4m3,e5m2}@{d,r}",
	"wgmma.mma_async.sp.sync.aligned.m64n#k64.s32.{s8,u8}.{s8,u8}{,.satfinite}@{d,r}",
};

/* ---- numbers ---- */

struct kind {
	const char *word;
	u32 bits, exponent, fraction; /* exponent 0: no floating point */
	u32 finite, ordinary, set;    /* masks of a word */
};

static const struct kind kinds[N_COUNT] = {
	[N_F16] = {"f16", 16, 5, 10, 0xbfffbfff, 0x9fff9fff, 0x20002000},
	[N_BF16] = {"bf16", 16, 8, 7, 0xbfffbfff, 0x83ff83ff, 0x3c003c00},
	[N_TF32] = {"tf32", 32, 8, 23, 0xbfffffff, 0x83ffffff, 0x3c000000},
	[N_E4M3] = {"e4m3", 8, 4, 3, 0xbfbfbfbf, 0x9f9f9f9f, 0x20202020},
	[N_E5M2] = {"e5m2", 8, 5, 2, 0xbfbfbfbf, 0x9f9f9f9f, 0x20202020},
	[N_F64] = {"f64", 64, 11, 20, 0xbfffffff, 0x803fffff, 0x3fc00000},
	[N_F32] = {"f32", 32, 8, 23, 0xbfffffff, 0x83ffffff, 0x3c000000},
	[N_S32] = {"s32", 32, 0, 0, ~0u, 0x800fffff, 0},
	[N_BYTE] = {"s8", 8, 0, 0, ~0u, ~0u, 0},
	[N_NIBBLE] = {"s4", 4, 0, 0, ~0u, ~0u, 0},
	[N_BIT] = {"b1", 1, 0, 0, ~0u, ~0u, 0},
};

void form_masks(enum number kind, const struct style *s, u32 *and, u32 * or)
{
	*and = !s->plain ? ~0u : s->ordinary ? kinds[kind].ordinary : kinds[kind].finite;
	* or = s->ordinary ? kinds[kind].set : 0;
}

static u32 next(u32 *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* One in 48 infinite or NaN; of the others exponents least, most, and near 1. */
static u32 odd_float(const struct kind *k, u32 *seed)
{
	u32 most = (1u << k->exponent) - 1, one = most / 2, r = next(seed), f = next(seed),
	    all = (1u << k->fraction) - 1;
	u32 exponents[8] = {0, 0, 1, most - 1, most - 2, one, one + 1, one - k->fraction % one};
	u32 e = r % 48 == 0 ? most : r % 3 == 0 ? next(seed) % most : exponents[r / 48 % 8];
	u32 fractions[8] = {0, 0, 1, all, all / 2 + 1, f & all, f & all, f & all};

	return (next(seed) & 1) << (k->exponent + k->fraction) | e << k->fraction |
	       fractions[next(seed) % 8];
}

/*
 * Half are zeros, the others of one bit mostly: subnormals, numbers just above them, or, if
 * exponents are wide, such that products are just above those of f32.
 */
static u32 tiny_float(const struct kind *k, bool sum, u32 *seed)
{
	u32 one = (1u << (k->exponent - 1)) - 1, r = next(seed), s = next(seed), f = k->fraction;
	u32 fraction = s % 4 == 0 ? 1 : s % 4 == 1 ? 1u << (s / 4 % f) : 0, field = 1 + r / 64 % 4;
	bool wide = k->exponent > 5;

	if (r % 8 < (sum ? 5 : 3))
		return r << 24 & 1u << (k->exponent + f);
	if (r % 8 == 7)
		field = 0;
	else if (wide && !sum)
		field = one - (one / 2 - 6) - r / 64 % 16;
	else if (wide && r % 8 == 6)
		field = one - 20 - r / 64 % 32;
	if (!field && !fraction)
		fraction = 1u << (s / 4 % f);
	return (next(seed) & 1) << (k->exponent + f) | field << f | fraction;
}

static u32 odd_integer(const struct kind *k, u32 *seed)
{
	u32 r = next(seed), top = 1u << (k->bits - 1);

	if (k->bits == 32) /* accumulators near the ends */
		return r % 4 == 0 ? top + (next(seed) & 0x3fff)
		       : r % 4 == 1
			       ? top - 1 - (next(seed) & 0x3fff)
			       : (r % 4 == 2 ? next(seed) << 8 ^ next(seed) : next(seed) & 0xff);
	return r % 4 == 0 ? top : r % 4 == 1 ? top - 1 : r % 8 == 2 ? 2 * top - 1 : next(seed);
}

void form_table(enum number kind, u32 salt, bool tiny, u32 (*to)[2])
{
	const struct kind *k = &kinds[kind];
	u32 seed = salt * 977u + kind, per = k->bits >= 32 ? 1 : 32 / k->bits;

	for (u32 i = 0; i < 1024; i++) {
		to[i][0] = 0;
		for (u32 e = 0; e < per; e++) {
			u32 v = !k->exponent ? odd_integer(k, &seed)
				: tiny       ? tiny_float(k, salt == 3, &seed)
					     : odd_float(k, &seed);

			v &= k->bits >= 32 ? ~0u : (1u << k->bits) - 1;
			to[i][0] |= v << e * k->bits % 32;
		}
		to[i][1] = to[i][0]; /* f64: the upper word; what is below */
		if (kind == N_F64)
			to[i][0] = i % 3 == 0 ? 0 : i % 3 == 1 ? ~0u : next(&seed) * 0x10001u;
	}
}

/* ---- forms ---- */

static enum number kind_of(const char *word, size_t n)
{
	for (u32 i = 0; i < N_COUNT; i++)
		if (strlen(kinds[i].word) == n && !strncmp(kinds[i].word, word, n))
			return i;
	return n == 2 && word[0] == 'u' ? (word[1] == '8'   ? N_BYTE
					   : word[1] == '4' ? N_NIBBLE
							    : N_COUNT)
					: N_COUNT;
}

/* Types in the order of the text. */
static u32 find_types(const char *text, enum number *types)
{
	u32 n = 0;

	for (const char *p = text; *p; p++) {
		size_t len = strcspn(p, ".@");
		enum number k = kind_of(p, len);

		if (k < N_COUNT && n < 4)
			types[n++] = k;
		p += len;
		if (*p != '.')
			break;
	}
	return n;
}

static u32 at_least_one(u32 n)
{
	return n ? n : 1;
}

static u32 sum_registers(enum number kind, u32 elements)
{
	return kind == N_F16 ? elements / 64 : elements / 32;
}

static void count_registers(struct form *f)
{
	u32 a = f->m * f->k * f->bits / (f->sparse ? 64 : 32) / 32,
	    b = f->n * f->k * f->bits / 1024;

	if (f->bits == 64) {
		a /= 2;
		b /= 2;
	}
	f->ra = at_least_one(a);
	f->rb = at_least_one(b);
	f->rc = sum_registers(f->c, f->m * f->n);
	f->rd = sum_registers(f->d, f->m * f->n);
	if (f->k == 4 && f->m == 8 && f->a == N_F16) { /* four products */
		f->ra = f->rb = 2;
		f->rc *= 4;
		f->rd *= 4;
	}
	if (!strncmp(f->text, "wmma", 4) && f->a == N_F16)
		f->ra = f->rb = 8;
	if (f->wgmma) {
		f->ra = 4;
		f->rc = f->rd = f->rd / 4;
	}
}

static bool make_form(const char *name, u32 variant, struct form *f)
{
	const char *shape = strpbrk(name, "0123456789"), *at = strchr(name, '@');
	enum number t[4];
	u32 n = find_types(name, t);

	memset(f, 0, sizeof(*f));
	memcpy(f->name, name, strlen(name) + 1);
	memcpy(f->text, name, at ? (size_t)(at - name) : strlen(name));
	if (!shape || sscanf(shape - 1, "m%un%uk%u", &f->m, &f->n, &f->k) != 3 || n < 2)
		return false;
	f->d = t[0];
	f->a = n == 2 ? N_F16 : t[1];
	f->b = n == 2 ? N_F16 : t[2];
	f->c = n == 2 ? t[1] : n == 4 ? t[3] : t[0];
	f->bits = kinds[f->a].bits;
	f->wgmma = !strncmp(name, "wgmma", 5);
	f->sparse = strstr(name, ".sp") != NULL;
	f->any_order = f->sparse && !strstr(name, "ordered");
	f->by_registers = f->wgmma && at && at[1] == 'r';
	f->variant = f->wgmma ? variant : at ? (u32)(at[1] - '0') : 0;
	count_registers(f);
	return true;
}

struct visit {
	bool (*see)(const struct form *f, void *data);
	void *data;
};

/* All numbers of columns; each has another mixture of immediates. */
static bool visit_columns(const char *name, const char *hash, const struct visit *v)
{
	bool few = strstr(name, ".s32.") != NULL;
	struct form f;

	for (u32 n = 8; n <= 256; n += 8) {
		char text[FORM_TEXT];

		if (few && n > 32 && n % 16)
			continue;
		snprintf(text, sizeof(text), "%.*s%u%s", (int)(hash - name), name, n, hash + 1);
		if (make_form(text, n / 8, &f) && !v->see(&f, v->data))
			return false;
	}
	return true;
}

/* The first braces of a template become each of their alternatives. */
static bool expand(const char *text, const struct visit *v)
{
	const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL, *p;
	const char *hash = strchr(text, '#');
	struct form f;

	if (!open || !close) {
		if (hash)
			return visit_columns(text, hash, v);
		return !make_form(text, 0, &f) || v->see(&f, v->data);
	}
	p = open;
	do {
		char one[FORM_TEXT * 2];
		size_t n = strcspn(++p, ",}");

		snprintf(one, sizeof(one), "%.*s%.*s%s", (int)(open - text), text, (int)n, p,
			 close + 1);
		if (!expand(one, v))
			return false;
		p += n;
	} while (p < close);
	return true;
}

bool forms_visit(bool (*see)(const struct form *f, void *data), void *data)
{
	struct visit v = {see, data};

	for (u32 i = 0; i < ARRAY_LEN(templates); i++)
		if (!expand(templates[i], &v))
			return false;
	return true;
}

/* ---- wgmma: where A and B lie ---- */

#define AREA_A 8192u

/* Immediates: how the forms of a family take them. */
static bool is_wide_type(const struct form *f)
{
	return f->a == N_F16 || f->a == N_BF16;
}

static bool is_turned(const struct form *f, u32 bit)
{
	return is_wide_type(f) && f->variant & bit;
}

static u64 descriptor(bool along, u32 rows, u32 bytes, u32 swizzle)
{
	u32 span = swizzle ? 256u >> swizzle : 16, lbo, sbo, k = bytes / 2;

	if (!along) { /* rows of `bytes` */
		lbo = 128;
		sbo = swizzle ? 8 * span : 8 * bytes;
	} else if (swizzle) {
		sbo = 8 * span;
		lbo = k / 8 * sbo;
	} else {
		sbo = 128;
		lbo = 128 * (rows * 2 / 16);
	}
	return (u64)(lbo >> 4) << 16 | (u64)(sbo >> 4) << 32 | (u64)swizzle << 62;
}

void form_descriptors(const struct form *f, u64 *to)
{
	for (u32 s = 0; s < 4; s++) {
		to[s] = descriptor(is_turned(f, 4), 64, 32, s);
		to[4 + s] = descriptor(is_turned(f, 8), f->n, f->sparse ? 64 : 32, s);
	}
}

/* Bytes of B, for every swizzle. */
static u32 area_b(const struct form *f)
{
	return f->n * 128 + 8192;
}

u32 form_warps(const struct form *f)
{
	return f->wgmma ? 4 : 8;
}

/* ---- kernels ---- */

struct out {
	char *at;
	size_t len;
};

static void PL_PRINTF(2, 3) add(struct out *o, const char *format, ...)
{
	va_list v;

	va_start(v, format);
	o->len += (size_t)vsnprintf(o->at + o->len, FORM_PTX - o->len, format, v);
	va_end(v);
}

static void add_list(struct out *o, const char *name, u32 n)
{
	for (u32 i = 0; i < n; i++)
		add(o, "%s%s%u", i ? "," : "{", name, i);
	add(o, "}");
}

/* %r, the state that words are made of, from a register that tells tiles and lanes apart. */
static void add_state(struct out *o, const char *seed)
{
	add(o,
	    "mul.lo.u32 %%r,%s,0x9e3779b1; shr.u32 %%y,%%r,15; xor.b32 %%r,%%r,%%y;\n"
	    "mul.lo.u32 %%r,%%r,0x85ebca77; shr.u32 %%y,%%r,13; xor.b32 %%r,%%r,%%y; mul.lo.u32 %%r,%%r,0xc2b2ae3d;\n"
	    "shr.u32 %%y,%%r,16; xor.b32 %%r,%%r,%%y;\n",
	    seed);
}

/* The next word, %x. */
static void add_next(struct out *o)
{
	add(o,
	    "mad.lo.u32 %%r,%%r,0x915f77f5,0x2545f491; shr.u32 %%x,%%r,15; xor.b32 %%x,%%x,%%r;\n"
	    "mul.lo.u32 %%x,%%x,0x85ebca77; shr.u32 %%y,%%x,13; xor.b32 %%x,%%x,%%y;\n");
}

/* A number's words, %x and the upper one %h. which: 'a', 'b', 'c'. */
static void add_word(struct out *o, bool table, char which, bool wide)
{
	add_next(o);
	if (table) {
		add(o,
		    "and.b32 %%y,%%x,1023; mad.wide.u32 %%q,%%y,8,%%tab; ld.global.v2.u32 {%%x,%%h},[%%q+%u];\n",
		    (u32)(which - 'a') * 8192u);
		return;
	}
	if (wide)
		add(o, "mul.lo.u32 %%h,%%x,0x61c88647;\n");
	add(o,
	    "shr.u32 %%y,%%r,24; setp.lt.u32 %%p,%%y,%%z;\n"
	    "and.b32 %%x,%%x,%%and%c; or.b32 %%x,%%x,%%or%c; selp.b32 %%x,0,%%x,%%p;\n",
	    which, which);
}

static void add_numbers(struct out *o, bool table, char which, enum number kind, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		add_word(o, table, which, kind == N_F64);
		if (kind != N_F64)
			add(o, "mov.b32 %%%c%u,%%x;\n", which, i);
		else if (table)
			add(o, "mov.b64 %%%c%u,{%%x,%%h};\n", which, i);
		else
			add(o, "mov.b64 %%%c%u,{%%h,%%x};\n", which, i);
	}
}

/* Pairs of positions, four bits each; tf32 has one of two. */
static void add_metadata(struct out *o, const struct form *f)
{
	const char *nibbles = f->bits == 32   ? "0xe4e44ee44e4ee4e4"
			      : !f->any_order ? "0x4e9dc84e9dc84e9d"
					      : "0x4e9dc8136b274e9d";

	add_next(o);
	add(o, "mov.u32 %%m,0;\n");
	for (u32 i = 0; i < 8; i++)
		add(o,
		    "shr.u32 %%y,%%x,%u; and.b32 %%y,%%y,15; shl.b32 %%y,%%y,2;\n"
		    "shr.b64 %%q,%s,%%y; cvt.u32.u64 %%y,%%q;\n"
		    "and.b32 %%y,%%y,15; shl.b32 %%y,%%y,%u; or.b32 %%m,%%m,%%y;\n",
		    4 * i, nibbles, 4 * i);
}

/* Shared memory from `start` on is filled with numbers of A or B. */
static void add_area(struct out *o, bool table, char which, u32 start, u32 bytes)
{
	add(o, "mov.u32 %%i,%%tid.x; mov.u32 %%j,smem; mad.lo.u32 %%j,%%i,4,%%j;\nAREA%c:\n",
	    which);
	add_word(o, table, which, false);
	add(o,
	    "st.shared.u32 [%%j+%u],%%x; add.u32 %%i,%%i,128; add.u32 %%j,%%j,512;\n"
	    "setp.lt.u32 %%p,%%i,%u; @%%p bra AREA%c;\n",
	    start, bytes / 4, which);
}

static void add_wgmma(struct out *o, const struct form *f, bool table)
{
	bool wide = is_wide_type(f), floats = kinds[f->a].exponent != 0;

	if (!f->by_registers)
		add_area(o, table, 'a', 0, AREA_A);
	add_area(o, table, 'b', AREA_A, area_b(f));
	add(o,
	    "mov.u32 %%i,%%ctaid.x; and.b32 %%j,%%i,3; mad.wide.u32 %%q,%%j,8,%%tab;\n"
	    "ld.global.u64 %%da,[%%q+24576]; ld.global.u64 %%db,[%%q+24608];\n"
	    "mov.u32 %%j,smem; shr.u32 %%j,%%j,4; cvt.u64.u32 %%q,%%j;\n"
	    "add.u64 %%da,%%da,%%q; add.u64 %%db,%%db,%%q;\n"
	    "add.u64 %%db,%%db,%u; and.b32 %%j,%%i,28; setp.ne.u32 %%p,%%j,4;\n"
	    "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n%s ",
	    AREA_A / 16, f->text);
	add_list(o, "%c", f->rd);
	add(o, ",");
	if (f->by_registers)
		add_list(o, "%a", f->ra);
	else
		add(o, "%%da");
	add(o, ",%%db");
	if (f->sparse)
		add(o, ",%%m,%u", f->name[strlen(f->name) - 1] == '1');
	add(o, ",%%p");
	if (floats)
		add(o, ",%s,%s", f->variant & 1 ? "-1" : "1", f->variant & 2 ? "-1" : "1");
	if (wide && !f->by_registers)
		add(o, ",%u", is_turned(f, 4));
	if (wide)
		add(o, ",%u", is_turned(f, 8));
	add(o, ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
}

static void add_mma(struct out *o, const struct form *f)
{
	add(o, "%s ", f->text);
	add_list(o, "%d", f->rd);
	add(o, ",");
	add_list(o, "%a", f->ra);
	add(o, ",");
	add_list(o, "%b", f->rb);
	add(o, ",");
	add_list(o, "%c", f->rc);
	if (f->sparse)
		add(o, ",%%m,%u", f->variant);
	add(o, ";\n");
}

static const char *register_type(const struct form *f, enum number kind)
{
	if (kind == N_F32 || kind == N_F64)
		return kinds[kind].word;
	return kind == N_S32 && !f->wgmma ? "s32" : "b32";
}

static void add_declarations(struct out *o, const struct form *f)
{
	add(o,
	    "{ .reg .u64 %%o,%%tab,%%q,%%da,%%db; .reg .u32 %%t,%%s,%%i,%%j,%%r,%%basereg;\n"
	    ".reg .b32 %%x,%%y,%%z,%%h,%%m; .reg .b32 %%anda,%%andb,%%andc,%%ora,%%orb,%%orc; .reg .pred %%p;\n"
	    ".reg .%s %%a<%u>; .reg .%s %%b<%u>; .reg .%s %%c<%u>; .reg .%s %%d<%u>;\n",
	    f->bits == 64 ? "f64" : "b32", f->ra, f->bits == 64 ? "f64" : "b32", f->rb,
	    register_type(f, f->c), f->rc, register_type(f, f->d), f->rd);
	if (f->wgmma)
		add(o, ".shared .align 1024 .b8 smem[%u];\n", AREA_A + area_b(f));
	add(o,
	    "ld.param.u64 %%o,[out]; ld.param.u64 %%tab,[tab]; ld.param.u32 %%basereg,[base];\n"
	    "ld.param.u32 %%anda,[a1];\n"
	    "ld.param.u32 %%ora,[a2]; ld.param.u32 %%andb,[b1]; ld.param.u32 %%orb,[b2]; ld.param.u32 %%andc,[c1];\n"
	    "ld.param.u32 %%orc,[c2]; ld.param.u32 %%z,[zeros];\n"
	    "mov.u32 %%t,%%tid.x; mov.u32 %%i,%%ctaid.x; mad.lo.u32 %%t,%%i,%u,%%t; mad.wide.u32 %%o,%%t,4,%%o;\n"
	    "mad.lo.u32 %%s,%%basereg,32,%%t; mul.lo.u32 %%s,%%s,0x10001;\n",
	    32 * form_warps(f));
	add_state(o, "%s");
}

static void add_kernel(struct out *o, const struct form *f, bool table)
{
	bool wide = f->d == N_F64;

	add(o,
	    ".visible .entry %s(.param .u64 out,.param .u64 tab,.param .u32 base,.param .u32 a1,.param .u32 a2,"
	    ".param .u32 b1,.param .u32 b2,.param .u32 c1,.param .u32 c2,.param .u32 zeros)\n",
	    table ? "table" : "random");
	add_declarations(o, f);
	if (!f->wgmma || f->by_registers)
		add_numbers(o, table, 'a', f->a, f->ra);
	if (!f->wgmma)
		add_numbers(o, table, 'b', f->b, f->rb);
	add_numbers(o, table, 'c', f->c, f->rc);
	if (f->sparse)
		add_metadata(o, f);
	if (f->wgmma)
		add_wgmma(o, f, table);
	else
		add_mma(o, f);
	add(o, "mov.u32 %%h,0;\n");
	for (u32 i = 0; i < f->rd; i++) {
		const char *d = f->wgmma ? "%c" : "%d";

		if (wide)
			add(o, "mov.b64 {%%x,%%y},%s%u; mad.lo.u32 %%h,%%h,0x01000193,%%y;\n", d,
			    i);
		else
			add(o, "mov.b32 %%x,%s%u;\n", d, i);
		add(o, "mad.lo.u32 %%h,%%h,0x01000193,%%x;\n");
	}
	add(o, "st.global.u32 [%%o],%%h;\nret; }\n");
}

void form_write(const struct form *f, char *to)
{
	struct out o = {to, 0};
	bool old = !strncmp(f->text, "wmma", 4) && strstr(f->text, "satfinite") && f->a == N_F16;

	/* saturation of floating-point numbers is of PTX ISA 6.4 and earlier */
	add(&o, ".version %s\n.target %s\n.address_size 64\n", old ? "6.3" : "8.7",
	    old ? "sm_70" : "sm_90a");
	add_kernel(&o, f, false);
	add_kernel(&o, f, true);
}
