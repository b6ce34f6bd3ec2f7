/*
 * Sums of every generation's tensor cores on random and special numbers, against the rules that
 * were published for them (tests/unit/mma/dot_model.c, whole numbers and one product after the
 * other), and against digests of results that the publications' programs confirmed
 * (docs/tensor-cores.md).
 *
 * usage: exec_matrix_models [TILES] TILES of each form and style: 8; digests are of the first 8
 *        exec_matrix_models -d [TILES]   prints digests, lines of tests/vectors/matrix_models.tsv
 *        exec_matrix_models -p TILES [PART]
 *                                        prints results for another program to compare, four of
 *                                        each tile: part, form, style, A's row, B's column, C, D
 *        exec_matrix_models -c FILE      compares such lines, of a GPU for instance; D is its
 *                                        result. Rows that are shorter than k end in zeros
 */
#include "tests/check.h"
#include "tests/unit/mma/dot_model.h"
#include "tests/unit/exec_harness.h"
#include "tests/unit/mma/matrix_numbers.h"

#include <math.h>

#define PTX_MAX 8192u
#define LANE_WORDS 32u /* 8 of A, 4 of B, 8 of C from words 0, 8 and 16 on */
#define BATCH 64u      /* tiles of a launch */
#define DIGEST_TILES 8u

/* What was published for a part: bits, least exponent, products of a sum (0: no such numbers). */
static const struct part {
	const char *name, *device;
	u32 fraction, below, f16, tf32, small;
} parts[] = {
	{"V100", "gv100", 23, 5, 4, 0, 0}, {"T4", "tu104", 24, 6, 8, 0, 0},
	{"A100", "ga100", 24, 6, 8, 4, 0}, {"A40", "ga102", 24, 6, 8, 4, 0},
	{"H200", "h200", 25, 7, 16, 8, 0}, {"GB202", "gb202", 25, 7, 16, 8, 32},
};

enum layout {
	WORDS, /* m16n8, words of four rows of lanes */
	QUADS, /* m8n8k4: four products */
	WMMA,  /* m16n16, by wmma.load and wmma.store */
};

struct form {
	char text[120];
	enum dot_kind kinds[4]; /* of A, B, C and D */
	u32 k;
	enum layout layout;
};

/*
 * The form, mma.sync.aligned or wmma.mma.sync.aligned left out, and parts, one letter each: V T A 4
 * H B.
 */
static const struct spec {
	const char *text, *parts;
} specs[] = {
	{"m8n8k4.row.col.f32.f16.f16.f32", "VT"},
	{"m8n8k4.row.col.f32.f16.f16.f16", "VT"},
	{"m8n8k4.row.col.f16.f16.f16.f16", "VT"},
	{"m16n8k8.row.col.f32.f16.f16.f32", "TA4HB"},
	{"m16n8k8.row.col.f16.f16.f16.f16", "TA4HB"},
	{"m16n8k16.row.col.f32.f16.f16.f32", "A4HB"},
	{"m16n8k16.row.col.f16.f16.f16.f16", "A4HB"},
	{"m16n8k8.row.col.f32.bf16.bf16.f32", "A4HB"},
	{"m16n8k16.row.col.f32.bf16.bf16.f32", "A4HB"},
	{"m16n8k4.row.col.f32.tf32.tf32.f32", "A4HB"},
	{"m16n8k8.row.col.f32.tf32.tf32.f32", "A4HB"},
	{"m16n8k16.row.col.f32.e4m3.e4m3.f32", "B"},
	{"m16n8k32.row.col.f32.e4m3.e5m2.f32", "B"},
	{"m16n8k32.row.col.f32.e5m2.e5m2.f32", "B"},
	{"m16n8k32.row.col.f16.e5m2.e4m3.f16", "B"},
	{"m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", "B"},
	{"m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32", "B"},
	{"m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32", "B"},
	{"m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e3m2.f16", "B"},
	{"m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e5m2.f16", "B"},
	{"wmma.row.col.m16n16k16.f32.f32", "VTA4HB"},
	{"wmma.row.col.m16n16k16.f16.f16", "VTA4HB"},
	{"wmma.row.col.m16n16k16.f32.f16", "VTA4HB"},
	{"wmma.row.col.m16n16k16.f16.f32", "VTA4HB"},
};

#define FORMS ARRAY_LEN(specs)

static struct form forms[FORMS];

static enum dot_kind kind_of(const char *name, size_t n)
{
	enum dot_kind k = 0;

