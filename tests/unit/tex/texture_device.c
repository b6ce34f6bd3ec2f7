/*
 * Fetches of every shape, format and kind against sums measured on an H200.
 *
 *   exec_texture_device                 compare
 *   exec_texture_device --suite DIR     write the cases as a suite that a runner of driver calls
 *                                       takes
 *   exec_texture_device --sums RESULTS  print the table anew from what a device returned for them
 *
 * Texels and coordinates are numbers of a generator, so the table holds a sum for each case and
 * nothing else. The suite is manifest.tsv, inputs.bin and ptx/device.ptx in the form that
 * tests/oracle/run_suite reads.
 */
#include "tests/check.h"
#include "src/dev/texture/texture.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SAMPLES 128u
#define WORDS 10u /* of a sample: layer, place, level or two gradients */
#define SIZE 16u  /* texels along each side */

enum op { OP_FETCH, OP_LEVEL, OP_GRADIENT, OP_GATHER, OPS };

static const struct shape {
	const char *name;
	u64 width, height, depth;
	u32 flags;
	u8 geometry, coords;
	bool layered;
} shapes[] = {
	{"1d", SIZE, 0, 0, 0, TEX_1D, 1, false},
	{"2d", SIZE, SIZE, 0, 0, TEX_2D, 2, false},
	{"3d", SIZE, SIZE, SIZE, 0, TEX_3D, 3, false},
	{"a1d", SIZE, 0, 3, MEM_ARRAY_LAYERED, TEX_1D, 1, true},
	{"a2d", SIZE, SIZE, 3, MEM_ARRAY_LAYERED, TEX_2D, 2, true},
	{"cube", SIZE, SIZE, 6, MEM_ARRAY_CUBEMAP, TEX_CUBE, 3, false},
	{"acube", SIZE, SIZE, 12, MEM_ARRAY_CUBEMAP | MEM_ARRAY_LAYERED, TEX_CUBE, 3, true},
};

/* view: the block format that an array of u32 is seen as, 0: none. */
static const struct format {
	const char *name;
	u32 format, channels, flags, view;
} formats[] = {
	{"u8", MEM_FORMAT_U8, 4, 0, 0},
	{"srgb", MEM_FORMAT_U8, 4, TEXTURE_SRGB, 0},
	{"srgb2", MEM_FORMAT_U8, 2, TEXTURE_SRGB, 0},
	{"s8", MEM_FORMAT_S8, 2, 0, 0},
	{"u16", MEM_FORMAT_U16, 1, 0, 0},
	{"s16", MEM_FORMAT_S16, 2, 0, 0},
	{"f16", MEM_FORMAT_F16, 2, 0, 0},
	{"f32", MEM_FORMAT_F32, 1, 0, 0},
	{"ten", MEM_FORMAT_RGB10A2, 4, 0, 0},
	{"unorm8", MEM_FORMAT_UNORM8X1 + 2, 4, 0, 0},
	{"snorm16", MEM_FORMAT_SNORM16X1 + 1, 2, 0, 0},
	{"bc1", MEM_FORMAT_U32, 2, 0, 25},
	{"bc1 srgb", MEM_FORMAT_U32, 2, TEXTURE_SRGB, 25},
	{"bc2", MEM_FORMAT_U32, 4, 0, 26},
	{"bc3", MEM_FORMAT_U32, 4, 0, 27},
	{"bc4", MEM_FORMAT_U32, 2, 0, 28},
	{"bc4 signed", MEM_FORMAT_U32, 2, 0, 29},
	{"bc5", MEM_FORMAT_U32, 4, 0, 30},
	{"bc5 signed", MEM_FORMAT_U32, 4, 0, 31},
	{"bc6h", MEM_FORMAT_U32, 4, 0, 32},
	{"bc6h signed", MEM_FORMAT_U32, 4, 0, 33},
	{"bc7", MEM_FORMAT_U32, 4, 0, 34},
	{"bc7 srgb", MEM_FORMAT_U32, 4, TEXTURE_SRGB, 34},
	{"bc3 array", MEM_FORMAT_BC3, 4, 0, 0},
	{"bc4 array", MEM_FORMAT_BC4, 1, 0, 0},
	{"bc6h array", MEM_FORMAT_BC6H, 3, 0, 0},
};

