/*
 * Textures and surfaces: fetches of every format and shape against sums of results whose rules were
 * confirmed on an H200 (docs/textures.md), objects and their handles, and the instructions in a
 * kernel. `exec_texture --print` writes the table anew.
 */
#include "tests/check.h"
#include "src/lower/lower.h"
#include "tests/skip.h"
#include "src/dev/texture/texture.h"
#include "src/tex/texture.h"
#include "tests/unit/exec_harness.h"

#define SAMPLES 64u

static const struct shape {
	const char *name;
	u64 width, height, depth;
	u32 flags, levels;
	u8 geometry;
	bool layered;
} shapes[] = {
	{"1d", 13, 0, 0, 0, 0, TEX_1D, false},     {"2d", 9, 6, 0, 0, 0, TEX_2D, false},
	{"3d", 5, 4, 3, 0, 0, TEX_3D, false},      {"a1d", 8, 0, 3, 1, 0, TEX_1D, true},
	{"a2d", 7, 5, 2, 1, 0, TEX_2D, true},      {"cube", 4, 4, 6, 4, 0, TEX_CUBE, false},
	{"acube", 4, 4, 12, 5, 0, TEX_CUBE, true}, {"mip", 16, 8, 0, 0, 4, TEX_2D, false},
};

static const struct format {
	const char *name;
	u32 format, channels, flags;
} formats[] = {
	{"u8", MEM_FORMAT_U8, 4, 0},
	{"srgb", MEM_FORMAT_U8, 4, TEXTURE_SRGB},
	{"s8", MEM_FORMAT_S8, 2, 0},
	{"u16", MEM_FORMAT_U16, 1, 0},
	{"s16", MEM_FORMAT_S16, 2, 0},
	{"u32", MEM_FORMAT_U32, 1, 0},
	{"f16", MEM_FORMAT_F16, 2, 0},
	{"f32", MEM_FORMAT_F32, 4, 0},
	{"int", MEM_FORMAT_S8, 4, TEXTURE_AS_INTEGER},
};

/* Rows: shapes, columns: formats. */
static const u32 sums[ARRAY_LEN(shapes)][ARRAY_LEN(formats)] = {
#include "tests/unit/tex/texture.def"
};

static struct mem mem;
static const struct arch *arch;
static struct texture_store *store;

/* The same numbers everywhere, without a library's generator. */
static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (u32)(*state >> 33);
}

static void fill(u64 address, u64 bytes, u32 format)
{
	u8 *p = mem_pointer(&mem, address);
	u64 state = format;

	for (u64 i = 0; i < bytes; i++)
		p[i] = (u8)(next_random(&state) >> 7);
	/* Floats of ordinary size, with some that are not. */
	for (u64 i = 3; i < bytes && format == MEM_FORMAT_F32; i += 4)
		p[i] = (u8)((p[i] & 0x80) | 0x3e | (p[i] & 1) << 6);
	for (u64 i = 1; i < bytes && format == MEM_FORMAT_F16; i += 2)
		p[i] = (u8)((p[i] & 0x83) | 0x38);
}

static bool make(const struct shape *s, const struct format *f, struct texture_desc *d)
{
	struct mem_array_desc a = {s->width, s->height, s->depth, f->format, f->channels, s->flags};

	*d = (struct texture_desc){
		.resource = {.kind = s->levels ? TEXTURE_MIPMAP : TEXTURE_ARRAY}};
	if (s->levels) {
		if (mem_mipmap_create(&mem, arch, &a, s->levels, &d->resource.mipmap))
			return false;
		fill(d->resource.mipmap->base, d->resource.mipmap->bytes, f->format);
		d->settings.level_max = 3;
		d->settings.mip_filter = 1;
		return true;
	}
	if (mem_array_create(&mem, arch, &a, &d->resource.array))
		return false;
	fill(d->resource.array->base, d->resource.array->bytes, f->format);
	return true;
}

/* Coordinates a little beyond both ends, in all bits. */
static u32 random_coordinate(u64 *state, bool normalized)
{
	f32 x = (f32)next_random(state) * 0x1p-31f * 1.5f - 0.25f;

	return bits_f32(normalized ? x : x * 10);
}