	while (k < DOT_F32 &&
	       (strlen(dot_formats[k].name) != n || strncmp(dot_formats[k].name, name, n)))
		k++;
	return k;
}

/* Kinds are the last words: those of D, A, B and C, or of D and C. */
static void make_form(const char *text, struct form *f)
{
	static const u32 order[2][4] = {{3, 0, 1, 2}, {3, 2, 0, 0}};
	bool wmma = !strncmp(text, "wmma.", 5);
	const char *word = strchr(text, 'k');
	u32 n = wmma ? 2 : 4;

	f->layout = wmma ? WMMA : strstr(text, "m8n8k4") ? QUADS : WORDS;
	snprintf(f->text, sizeof(f->text), "%smma.sync.aligned.%s", wmma ? "wmma." : "",
		 text + 5 * wmma);
	f->k = (u32)strtoul(word + 1, NULL, 10);
	word = text + strlen(text);
	for (u32 i = n; i--;) {
		const char *end = word;

		while (word[-1] != '.')
			word--;
		f->kinds[order[wmma][i]] = kind_of(word, (size_t)(end - word));
		word--;
	}
}

struct tile {
	u32 rows, columns;
	u32 a[32][32], b[16][32], c[32][16], d[32][16]; /* A by rows, B by columns */
};

static void fill(const struct form *f, u32 style, struct tile *t)
{
	t->rows = f->layout == QUADS ? 32 : 16;
	t->columns = f->layout == WMMA ? 16 : 8;
	for (u32 i = 0; i < t->rows; i++)
		for (u32 k = 0; k < f->k; k++)
			t->a[i][k] = number(f->kinds[0], style, false);
	/*
	 * four products have a B each: columns 8 q and following have theirs behind each other in k
	 */
	for (u32 j = 0; j < t->columns; j++)
		for (u32 k = 0; k < (f->layout == QUADS ? 16 : f->k); k++)
			t->b[j][k] = number(f->kinds[1], style, false);
	for (u32 i = 0; i < t->rows; i++)
		for (u32 j = 0; j < t->columns; j++)
			t->c[i][j] = number(f->kinds[2], style, true);
}

/* Where B's column of row i begins. */
static u32 first_k(const struct form *f, u32 i)
{
	return f->layout == QUADS ? 4 * (i / 8) : 0;
}

/* ---- fragments: PTX ISA "Matrix Fragments" ---- */

static u32 bits_of(enum dot_kind kind)
{
	return dot_formats[kind].bits;
}

/* Element e of a lane's register group that begins at word `at`. */
static u32 *place(u32 (*lane)[LANE_WORDS], u32 l, u32 at, u32 e, u32 bits, u32 *shift)
{
	*shift = e * bits % 32;
	return &lane[l][at + e * bits / 32];
}

static u32 get(u32 (*lane)[LANE_WORDS], u32 l, u32 at, u32 e, u32 bits)
{
	u32 shift, *w = place(lane, l, at, e, bits, &shift);

	return bits == 32 ? *w : *w >> shift & ((1u << bits) - 1);
}

static void put(u32 (*lane)[LANE_WORDS], u32 l, u32 at, u32 e, u32 bits, u32 v)
{
	u32 shift, *w = place(lane, l, at, e, bits, &shift);

	*w |= v << shift;
}

/* Lane and element of an accumulator. */
static u32 sum_lane(const struct form *f, enum dot_kind kind, u32 i, u32 j, u32 *e)
{
	u32 r = i % 8;

	if (f->layout == WORDS) {
		*e = j % 2 + 2 * (i / 8);
		return 4 * r + j / 2;
	}
	if (kind == DOT_F16) {
		*e = j;
	} else {
		*e = (j & 1) | (r & 2) | (j & 4);
		r = (r & 1) | (j & 2) | (r & 4);
	}
	return 4 * (i / 8) + (r & 3) + (r >> 2) * 16;
}