/* How a texture is read. Kinds of several levels come with a mipmapped array. */
static const struct kind {
	const char *name;
	u8 op;
	u32 levels;
	s32 filter, mip_filter;
	bool normalized;
	u32 anisotropy;
	f32 bias, level_min, level_max;
} kinds[] = {
	{"point", OP_FETCH, 0, 0, 0, false, 0, 0, 0, 0},
	{"linear", OP_FETCH, 0, 1, 0, false, 0, 0, 0, 0},
	{"normalized", OP_FETCH, 0, 1, 0, true, 0, 0, 0, 0},
	{"gather", OP_GATHER, 0, 0, 0, true, 0, 0, 0, 0},
	{"levels", OP_LEVEL, 4, 0, 0, true, 0, 0.3f, 0, 3},
	{"two levels", OP_LEVEL, 4, 1, 1, true, 0, 0.75f, 0.25f, 2.8f},
	{"gradients", OP_GRADIENT, 4, 0, 0, true, 0, 0, 0, 3},
	{"gradients, two levels", OP_GRADIENT, 4, 1, 1, true, 0, -0.2f, 0, 3},
	{"taps", OP_GRADIENT, 4, 1, 0, true, 8, 0, 0, 3},
};

#define CASES (ARRAY_LEN(shapes) * ARRAY_LEN(formats) * ARRAY_LEN(kinds))

/* By case; 0: there is no such one, or it deviates. */
static const u32 sums[CASES] = {
#include "tests/unit/tex/texture_device.def"
};

struct test {
	const struct shape *s;
	const struct format *f;
	const struct kind *k;
	u32 number;
	u32 in[SAMPLES][WORDS];
	u8 data[1 << 17]; /* levels one behind the other */
	u64 bytes;
};

static struct mem mem;
static const struct arch *arch;
static struct texture_store *store;

static bool get_case(u32 number, struct test *t)
{
	bool blocks;

	t->number = number;
	t->k = &kinds[number % ARRAY_LEN(kinds)];
	t->f = &formats[number / ARRAY_LEN(kinds) % ARRAY_LEN(formats)];
	t->s = &shapes[number / ARRAY_LEN(kinds) / ARRAY_LEN(formats)];
	blocks = t->f->view || mem_format_block(t->f->format) > 1;
	if (blocks &&
	    (t->s->geometry != TEX_2D || t->s->layered || t->k->levels || t->k->op == OP_GATHER))
		return false;
	if (t->k->op == OP_GATHER && (t->s->geometry == TEX_1D || t->s->geometry == TEX_3D))
		return false;
	/* Coordinates on a cube are directions. */
	if (t->s->geometry == TEX_CUBE && !t->k->normalized)
		return false;
	return !t->k->anisotropy || (t->s->geometry == TEX_2D && !t->s->layered);
}

/* ---- numbers ---- */

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (u32)(*state >> 33);
}

/* From `from` to `to`, in 1/65536 of the way. */
static f32 between(u64 *state, f32 from, f32 to)
{
	return from + (to - from) * (f32)(next_random(state) >> 15) * 0x1p-16f;
}

static void fill(struct test *t, u64 *state)
{
	u32 format = t->f->format;

	for (u64 i = 0; i < t->bytes; i++)
		t->data[i] = (u8)(next_random(state) >> 7);
	/* Floats of like size. */
	for (u64 i = 3; i < t->bytes && format == MEM_FORMAT_F32; i += 4)
		t->data[i] = (u8)((t->data[i] & 0x80) | 0x3f);
	for (u64 i = 1; i < t->bytes && format == MEM_FORMAT_F16; i += 2)
		t->data[i] = (u8)((t->data[i] & 0x83) | 0x38);
	/* Every mode of BC7 as often as the others. */
	for (u64 i = 0; i < t->bytes && t->f->view == 34; i += 16)
		t->data[i] = (u8)((t->data[i] | 1) << (i / 16 % 8));
}

/* Of one direction: both gradients of a footprint that is one, or a row of taps. */
static void make_gradients(const struct test *t, u32 *w, u64 *state)
{
	bool cube = t->s->geometry == TEX_CUBE;
	u32 which = next_random(state) % t->s->coords;
	f32 length = exp2f((f32)(next_random(state) % 13) / 4) / (f32)SIZE;

	if (cube) {
		/* In the middle half of the face it stays there. */
		which = next_random(state) % 3;
		for (u32 i = 0; i < 3; i++)
			w[1 + i] = bits_f32(i == which ? 1.0f : between(state, -0.5f, 0.5f));
		which = (which + 1) % 3;
		length /= 8;
	}
	w[4 + which] = bits_f32(length);
	if (t->k->anisotropy)
		w[7 + (which + 1) % 2] = bits_f32(1.0f / (f32)SIZE);
}