static u64 fetch_all(const struct shape *s, u64 handle, bool normalized, u64 sum)
{
	const struct tex_object *t = tex_find(texture_table(store), handle, TEX_TEXTURE);
	u64 state = handle & 0;

	for (u32 i = 0; t && i < SAMPLES; i++) {
		struct tex_request r = {.geometry = s->geometry, .layered = s->layered};
		u32 out[4];

		for (u32 d = 0; d < 3; d++)
			r.coord[d] =
				random_coordinate(&state, normalized || s->geometry == TEX_CUBE);
		r.layer = next_random(&state) % 4;
		r.mode = s->levels ? TEX_LEVEL : TEX_IMPLICIT;
		r.level = bits_f32((f32)(next_random(&state) % 1024) / 256);
		r.gather = s->geometry != TEX_1D && s->geometry != TEX_3D && i % 8 == 7;
		r.component = i / 8 % 4;
		tex_fetch(t, &t->sampler, &r, out);
		sum = (sum ^ hash_bytes(out, sizeof(out))) * 0x100000001b3u;
	}
	return sum;
}

/* All address modes, both filters, both kinds of coordinates. */
static u32 sum_of(const struct shape *s, const struct format *f)
{
	struct texture_desc d;
	u64 sum = 0, handle;

	if (!make(s, f, &d))
		return 0;
	for (u32 i = 0; i < 16; i++) {
		d.settings.filter = i & 1;
		d.settings.flags = f->flags | (i & 2 ? TEXTURE_NORMALIZED : 0u) |
				   (s->geometry == TEX_CUBE && i & 4 ? TEXTURE_SEAMLESS : 0u);
		for (u32 k = 0; k < 3; k++)
			d.settings.address[k] = (s32)(i >> 2);
		d.settings.border[0] = 0.25f;
		d.settings.border[1] = -0.5f;
		if (texture_create(store, &d, &handle))
			return 0;
		sum = fetch_all(s, handle, i & 2, sum);
		texture_destroy(store, handle, TEX_TEXTURE);
	}
	if (d.resource.mipmap)
		mem_mipmap_destroy(&mem, d.resource.mipmap);
	else
		mem_array_destroy(&mem, d.resource.array);
	return (u32)(sum ^ sum >> 32);
}

static void fetches(bool print)
{
	char what[32];

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		if (print)
			printf("{");
		for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
			u32 sum = sum_of(&shapes[i], &formats[k]);

			snprintf(what, sizeof(what), "%s of %s", shapes[i].name, formats[k].name);
			if (print)
				printf("0x%08x,%s", sum, k + 1 < ARRAY_LEN(formats) ? " " : "},\n");
			else
				CHECK_MSG(sum == sums[i][k] && sum, what);
		}
	}
}

static void objects(void)
{
	struct texture_desc d, back;
	u64 first = 0, second = 0;

	if (!CHECK(make(&shapes[1], &formats[0], &d)))
		return;
	CHECK_EQ(texture_create(store, &d, &first), STATUS_SUCCESS);
	CHECK(first && !(first >> 32));
	CHECK_EQ(texture_describe(store, first, TEX_TEXTURE, &back), STATUS_SUCCESS);
	CHECK(!memcmp(&back, &d, sizeof(d)));
	CHECK_EQ(texture_describe(store, first, TEX_SURFACE, &back), STATUS_INVALID_HANDLE);
	CHECK_EQ(texture_destroy(store, first, TEX_TEXTURE), STATUS_SUCCESS);
	CHECK_EQ(texture_destroy(store, first, TEX_TEXTURE), STATUS_INVALID_HANDLE);
	CHECK_EQ(texture_create(store, &d, &second), STATUS_SUCCESS);
	CHECK_MSG(second != first, "a slot's next owner has another handle");
	CHECK_EQ(texture_destroy(store, second, TEX_TEXTURE), STATUS_SUCCESS);
	d.settings.filter = 2;
	CHECK_EQ(texture_create(store, &d, &first), STATUS_INVALID_VALUE);
	d.settings.filter = 0;
	d.settings.address[1] = 5;
	CHECK_EQ(texture_create(store, &d, &first), STATUS_INVALID_VALUE);
	d.settings.address[1] = 0;
	d.settings.flags = TEXTURE_SEAMLESS;
	CHECK_EQ(texture_create(store, &d, &first), STATUS_INVALID_VALUE);
	mem_array_destroy(&mem, d.resource.array);
}