static void lay_words(const struct form *f, const struct tile *t, u32 (*lane)[LANE_WORDS])
{
	u32 ba = bits_of(f->kinds[0]), bb = bits_of(f->kinds[1]), e;

	for (u32 i = 0; i < t->rows; i++)
		for (u32 k = 0; k < f->k; k++) {
			u32 w = k * ba / 32, in = k % (32 / ba);

			if (f->layout == QUADS)
				put(lane, 4 * (i / 8) + (i & 3) + (i & 4) * 4, 0, k, 16,
				    t->a[i][k]);
			else
				put(lane, 4 * (i % 8) + w % 4, 2 * (w / 4) + i / 8, in, ba,
				    t->a[i][k]);
		}
	for (u32 j = 0; j < t->columns; j++)
		for (u32 k = 0; k < (f->layout == QUADS ? 16 : f->k); k++) {
			u32 w = k * bb / 32, in = k % (32 / bb);

			if (f->layout == QUADS)
				put(lane, 4 * (k / 4) + (j & 3) + (j & 4) * 4, 8, k % 4, 16,
				    t->b[j][k]);
			else
				put(lane, 4 * j + w % 4, 8 + w / 4, in, bb, t->b[j][k]);
		}
	for (u32 i = 0; i < t->rows; i++)
		for (u32 j = 0; j < t->columns; j++) {
			u32 l = sum_lane(f, f->kinds[2], i, j, &e);

			put(lane, l, 16, e, bits_of(f->kinds[2]), t->c[i][j]);
		}
}

/* wmma: A, B and C as matrices, one behind the other. */
static void lay_matrices(const struct tile *t, const struct form *f, u8 *to)
{
	for (u32 i = 0; i < 16; i++)
		for (u32 k = 0; k < 16; k++) {
			u16 a = (u16)t->a[i][k], b = (u16)t->b[i][k];
			u32 bytes = bits_of(f->kinds[2]) / 8;

			memcpy(to + 2 * (16 * i + k), &a, 2);
			memcpy(to + 512 + 2 * (16 * i + k), &b, 2);
			memcpy(to + 1024 + bytes * (16 * i + k), &t->c[i][k], bytes);
		}
}

static void take(const struct form *f, const u8 *from, struct tile *t)
{
	u32 bits = bits_of(f->kinds[3]), e;

	for (u32 i = 0; i < t->rows; i++)
		for (u32 j = 0; j < t->columns; j++) {
			t->d[i][j] = 0;
			if (f->layout == WMMA) {
				memcpy(&t->d[i][j], from + bits / 8 * (16 * i + j), bits / 8);
			} else {
				u32 l = sum_lane(f, f->kinds[3], i, j, &e);

				t->d[i][j] =
					get((u32(*)[LANE_WORDS])(uintptr_t)from, l, 0, e, bits);
			}
		}
}

/* ---- kernels ---- */

#define TILE_BYTES (32 * LANE_WORDS * 4u)