static void make_samples(struct test *t, u64 *state)
{
	bool cube = t->s->geometry == TEX_CUBE;
	f32 size = t->k->normalized ? 1 : (f32)SIZE;

	memset(t->in, 0, sizeof(t->in));
	for (u32 i = 0; i < SAMPLES; i++) {
		u32 *w = t->in[i];

		w[0] = next_random(state) % 4;
		for (u32 d = 0; d < t->s->coords; d++)
			w[1 + d] = bits_f32(cube ? between(state, -1, 1)
						 : between(state, -0.25f, 1.25f) * size);
		if (t->k->op == OP_LEVEL)
			w[4] = bits_f32(between(state, -0.5f, 3.5f));
		if (t->k->op == OP_GRADIENT)
			make_gradients(t, w, state);
	}
}

/* ---- the texture ---- */

static u32 element_bytes(const struct format *f)
{
	return mem_format_bytes(f->format, f->channels);
}

static struct mem_array_desc describe(const struct test *t)
{
	struct mem_array_desc d = {t->s->width,  t->s->height,   t->s->depth,
				   t->f->format, t->f->channels, t->s->flags};

	if (t->f->view) {
		d.width /= 4;
		d.height /= 4;
	}
	return d;
}

static void set(const struct test *t, struct texture_desc *d)
{
	struct texture_settings *s = &d->settings;

	for (u32 i = 0; i < 3; i++)
		s->address[i] = (s32)((t->number + i) % 4);
	s->filter = t->k->filter;
	s->mip_filter = t->k->mip_filter;
	s->flags = t->f->flags | (t->k->normalized ? TEXTURE_NORMALIZED : 0u);
	if (t->s->geometry == TEX_CUBE && t->number % 2)
		s->flags |= TEXTURE_SEAMLESS;
	s->anisotropy = t->k->anisotropy;
	s->bias = t->k->bias;
	s->level_min = t->k->level_min;
	s->level_max = t->k->level_max;
	s->border[0] = 0.25f;
	s->border[1] = 0.5f;
	s->border[3] = 1;
	d->has_view = t->f->view != 0;
	if (d->has_view)
		d->view =
			(struct texture_view){.format = t->f->view, .width = SIZE, .height = SIZE};
}

static u32 level_count(const struct texture_desc *d)
{
	return d->resource.mipmap ? d->resource.mipmap->levels : 1;
}

static const struct mem_array *level_of(const struct texture_desc *d, u32 i)
{
	return d->resource.mipmap ? &d->resource.mipmap->level[i] : d->resource.array;
}

/* Make the image and its samples; the texture itself if `handle` is given. */
static bool make(struct test *t, struct texture_desc *d, u64 *handle)
{
	struct mem_array_desc a = describe(t);
	u64 state = t->number * 977 + 1, at = 0;
	bool ok;

	*d = (struct texture_desc){
		.resource = {.kind = t->k->levels ? TEXTURE_MIPMAP : TEXTURE_ARRAY}};
	ok = t->k->levels ? !mem_mipmap_create(&mem, arch, &a, t->k->levels, &d->resource.mipmap)
			  : !mem_array_create(&mem, arch, &a, &d->resource.array);
	if (!ok)
		return false;
	t->bytes = 0;
	for (u32 i = 0; i < level_count(d); i++)
		t->bytes += level_of(d, i)->bytes;
	if (t->bytes > sizeof(t->data))
		return false;
	fill(t, &state);
	for (u32 i = 0; i < level_count(d); i++) {
		const struct mem_array *l = level_of(d, i);

		memcpy(mem_pointer(&mem, l->base), t->data + at, l->bytes);
		at += l->bytes;
	}
	make_samples(t, &state);
	set(t, d);
	return !texture_create(store, d, handle);
}

static void destroy(struct texture_desc *d, u64 handle)
{
	texture_destroy(store, handle, TEX_TEXTURE);
	if (d->resource.mipmap)
		mem_mipmap_destroy(&mem, d->resource.mipmap);
	else
		mem_array_destroy(&mem, d->resource.array);
}

static u32 sum_of(const u32 (*out)[4])
{
	u64 h = hash_bytes(out, SAMPLES * sizeof(*out));

	return (u32)(h ^ h >> 32);
}

