/*
 * Speed of texture fetches on one core: nanoseconds for each lane's fetch, by kind of texture. A
 * CTA of eight warps walks over an image; processor time, the least of several rounds.
 *
 * usage: texture [TEXT [LEVEL]]     TEXT: kinds that contain it
 */
#include "src/dev/texture/texture.h"
#include "tests/unit/exec_harness.h"

#include <time.h>

#define WARPS 8u
#define REPEATS 2000u
#define ROUNDS 3u

static const struct kind {
	const char *name, *fetch;
	u64 width, height, depth;
	u32 format, channels, flags, settings; /* of the array, of the texture */
	s32 filter, address;
	bool memory; /* without an array */
} kinds[] = {
	{"1d numbered f32", "1d.v4.f32.s32 {%a,_,_,_},[%h,{%i}]", 65536, 0, 0, MEM_FORMAT_F32, 1, 0,
	 0, 0, 1, true},
	{"2d point f32", "2d.v4.f32.f32 {%a,_,_,_},[%h,{%x,%y}]", 256, 256, 0, MEM_FORMAT_F32, 1, 0,
	 0, 0, 1, false},
	{"2d linear f32", "2d.v4.f32.f32 {%a,_,_,_},[%h,{%x,%y}]", 256, 256, 0, MEM_FORMAT_F32, 1,
	 0, 0, 1, 1, false},
	{"2d linear f32 wrap", "2d.v4.f32.f32 {%a,_,_,_},[%h,{%u,%v}]", 256, 256, 0, MEM_FORMAT_F32,
	 1, 0, TEXTURE_NORMALIZED, 1, 0, false},
	{"2d linear f32x4", "2d.v4.f32.f32 {%a,%b,%c,%d},[%h,{%x,%y}]", 256, 256, 0, MEM_FORMAT_F32,
	 4, 0, 0, 1, 1, false},
	{"2d point u8", "2d.v4.u32.f32 {%a,_,_,_},[%h,{%x,%y}]", 256, 256, 0, MEM_FORMAT_U8, 1, 0,
	 TEXTURE_AS_INTEGER, 0, 1, false},
	{"2d linear u8x4", "2d.v4.f32.f32 {%a,%b,%c,%d},[%h,{%x,%y}]", 256, 256, 0, MEM_FORMAT_U8,
	 4, 0, 0, 1, 1, false},
	{"2d linear f16", "2d.v4.f32.f32 {%a,_,_,_},[%h,{%x,%y}]", 256, 256, 0, MEM_FORMAT_F16, 1,
	 0, 0, 1, 1, false},
	{"layers point f32", "a2d.v4.f32.f32 {%a,_,_,_},[%h,{%r,%x,%y,%y}]", 128, 128, 4,
	 MEM_FORMAT_F32, 1, MEM_ARRAY_LAYERED, 0, 0, 1, false},
	{"3d linear u8", "3d.v4.f32.f32 {%a,_,_,_},[%h,{%u,%v,%u,%u}]", 64, 64, 64, MEM_FORMAT_U8,
	 1, 0, TEXTURE_NORMALIZED, 1, 1, false},
	{"cube linear f32", "cube.v4.f32.f32 {%a,_,_,_},[%h,{%u,%v,%x,%x}]", 64, 64, 6,
	 MEM_FORMAT_F32, 1, MEM_ARRAY_CUBEMAP, TEXTURE_NORMALIZED, 1, 1, false},
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void write_kernel(const struct kind *k, char *ptx, size_t size)
{
	snprintf(
		ptx, size,
		".version 8.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 out, .param .u64 tex, .param .u32 n)\n"
		"{ .reg .u64 %%o,%%h; .reg .u32 %%t,%%n,%%r; .reg .s32 %%i; .reg .pred %%p;\n"
		".reg .f32 %%x,%%y,%%u,%%v; .reg .b32 %%a,%%b,%%c,%%d,%%s;\n"
		"ld.param.u64 %%o,[out]; ld.param.u64 %%h,[tex]; ld.param.u32 %%n,[n];\n"
		"mov.u32 %%t,%%tid.x; mad.wide.u32 %%o,%%t,4,%%o; mov.u32 %%i,%%t; mov.b32 %%s,0;\n"
		"cvt.rn.f32.u32 %%x,%%t; mov.f32 %%y,0f3F400000; and.b32 %%r,%%t,3;\n"
		"L: fma.rn.f32 %%u,%%x,0f3B800000,%%y; mul.f32 %%v,%%y,0f3C800000;\n"
		"tex.%s; xor.b32 %%s,%%s,%%a;\n"
		"add.s32 %%i,%%i,17; and.b32 %%i,%%i,65535; add.f32 %%y,%%y,0f3DCCCCCD;\n"
		"sub.u32 %%n,%%n,1; setp.ne.u32 %%p,%%n,0; @%%p bra L;\n"
		"st.global.u32 [%%o],%%s; ret; }\n",
		k->fetch);
}

static bool make(const struct kind *k, struct harness *h, struct texture_store *s, u64 *handle)
{
	struct mem_array_desc a = {k->width, k->height, k->depth, k->format, k->channels, k->flags};
	struct texture_desc d = {.settings = {.address = {k->address, k->address, k->address},
					      .filter = k->filter,
					      .flags = k->settings}};
	u64 bytes = 4 * k->width;
	u8 *p;

	if (k->memory) {
		d.resource = (struct texture_resource){
			.kind = TEXTURE_LINEAR,
			.address = mem_alloc(&h->mem, bytes, 512, MEM_KIND_DEVICE),
			.bytes = bytes,
			.format = k->format,
			.channels = k->channels};
		p = mem_pointer(&h->mem, d.resource.address);
	} else {
		if (mem_array_create(&h->mem, arch_find("h200"), &a, &d.resource.array))
			return false;
		p = mem_pointer(&h->mem, d.resource.array->base);
		bytes = d.resource.array->bytes;
	}
	/* Floats between 1/2 and 2, halves near 1. */
	for (u64 i = 0; i < bytes; i++)
		p[i] = i % 4 == 3 || (k->format == MEM_FORMAT_F16 && i % 2) ? 0x3f
									    : (u8)(i * 37 >> 3);
	return !texture_create(s, &d, handle);
}

static double measure(const struct kind *k, const char *level)
{
	struct {
		u64 out, tex;
		u32 n;
	} params = {0, 0, REPEATS};
	struct texture_store *s;
	double best = 1e18;
	struct harness h;
	char ptx[2048];

	write_kernel(k, ptx, sizeof(ptx));
	if (!harness_open(&h, ptx))
		return 0;
	s = texture_store_new(&h.mem, arch_find("h200"));
	params.out = mem_alloc(&h.mem, 4 * 32 * WARPS, 0, MEM_KIND_DEVICE);
	h.textures = texture_table(s);
	for (u32 r = 0; r < ROUNDS && make(k, &h, s, &params.tex); r++) {
		double begin = now_ns(), t;

		if (harness_run(&h, "k", 1, 32 * WARPS, &params, level) != STOP_DONE)
			return 0;
		t = now_ns() - begin;
		best = t < best ? t : best;
	}
	texture_store_free(s);
	harness_close(&h);
	return best / (32.0 * WARPS * REPEATS);
}

int main(int argc, char **argv)
{
	printf("%-22s %10s\n", "kind", "ns/fetch");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (argc < 2 || strstr(kinds[i].name, argv[1]))
			printf("%-22s %10.2f\n", kinds[i].name,
			       measure(&kinds[i], argc > 2 ? argv[2] : NULL));
	return 0;
}