static void list(char *to, size_t size, const char *name, u32 n)
{
	size_t at = (size_t)snprintf(to, size, "{");

	for (u32 i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%s%u", i ? "," : "", name, i);
	snprintf(to + at, size - at, "}");
}

static u32 registers(const struct form *f, enum dot_kind kind)
{
	u32 elements = f->layout == WORDS ? 4 : 8;

	return elements * bits_of(kind) / 32;
}

static void write_head(char *ptx, const struct form *f)
{
	snprintf(
		ptx, PTX_MAX,
		".version 8.8\n.target %s\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out)\n"
		"{ .reg .b32 %%a<8>, %%b<8>; .reg .%s %%c<8>; .reg .%s %%d<8>; .reg .u64 %%i, %%j, %%o;\n"
		".reg .u32 %%t, %%w; ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; mov.u32 %%w,%%ctaid.x;\n"
		"mad.wide.u32 %%i,%%w,%u,%%i; mad.wide.u32 %%o,%%w,%u,%%o; mov.u32 %%t,%%tid.x;\n",
		strstr(f->text, "kind::") ? "sm_120a" : "sm_90a",
		f->kinds[2] == DOT_F32 ? "f32" : "b32", f->kinds[3] == DOT_F32 ? "f32" : "b32",
		TILE_BYTES, TILE_BYTES);
}

static void write_wmma(const struct form *f, char *ptx)
{
	const char *tc = dot_formats[f->kinds[2]].name, *td = dot_formats[f->kinds[3]].name;
	char a[64], b[64], c[64], d[64];
	size_t at = strlen(ptx);

	list(a, sizeof(a), "%a", 8);
	list(b, sizeof(b), "%b", 8);
	list(c, sizeof(c), "%c", registers(f, f->kinds[2]));
	list(d, sizeof(d), "%d", registers(f, f->kinds[3]));
	snprintf(
		ptx + at, PTX_MAX - at,
		"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 %s,[%%i];\n"
		"add.u64 %%j,%%i,512; wmma.load.b.sync.aligned.col.m16n16k16.global.f16 %s,[%%j];\n"
		"add.u64 %%j,%%i,1024; wmma.load.c.sync.aligned.row.m16n16k16.global.%s %s,[%%j];\n"
		"%s %s,%s,%s,%s;\n"
		"wmma.store.d.sync.aligned.row.m16n16k16.global.%s [%%o],%s;\nret; }\n",
		a, b, tc, c, f->text, d, a, b, c, td, d);
}

static void write_words(const struct form *f, char *ptx)
{
	u32 na = f->layout == QUADS ? 2 : f->k * bits_of(f->kinds[0]) / 64,
	    nb = f->layout == QUADS ? 2 : f->k * bits_of(f->kinds[1]) / 128;
	char a[64], b[64], c[64], d[64];
	size_t at = strlen(ptx);

	at += (size_t)snprintf(ptx + at, PTX_MAX - at,
			       "mad.wide.u32 %%i,%%t,%u,%%i; mad.wide.u32 %%o,%%t,%u,%%o;\n",
			       4 * LANE_WORDS, 4 * LANE_WORDS);
	for (u32 i = 0; i < 8; i++)
		at += (size_t)snprintf(
			ptx + at, PTX_MAX - at,
			"ld.global.b32 %%a%u,[%%i+%u]; ld.global.b32 %%b%u,[%%i+%u];\n"
			"ld.global.b32 %%c%u,[%%i+%u];\n",
			i, 4 * i, i, 32 + 4 * i, i, 64 + 4 * i);
	list(a, sizeof(a), "%a", na);
	list(b, sizeof(b), "%b", nb);
	list(c, sizeof(c), "%c", registers(f, f->kinds[2]));
	list(d, sizeof(d), "%d", registers(f, f->kinds[3]));
	at += (size_t)snprintf(ptx + at, PTX_MAX - at, "%s %s,%s,%s,%s;\n", f->text, d, a, b, c);
	for (u32 i = 0; i < registers(f, f->kinds[3]); i++)
		at += (size_t)snprintf(ptx + at, PTX_MAX - at, "st.global.b32 [%%o+%u],%%d%u;\n",
				       4 * i, i);
	snprintf(ptx + at, PTX_MAX - at, "ret; }\n");
}

/* ---- comparison ---- */

struct job {
	struct harness h;
	u64 params[2];
	u32 tiles;
	bool print, results;
};

static struct dot_rule rule_of(const struct part *p, const struct form *f)
{
	enum dot_kind kind = f->kinds[0];
	u32 block = kind == DOT_TF32 ? p->tf32 : kind >= DOT_E4M3 ? p->small : p->f16;

	/* four products of T4 are made as V100's; wmma of tf32 would be in fours on H200 */
	return (struct dot_rule){p->fraction, p->below, f->layout == QUADS ? 4 : block};
}

static void print_case(const struct part *p, const struct form *f, u32 style, const struct tile *t,
		       u32 i, u32 j)
{
	const char *shape = strstr(f->text, "aligned.") + 8;

	printf("%s %s%s %s ", p->name, f->layout == WMMA ? "wmma." : "", shape, styles[style]);
	for (u32 k = 0; k < f->k; k++)
		printf("%x%c", t->a[i][k], k + 1 < f->k ? ',' : ' ');
	for (u32 k = 0; k < f->k; k++)
		printf("%x%c", t->b[j][first_k(f, i) + k], k + 1 < f->k ? ',' : ' ');
	printf("%x %x\n", t->c[i][j], t->d[i][j]);
}

/* Elements that are not as the model has them. */
static u32 compare(const struct part *p, const struct form *f, const struct tile *t, char *first)
{
	struct dot_rule rule = rule_of(p, f);
	u32 wrong = 0;

	for (u32 i = 0; i < t->rows; i++)
		for (u32 j = 0; j < t->columns; j++) {
			u32 want = dot_sum(&rule, f->kinds, t->a[i], t->b[j] + first_k(f, i), f->k,
					   t->c[i][j], 0);

			if (want != t->d[i][j] && !wrong++)
				snprintf(first, 80, " (row %u column %u: %x, not %x)", i, j,
					 t->d[i][j], want);
		}
	return wrong;
}

static u64 digest_of(u64 digest, const struct tile *t)
{
	for (u32 i = 0; i < t->rows; i++)
		for (u32 j = 0; j < t->columns; j++)
			digest = (digest ^ t->d[i][j]) * 0x100000001b3u;
	return digest;
}

static bool run_tiles(struct job *job, const struct form *f, struct tile *t, u32 n)
{
	u8 *in = (u8 *)(uintptr_t)job->params[0];
	const u8 *out = (const u8 *)(uintptr_t)job->params[1];

	memset(in, 0, (size_t)n * TILE_BYTES);
	for (u32 i = 0; i < n; i++) {
		t[i].rows = f->layout == QUADS ? 32 : 16;
		t[i].columns = f->layout == WMMA ? 16 : 8;
		if (f->layout == WMMA)
			lay_matrices(&t[i], f, in + i * TILE_BYTES);
		else
			lay_words(f, &t[i], (u32(*)[LANE_WORDS])(void *)(in + i * TILE_BYTES));
	}
	if (harness_run(&job->h, "k", n, 32, job->params, NULL) != STOP_DONE)
		return false;
	for (u32 i = 0; i < n; i++)
		take(f, out + i * TILE_BYTES, &t[i]);
	return true;
}

static bool run_batch(struct job *job, const struct form *f, u32 style, struct tile *t, u32 n)
{
	for (u32 i = 0; i < n; i++)
		fill(f, style, &t[i]);
	return run_tiles(job, f, t, n);
}

static u64 run_style(struct job *job, const struct part *p, const struct form *f, u32 style)
{
	static struct tile t[BATCH];
	char what[200], first[80] = "";
	u64 digest = 0xcbf29ce484222325u;
	u32 wrong = 0;
	bool ran = true;

	state = (u64)(p - parts) * 1000003 + (u64)(f - forms) * 101 + style;
	for (u32 done = 0, n; done < job->tiles && ran; done += n) {
		n = done < DIGEST_TILES ? DIGEST_TILES : BATCH;
		n = n < job->tiles - done ? n : job->tiles - done;
		ran = run_batch(job, f, style, t, n);
		for (u32 i = 0; i < n && ran; i++) {
			wrong += compare(p, f, &t[i], first);
			digest = done < DIGEST_TILES ? digest_of(digest, &t[i]) : digest;
			for (u32 j = 0; j < 4 && job->print; j++)
				print_case(p, f, style, &t[i], next() % t[i].rows,
					   next() % t[i].columns);
		}
	}
	snprintf(what, sizeof(what), "%s: %s, %s: as published%s", p->name, f->text, styles[style],
		 first);
	if (job->print)
		fprintf(stderr, "%s: %u differ\n", what, wrong);
	else
		CHECK_MSG(ran && !wrong, what);
	return digest;
}

struct expected {
	char part[16], text[120];
	unsigned long long digest[STYLES];
};

static void check_digests(FILE *file, const struct part *p, const struct form *f, const u64 *digest)
{
	struct expected e;
	char what[200];
	bool same = false;

	snprintf(what, sizeof(what), "%s: %s: digests", p->name, f->text);
	rewind(file);
	while (fscanf(file, "%15s %119s %llx %llx %llx %llx %llx", e.part, e.text, &e.digest[0],
		      &e.digest[1], &e.digest[2], &e.digest[3], &e.digest[4]) == 2 + (int)STYLES)
		if (!strcmp(e.part, p->name) && !strcmp(e.text, f->text)) {
			same = true;
			for (u32 s = 0; s < STYLES; s++)
				same &= e.digest[s] == digest[s];
		}
	CHECK_MSG(same, what);
}

static void run_styles(struct job *job, const struct part *p, const struct form *f, FILE *file)
{
	u64 digest[STYLES];

	for (u32 s = 0; s < STYLES; s++)
		digest[s] = run_style(job, p, f, s);
	if (file)
		check_digests(file, p, f, digest);
	else if (!job->print)
		printf("%s\t%s\t%016llx\t%016llx\t%016llx\t%016llx\t%016llx\n", p->name, f->text,
		       (unsigned long long)digest[0], (unsigned long long)digest[1],
		       (unsigned long long)digest[2], (unsigned long long)digest[3],
		       (unsigned long long)digest[4]);
}

/* ---- results of others ---- */

#define LINE 2048u

struct result {
	u32 a[32], b[32], c, d;
};

static void read_row(const char *text, u32 *to)
{
	char *end;

	memset(to, 0, 32 * sizeof(*to));
	for (u32 k = 0; k < 32; k++, text = end + 1) {
		to[k] = (u32)strtoul(text, &end, 16);
		if (*end != ',')
			break;
	}
}

/* The next line of this part and form. */
static bool read_result(FILE *file, const char *part, const char *shape, struct result *r)
{
	static char line[LINE], p[16], s[100], a[LINE], b[LINE];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%15s %99s %*s %s %s %x %x", p, s, a, b, &r->c, &r->d) == 6 &&
		    !strcmp(p, part) && !strcmp(s, shape)) {
			read_row(a, r->a);
			read_row(b, r->b);
			return true;
		}
	return false;
}