/* What our engine fetches. */
static u32 fetch_sum(const struct test *t, u64 handle)
{
	static const u8 modes[OPS] = {TEX_IMPLICIT, TEX_LEVEL, TEX_GRADIENT, TEX_IMPLICIT};
	const struct tex_object *o = tex_find(texture_table(store), handle, TEX_TEXTURE);
	u32 out[SAMPLES][4];

	for (u32 i = 0; i < SAMPLES; i++) {
		const u32 *w = t->in[i];
		struct tex_request r = {.geometry = t->s->geometry,
					.layered = t->s->layered,
					.mode = modes[t->k->op],
					.gather = t->k->op == OP_GATHER,
					.component = 0,
					.layer = w[0],
					.level = w[4]};

		memcpy(r.coord, w + 1, sizeof(r.coord));
		memcpy(r.dx, w + 4, sizeof(r.dx));
		memcpy(r.dy, w + 7, sizeof(r.dy));
		tex_fetch(o, &o->sampler, &r, out[i]);
	}
	return sum_of(out);
}

/* ---- the suite ---- */

static void write_kernel(FILE *f, const struct shape *s, enum op op)
{
	static const char *const names[OPS] = {"tex", "tex.level", "tex.grad", "tld4.r"};
	static const char *const vectors[] = {"", "{%s0}", "{%s0,%s1}", "{%s0,%s1,%s2,%s2}"};
	char place[64], from[64], to[64];

	snprintf(place, sizeof(place), "%s%s%s%s%s", s->layered ? "%l," : "", "%c0",
		 s->coords > 1 ? ",%c1" : "", s->coords > 2 ? ",%c2" : "",
		 s->layered ? (s->coords == 2 ? ",%c1" : "") : (s->coords == 3 ? ",%c2" : ""));
	snprintf(from, sizeof(from), vectors[s->coords], "%g", "%g", "%g", "%g");
	snprintf(to, sizeof(to), vectors[s->coords], "%h", "%h", "%h", "%h");
	fprintf(f,
		".visible .entry k_%s_%u(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 tex)\n"
		"{ .reg .u64 %%i,%%o,%%t; .reg .u32 %%x,%%m; .reg .pred %%p; .reg .b32 %%l;\n"
		".reg .f32 %%c<3>,%%g<3>,%%h<3>,%%d<4>;\n"
		"ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; ld.param.u64 %%t,[tex]; ld.param.u32 %%m,[n];\n"
		"mov.u32 %%x,%%tid.x; setp.ge.u32 %%p,%%x,%%m; @%%p ret;\n"
		"mad.wide.u32 %%i,%%x,40,%%i; mad.wide.u32 %%o,%%x,16,%%o; ld.global.b32 %%l,[%%i];\n",
		s->name, op);
	for (u32 i = 0; i < 3; i++)
		fprintf(f,
			"ld.global.f32 %%c%u,[%%i+%u]; ld.global.f32 %%g%u,[%%i+%u]; "
			"ld.global.f32 %%h%u,[%%i+%u];\n",
			i, 4 + 4 * i, i, 16 + 4 * i, i, 28 + 4 * i);
	fprintf(f, "%s.%s.v4.f32.f32 {%%d0,%%d1,%%d2,%%d3},[%%t,{%s}]", names[op], s->name, place);
	if (op == OP_LEVEL)
		fprintf(f, ",%%g0");
	if (op == OP_GRADIENT)
		fprintf(f, ",%s,%s", from, to);
	fprintf(f, ";\nst.global.v4.f32 [%%o],{%%d0,%%d1,%%d2,%%d3}; ret; }\n");
}

static void write_line(FILE *f, const struct test *t, const struct texture_settings *s, u64 in,
		       u64 data)
{
	struct mem_array_desc d = describe(t);
	u32 block = mem_format_block(t->f->format);

	fprintf(f,
		"open/device/%u\topen\tdevice\t%u\tsm_75\tptx/device.ptx\tk_%s_%u\t1\t1\t1\t128\t1\t1\t0\t%u\t"
		"%llu\t%u\t%u\texact\t40:16:4\twords\t%llu\t%llu\t",
		t->number, t->number, t->s->name, t->k->op, SAMPLES, (unsigned long long)in,
		(u32)sizeof(t->in), SAMPLES * 16, (unsigned long long)data,
		(unsigned long long)t->bytes);
	fprintf(f,
		"kind=arr obj=tex fmt=%u ch=%u elt=%u w=%u h=%u d=%u aflags=%u levels=%u am=%d,%d,%d "
		"filter=%d tflags=%u mipfilter=%d bias=%u minl=%u maxl=%u aniso=%u border=%u,%u,0,%u block=%u",
		d.format, d.channels, element_bytes(t->f), (u32)d.width, (u32)d.height,
		(u32)d.depth, d.flags, t->k->levels, s->address[0], s->address[1], s->address[2],
		s->filter, s->flags, s->mip_filter, bits_f32(s->bias), bits_f32(s->level_min),
		bits_f32(s->level_max), s->anisotropy, bits_f32(s->border[0]),
		bits_f32(s->border[1]), bits_f32(s->border[3]), block);
	if (t->f->view)
		fprintf(f, " view=%u vw=%u vh=%u", t->f->view, SIZE, SIZE);
	fprintf(f, "\n");
}