/* ---- the instructions ---- */

static const char ptx[] =
	".version 8.0\n.target sm_80\n.address_size 64\n.global .texref ref;\n"
	".visible .entry k(.param .u64 out, .param .u64 tex, .param .u64 surf)\n{\n"
	".reg .b64 %rd<9>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .pred %p<4>; .reg .b16 %h<4>;\n"
	"ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [tex]; ld.param.u64 %rd3, [surf];\n"
	"mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; add.f32 %f0, %f0, 0f3F000000;\n"
	"mov.f32 %f1, 0f3FC00000; mov.u32 %r20, 1; mov.u64 %rd4, ref;\n"
	"tex.2d.v4.u32.f32 {%r1, %r2, _, _}|%p1, [%rd2, {%f0, %f1}];\n"
	"tex.2d.v4.u32.s32 {%r3, _, _, _}, [ref, {%r0, %r20}];\n"
	"tex.2d.v4.u32.s32 {%r4, _, _, _}, [%rd4, {%r0, %r20}];\n"
	"tld4.r.2d.v4.u32.f32 {%r5, _, _, %r6}, [%rd2, {%f0, %f1}];\n"
	"txq.width.b32 %r7, [%rd2]; suq.height.b32 %r8, [%rd3];\n"
	"istypep.texref %p2, %rd4; selp.u32 %r9, 1, 0, %p2; selp.u32 %r10, 1, 0, %p1;\n"
	"shl.b32 %r11, %r0, 2;\n"
	"suld.b.2d.b8.zero %h1, [%rd3, {%r11, %r20}]; cvt.u32.u16 %r12, %h1;\n"
	"mov.u32 %r13, 300; sust.p.2d.v4.b32.zero [%rd3, {%r0, %r20}], {%r13, %r0, %r13, %r0};\n"
	"suld.b.2d.b32.clamp %r14, [%rd3, {%r11, %r20}];\n"
	"mul.wide.u32 %rd5, %r0, 48; add.s64 %rd1, %rd1, %rd5;\n"
	"st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};\n"
	"st.global.v4.u32 [%rd1+16], {%r5, %r6, %r7, %r8};\n"
	"st.global.v4.u32 [%rd1+32], {%r9, %r10, %r12, %r14};\nret;\n}\n";

static bool run_kernel(struct harness *h, const u64 *params, const struct tex_table *textures)
{
	struct lower_options options = {.warps = 1};
	struct program *p = exec_lower(h->m, ir_find_func(h->m, "k"), arch_find("h200"),
				       h->var_address, &options, &h->d);
	u32 tid[96] = {0};
	bool ok;

	if (!p)
		return false;
	for (u32 i = 0; i < 32; i++)
		tid[i] = i;
	h->env = (struct exec_env){.program = p,
				   .ops = exec_ops_select(NULL),
				   .mem = &h->mem,
				   .params = mem_pointer(&h->mem, (u64)(uintptr_t)params),
				   .grid = {1, 1, 1},
				   .block = {4, 1, 1},
				   .cluster = {1, 1, 1},
				   .cancel = &h->cancel,
				   .tid = tid,
				   .param_address = (u64)(uintptr_t)params,
				   .textures = textures};
	ok = harness_grid(h, 10000, 0) == STOP_DONE;
	exec_program_free(p);
	return ok;
}