/* Each result is the first element of a tile of its own. */
static void check_results(struct job *job, const struct part *p, const struct form *f, FILE *file)
{
	static struct tile t[BATCH];
	static struct result r[BATCH];
	const char *shape = strstr(f->text, "aligned.") + 8;
	char name[120], what[384], first[80] = "";
	u32 n, seen = 0, wrong = 0;

	snprintf(name, sizeof(name), "%s%s", f->layout == WMMA ? "wmma." : "", shape);
	rewind(file);
	do {
		for (n = 0; n < BATCH && read_result(file, p->name, name, &r[n]); n++) {
			memset(&t[n], 0, sizeof(t[n]));
			memcpy(t[n].a[0], r[n].a, sizeof(r[n].a));
			memcpy(t[n].b[0], r[n].b, sizeof(r[n].b));
			t[n].c[0][0] = r[n].c;
		}
		if (n && !run_tiles(job, f, t, n))
			wrong++;
		for (u32 i = 0; i < n; i++)
			if (t[i].d[0][0] != r[i].d && !wrong++)
				snprintf(first, sizeof(first), " (number %u: %x, not %x)", seen + i,
					 t[i].d[0][0], r[i].d);
		seen += n;
	} while (n == BATCH);
	if (!seen)
		return;
	snprintf(what, sizeof(what), "%s: %s: %u of %u results%s", p->name, name, seen - wrong,
		 seen, first);
	CHECK_MSG(!wrong, what);
}