static FILE *open_in(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, "wb");
}

static int write_suite(const char *dir)
{
	FILE *lines, *inputs, *ptx;
	static struct test t;
	char path[4096];
	u64 at = 0;

	snprintf(path, sizeof(path), "%s/ptx", dir);
	mkdir(dir, 0777);
	mkdir(path, 0777);
	lines = open_in(dir, "manifest.tsv");
	inputs = open_in(dir, "inputs.bin");
	ptx = open_in(dir, "ptx/device.ptx");
	if (!lines || !inputs || !ptx)
		return 2;
	fprintf(ptx, ".version 8.0\n.target sm_75\n.address_size 64\n");
	for (u32 i = 0; i < ARRAY_LEN(shapes); i++)
		for (u32 k = 0; k < OPS; k++)
			if (k != OP_GATHER ||
			    (shapes[i].geometry != TEX_1D && shapes[i].geometry != TEX_3D))
				write_kernel(ptx, &shapes[i], k);
	fprintf(lines, "#\n");
	for (u32 i = 0; i < CASES; i++) {
		struct texture_desc d;
		u64 handle;

		if (!get_case(i, &t) || !make(&t, &d, &handle))
			continue;
		fwrite(t.in, 1, sizeof(t.in), inputs);
		fwrite(t.data, 1, t.bytes, inputs);
		write_line(lines, &t, &d.settings, at, at + sizeof(t.in));
		at += sizeof(t.in) + t.bytes;
		destroy(&d, handle);
	}
	return fclose(lines) | fclose(inputs) | fclose(ptx) ? 2 : 0;
}

/* The results lie one behind the other, in the order of the cases. */
static int print_sums(const char *path)
{
	FILE *f = fopen(path, "rb");
	static struct test t;

	if (!f)
		return 2;
	for (u32 i = 0; i < CASES; i++) {
		u32 out[SAMPLES][4], sum = 0;
		struct texture_desc d;
		u64 handle;

		if (get_case(i, &t) && make(&t, &d, &handle)) {
			if (fread(out, 1, sizeof(out), f) != sizeof(out))
				return 2;
			sum = sum_of(out);
			/* What is known to deviate is left out, and said so. */
			if (sum != fetch_sum(&t, handle)) {
				fprintf(stderr, "differs: %s of %s, %s\n", t.s->name, t.f->name,
					t.k->name);
				sum = 0;
			}
			destroy(&d, handle);
		}
		printf("0x%08x,%s", sum, i % 9 == 8 ? "\n" : " ");
	}
	return fclose(f) ? 2 : 0;
}

static void compare(void)
{
	static struct test t;

	for (u32 i = 0; i < CASES; i++) {
		struct texture_desc d;
		char what[96];
		u64 handle;

		if (!sums[i] || !CHECK_MSG(get_case(i, &t), "a case that was measured is there"))
			continue;
		snprintf(what, sizeof(what), "%s of %s, %s", t.s->name, t.f->name, t.k->name);
		if (!make(&t, &d, &handle)) {
			CHECK_MSG(false, what);
			continue;
		}
		CHECK_MSG(fetch_sum(&t, handle) == sums[i], what);
		destroy(&d, handle);
	}
}

int main(int argc, char **argv)
{
	int status = 0;

	arch = arch_find("h200");
	if (!arch || !mem_init(&mem, (u64)1 << 28) || !(store = texture_store_new(&mem, arch)))
		return 2;
	if (argc == 3 && !strcmp(argv[1], "--suite"))
		status = write_suite(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "--sums"))
		status = print_sums(argv[2]);
	else
		compare();
	texture_store_free(store);
	mem_fini(&mem);
	return argc == 3 ? status : check_done();
}