static void instructions(void)
{
	struct mem_array_desc a = {4, 3, 0, MEM_FORMAT_U8, 4, MEM_ARRAY_SURFACE};
	struct texture_desc d = {.settings = {.address = {1, 1, 1}, .flags = TEXTURE_AS_INTEGER}};
	struct texture_store *s;
	struct harness h;
	u64 *params, tex = 0, surf = 0;
	u32 *out;
	u8 *texel;

	if (!CHECK(harness_open(&h, ptx)))
		return;
	harness_place_vars(&h);
	s = texture_store_new(&h.mem, arch);
	CHECK_EQ(mem_array_create(&h.mem, arch, &a, &d.resource.array), MEM_ARRAY_OK);
	texel = mem_pointer(&h.mem, d.resource.array->base);
	for (u32 i = 0; i < 48; i++)
		texel[i] = (u8)(i + 1);
	CHECK_EQ(texture_create(s, &d, &tex), STATUS_SUCCESS);
	CHECK_EQ(surface_create(s, &d.resource, &surf), STATUS_SUCCESS);
	params = (u64 *)(uintptr_t)mem_alloc(&h.mem, 64, 0, MEM_KIND_PARAM);
	params[0] = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	params[1] = tex;
	params[2] = surf;
	for (u32 i = 0; i < h.m->vars.len; i++)
		if (h.m->vars.at[i]->type == T_texref)
			memcpy((void *)(uintptr_t)h.var_address[i], &tex, 8);
	CHECK(run_kernel(&h, params, texture_table(s)));
	out = mem_pointer(&h.mem, params[0]);
	for (u32 i = 0; i < 4; i++, out += 12) {
		u32 at = 16 + 4 * i + 1;

		CHECK_EQ(out[0], at);
		CHECK_EQ(out[1], at + 1);
		CHECK_EQ(out[2], at);
		CHECK_EQ(out[3], at);
		CHECK_EQ(out[4], at + 16);
		CHECK_EQ(out[5], at);
		CHECK_EQ(out[6], 4);
		CHECK_EQ(out[7], 3);
		CHECK_EQ(out[8], 1);
		CHECK_EQ(out[9], 1);
		CHECK_EQ(out[10], at);
		CHECK_EQ(out[11], 0xff | i << 8 | 0xff << 16 | i << 24);
	}
	params[1] = 77;
	CHECK_MSG(!run_kernel(&h, params, texture_table(s)) &&
			  h.fault.kind == FAULT_ILLEGAL_ADDRESS,
		  "what is no handle is an invalid address");
	texture_store_free(s);
	harness_close(&h);
}

/* ---- a warp at once ---- */

/* A fetch by 32 lanes, of which one stays away: x, y and layer in, four words out. */
static bool fetch_kernel(struct harness *h, const char *operands)
{
	char text[2048];

	snprintf(
		text, sizeof(text),
		".version 8.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 tex)\n{\n"
		".reg .b64 %%i, %%o, %%h; .reg .b32 %%t, %%l, %%r<4>; .reg .f32 %%x, %%y; .reg .pred %%p;\n"
		".reg .s32 %%n;\n"
		"ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; ld.param.u64 %%h, [tex];\n"
		"mov.u32 %%t, %%tid.x; mad.wide.u32 %%i, %%t, 16, %%i; mad.wide.u32 %%o, %%t, 16, %%o;\n"
		"ld.global.f32 %%x, [%%i]; ld.global.f32 %%y, [%%i+4]; ld.global.u32 %%l, [%%i+8];\n"
		"ld.global.s32 %%n, [%%i];\n"
		"mov.b32 %%r0, 77; mov.b32 %%r1, 77; mov.b32 %%r2, 77; mov.b32 %%r3, 77;\n"
		"setp.eq.u32 %%p, %%t, 5; @%%p bra END;\n"
		"tex.%s;\n"
		"END: st.global.v4.b32 [%%o], {%%r0, %%r1, %%r2, %%r3};\nret;\n}\n",
		operands);
	return harness_open(h, text);
}

static void make_coordinates(u32 (*in)[4], bool integer, u64 *state)
{
	static const u32 odd[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x4b800000,
				  0x80000000, 0xcb7fffff, 0x7f7fffff, 0x33800000};

	for (u32 i = 0; i < 32; i++) {
		for (u32 d = 0; d < 2; d++) {
			u32 pick = next_random(state) % 16;

			in[i][d] = integer ? next_random(state) % 24 - 4
				   : pick < 8
					   ? bits_f32((f32)(s32)(next_random(state) % 4096 - 1024) /
						      (pick & 1 ? 256 : 1024))
				   : pick < 9 ? odd[next_random(state) % ARRAY_LEN(odd)]
					      : random_coordinate(state, pick & 1);
		}
		in[i][2] = next_random(state) % 5 - 1;
	}
}

/* What the lanes got against fetches one by one. */
static bool same_fetches(const struct shape *s, const struct tex_object *t, bool integer,
			 u32 (*in)[4], u32 (*out)[4])
{
	for (u32 i = 0; i < 32; i++) {
		struct tex_request r = {.geometry = s->geometry,
					.layered = s->layered,
					.integer = integer,
					.coord = {in[i][0], t->image.dims > 1 ? in[i][1] : 0,
						  t->image.dims > 2 ? in[i][0] : 0},
					.layer = in[i][2]};
		u32 want[4] = {77, 77, 77, 77};

		if (i != 5)
			tex_fetch(t, &t->sampler, &r, want);
		if (memcmp(want, out[i], sizeof(want)))
			return false;
	}
	return true;
}