static void run_form(struct job *job, const struct part *p, const struct form *f, FILE *file)
{
	char ptx[PTX_MAX];

	write_head(ptx, f);
	if (f->layout == WMMA)
		write_wmma(f, ptx);
	else
		write_words(f, ptx);
	if (!CHECK_MSG(harness_open(&job->h, ptx), f->text))
		return;
	job->h.device = p->device;
	job->params[0] = mem_alloc(&job->h.mem, BATCH * TILE_BYTES, 0, MEM_KIND_DEVICE);
	job->params[1] = mem_alloc(&job->h.mem, BATCH * TILE_BYTES, 0, MEM_KIND_DEVICE);
	if (job->results)
		check_results(job, p, f, file);
	else
		run_styles(job, p, f, file);
	harness_close(&job->h);
}

int main(int argc, char **argv)
{
	static const char letters[] = "VTA4HB";
	const char *option = argc > 1 && argv[1][0] == '-' ? argv[1] : "";
	const char *count = argv[option[0] && argc > 2 ? 2 : argc - 1],
		   *only = argc > 3 ? argv[3] : NULL;
	struct job job = {.tiles = DIGEST_TILES, .print = option[0] && option[1] == 'p'};
	FILE *file = NULL;

	job.results = option[0] && option[1] == 'c';
	if (job.results) {
		file = fopen(count, "r");
		CHECK_MSG(file != NULL, count);
	} else if (count[0] >= '1' && count[0] <= '9')
		job.tiles = (u32)strtoul(count, NULL, 10);
	if (!option[0] && job.tiles >= DIGEST_TILES) {
		const char *dir = getenv("srcdir");
		char path[512];

		snprintf(path, sizeof(path), "%s/tests/vectors/matrix_models.tsv", dir ? dir : ".");
		file = fopen(path, "r");
		CHECK_MSG(file != NULL, path);
	}
	for (u32 f = 0; f < FORMS; f++)
		make_form(specs[f].text, &forms[f]);
	for (u32 p = 0; p < ARRAY_LEN(parts); p++)
		for (u32 f = 0; f < FORMS; f++)
			if (strchr(specs[f].parts, letters[p]) &&
			    (!only || !strcmp(only, parts[p].name)))
				run_form(&job, &parts[p], &forms[f], file);
	if (file)
		fclose(file);
	return option[0] && !job.results ? 0 : check_done();
}