/* All settings of one texture, at one host level. */
static bool same_settings(struct harness *h, const struct shape *s, struct texture_desc *d,
			  u32 flags, const char *level)
{
	struct texture_store *own = texture_store_new(&h->mem, arch);
	u32(*in)[4] = mem_pointer(&h->mem, mem_alloc(&h->mem, 1024, 0, MEM_KIND_DEVICE));
	u64 params[3] = {(u64)(uintptr_t)in, mem_alloc(&h->mem, 1024, 0, MEM_KIND_DEVICE)},
	    state = 7;
	bool integer = d->resource.kind == TEXTURE_LINEAR, same = true;

	h->textures = texture_table(own);
	for (u32 i = 0; i < 64 && same; i++) {
		d->settings.filter = i & 1;
		d->settings.flags = flags | (i & 2 ? TEXTURE_NORMALIZED : 0u);
		d->settings.address[0] = (s32)(i >> 2 & 3);
		d->settings.address[1] = (s32)(i >> 4);
		if (texture_create(own, d, &params[2]))
			return false;
		make_coordinates(in, integer, &state);
		same = harness_run(h, "k", 1, 32, params, level) == STOP_DONE &&
		       same_fetches(s, tex_find(texture_table(own), params[2], TEX_TEXTURE),
				    integer, in, mem_pointer(&h->mem, params[1]));
		texture_destroy(own, params[2], TEX_TEXTURE);
	}
	texture_store_free(own);
	return same;
}

static const struct wide_form {
	u32 shape; /* in shapes[] */
	bool memory;
	const char *operands;
} wide_forms[] = {
	{0, false, "1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x}]"},
	{1, false, "2d.v4.f32.f32 {%x, %r1, %r2, %r3}, [%h, {%x, %y}]; mov.b32 %r0, %x"},
	{3, false, "a1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%l, %x}]"},
	{4, false, "level.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%l, %x, %y, %y}], %y"},
	{2, false, "3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y, %x, %x}]"},
	{0, true, "1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%n}]"},
};

/* An image of any bits, so that infinities are among the floats, but most of them of like size. */
static bool wide_image(struct harness *h, const struct wide_form *w, const struct format *f,
		       struct texture_desc *d)
{
	const struct shape *s = &shapes[w->shape];
	struct mem_array_desc a = {s->width, s->height, s->depth, f->format, f->channels, s->flags};
	struct texture_resource *r = &d->resource;
	u64 state = f->format;
	u8 *p;

	*d = (struct texture_desc){.settings.border = {0.296875f, -0.703125f}};
	r->kind = w->memory ? TEXTURE_LINEAR : TEXTURE_ARRAY;
	r->format = f->format;
	r->channels = f->channels;
	r->bytes = 13 * mem_format_bytes(f->format, f->channels);
	r->address = mem_alloc(&h->mem, 4096, 512, MEM_KIND_DEVICE);
	if (!w->memory && mem_array_create(&h->mem, arch, &a, &r->array))
		return false;
	r->bytes = w->memory ? r->bytes : r->array->bytes;
	p = mem_pointer(&h->mem, w->memory ? r->address : r->array->base);
	for (u64 at = 0; at < r->bytes; at++)
		p[at] = (u8)(next_random(&state) >> 7);
	for (u64 at = 3; at < r->bytes && f->format == MEM_FORMAT_F32; at += 4)
		p[at] = next_random(&state) % 8 ? (u8)((p[at] & 0x81) | 0x3e) : p[at];
	return true;
}

static void wide_fetches(const char *level)
{
	for (size_t i = 0; i < ARRAY_LEN(wide_forms); i++)
		for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
			const struct wide_form *w = &wide_forms[i];
			struct texture_desc d;
			struct harness h;
			char what[96];

			if (!CHECK(fetch_kernel(&h, w->operands)) ||
			    !CHECK(wide_image(&h, w, &formats[k], &d)))
				return;
			snprintf(what, sizeof(what), "%.6s of %s by warps (%s)", w->operands,
				 formats[k].name, level);
			CHECK_MSG(same_settings(&h, &shapes[w->shape], &d, formats[k].flags, level),
				  what);
			harness_close(&h);
		}
}

/*
 * How many bits of a normalized coordinate count shows in textures so wide that the last one is a
 * step of the weight: 22 of the fraction where the width is a power of two, otherwise 21.
 */
static void fractions(u32 width, bool last, const char *level)
{
	static const f32 beyond[] = {0, 0x1p-24f, 0x1p-22f, 0x1p-22f + 0x1p-24f, 0x1p-21f};
	const struct shape s = {.width = width, .geometry = TEX_1D};
	struct texture_desc d = {.settings = {.filter = 1, .flags = TEXTURE_NORMALIZED}};
	struct mem_array_desc a = {.width = width, .format = MEM_FORMAT_F32, .channels = 1};
	struct texture_store *own;
	u32(*in)[4], (*out)[4];
	struct harness h;
	u64 params[3];
	f32 *texels;

	d.settings.address[0] = 1;
	if (!CHECK(fetch_kernel(&h, wide_forms[0].operands)) ||
	    !CHECK(!mem_array_create(&h.mem, arch, &a, &d.resource.array)))
		return;
	own = texture_store_new(&h.mem, arch);
	texels = mem_pointer(&h.mem, d.resource.array->base);
	for (u32 i = 0; i < width; i++)
		texels[i] = i % 2 ? 256.0f : 0.0f;
	in = mem_pointer(&h.mem, params[0] = mem_alloc(&h.mem, 1024, 0, MEM_KIND_DEVICE));
	out = mem_pointer(&h.mem, params[1] = mem_alloc(&h.mem, 1024, 0, MEM_KIND_DEVICE));
	memset(in, 0, 1024);
	for (u32 i = 0; i < ARRAY_LEN(beyond); i++)
		in[i][0] = bits_f32(0.5f + beyond[i]);
	h.textures = texture_table(own);
	CHECK_EQ(texture_create(own, &d, &params[2]), STATUS_SUCCESS);
	CHECK_EQ(harness_run(&h, "k", 1, 32, params, level), STOP_DONE);
	CHECK(same_fetches(&s, tex_find(texture_table(own), params[2], TEX_TEXTURE), false, in,
			   out));
	CHECK_EQ(out[0][0], bits_f32(128));
	CHECK_EQ(out[1][0], out[0][0]);
	CHECK_EQ(out[2][0] != out[0][0], last);
	CHECK_EQ(out[3][0], out[2][0]);
	CHECK(out[4][0] != out[2][0]);
	texture_store_free(own);
	harness_close(&h);
}

/* Both ways from a direction to its place on a face agree; every face comes up. */
static void faces(void)
{
	u32 seen = 0, bad = 0;
	u64 state = 12345;

	for (u32 i = 0; i < 4000; i++) {
		f64 place[2], again[2], v[3];
		u32 coord[3], face;

		for (u32 d = 0; d < 3; d++) {
			f32 x = (f32)(s32)(next_random(&state) % 2001) - 1000;

			coord[d] = bits_f32(x);
			v[d] = x;
		}
		if (v[0] == 0 && v[1] == 0 && v[2] == 0)
			continue;
		face = tex_face_of(coord, place);
		seen |= 1u << face;
		tex_face_project(face, v, again);
		for (u32 d = 0; d < 2; d++)
			bad += !(place[d] - again[d] < 1e-9 && again[d] - place[d] < 1e-9);
	}
	CHECK_EQ(seen, 0x3f);
	CHECK_EQ(bad, 0);
}

int main(int argc, char **argv)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	bool print = argc > 1 && !strcmp(argv[1], "--print");

	arch = arch_find("h200");
	if (!arch || !mem_init(&mem, (u64)1 << 28) || !(store = texture_store_new(&mem, arch)))
		return 2;
	fetches(print);
	if (!print) {
		faces();
		objects();
		instructions();
		for (size_t i = 0; i < ARRAY_LEN(levels); i++)
			if (check_level(exec_ops_select(levels[i]), levels[i])) {
				wide_fetches(levels[i]);
				fractions(16384, true, levels[i]);
				fractions(12288, false, levels[i]);
			}
	}
	texture_store_free(store);
	mem_fini(&mem);
	return print ? 0 : check_done();
}
