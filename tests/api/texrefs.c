/*
 * Texture and surface references of both interfaces, and samplers that a module declares.
 */
#include "tests/check.h"

#include <stdint.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetTexRef(void **, void *, const char *);
int cuModuleGetSurfRef(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpyHtoA_v2(void *, size_t, const void *, size_t);
int cuMemcpyAtoH_v2(void *, void *, size_t, size_t);
int cuArray3DCreate_v2(void **, const void *);
int cuArrayDestroy(void *);
int cuParamSetTexRef(void *, int, void *);
int cuTexRefCreate(void **);
int cuTexRefDestroy(void *);
int cuTexRefSetArray(void *, void *, unsigned);
int cuTexRefSetAddress_v2(size_t *, void *, uint64_t, size_t);
int cuTexRefSetAddress2D_v3(void *, const void *, uint64_t, size_t);
int cuTexRefSetFormat(void *, int, int);
int cuTexRefSetAddressMode(void *, int, int);
int cuTexRefSetFilterMode(void *, int);
int cuTexRefSetFlags(void *, unsigned);
int cuTexRefSetBorderColor(void *, const float *);
int cuTexRefSetMaxAnisotropy(void *, unsigned);
int cuTexRefSetMipmapLevelClamp(void *, float, float);
int cuTexRefGetArray(void **, void *);
int cuTexRefGetMipmappedArray(void **, void *);
int cuTexRefGetAddress_v2(uint64_t *, void *);
int cuTexRefGetAddressMode(int *, void *, int);
int cuTexRefGetFilterMode(int *, void *);
int cuTexRefGetFormat(int *, int *, void *);
int cuTexRefGetFlags(unsigned *, void *);
int cuTexRefGetBorderColor(float *, void *);
int cuTexRefGetMaxAnisotropy(int *, void *);
int cuTexRefGetMipmapLevelClamp(float *, float *, void *);
int cuSurfRefSetArray(void *, void *, unsigned);
int cuSurfRefGetArray(void **, void *);

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int);
void __cudaRegisterSurface(void **, const void *, const void **, const char *, int, int);
int cudaLaunchKernel(const void *, uint64_t, uint32_t, uint64_t, uint32_t, void **, size_t, void *);

enum {
	INVALID_VALUE = 1,
	INVALID_TEXTURE = 18,
	INVALID_BINDING = 19,
	INVALID_SURFACE = 37,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500
};
enum { F32 = 0x20, U8 = 0x01, WRAP = 0, CLAMP = 1, BORDER = 3, NORMALIZED = 2 };

struct array_desc {
	size_t width, height;
	int format;
	unsigned channels;
};

/* Each thread fetches at its x of in[], in the middle of row 0, and stores one channel. */
#define FETCH(name, object)                                                                        \
	".visible .entry " name "(.param .u64 in, .param .u64 out) {\n"                            \
	" .reg .u64 %i, %o; .reg .f32 %x, %a, %b, %c, %d; .reg .u32 %t; .reg .u64 %s;\n"           \
	" ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"                    \
	" mul.wide.u32 %s, %t, 4; add.u64 %i, %i, %s; add.u64 %o, %o, %s;\n"                       \
	" ld.global.f32 %x, [%i]; tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [" object                    \
	", {%x, 0f3F000000}];\n st.global.f32 [%o], %a; ret;\n}\n"

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".global .texref tex;\n.global .surfref surf;\n.global .u32 plain;\n" FETCH(
		"fetch",
		"tex") ".visible .entry line(.param .u64 in, .param .u64 out) {\n"
		       " .reg .u64 %i, %o, %s; .reg .f32 %a, %b, %c, %d; .reg .u32 %t, %x;\n"
		       " ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
		       " mul.wide.u32 %s, %t, 4; add.u64 %i, %i, %s; add.u64 %o, %o, %s;\n"
		       " ld.global.u32 %x, [%i]; tex.1d.v4.f32.s32 {%a, %b, %c, %d}, [tex, {%x}];\n"
		       " st.global.f32 [%o], %a; ret;\n}\n"
		       ".visible .entry paint(.param .u64 in, .param .u64 out) {\n"
		       " .reg .u64 %i, %s; .reg .u32 %t, %x, %z;\n"
		       " ld.param.u64 %i, [in]; mov.u32 %t, %tid.x; mul.wide.u32 %s, %t, 4;\n"
		       " add.u64 %i, %i, %s; ld.global.u32 %x, [%i]; cvt.u32.u64 %t, %s; mov.u32 %z, 0;\n"
		       " sust.b.2d.b32.zero [surf, {%t, %z}], %x; ret;\n}\n";

static uint64_t in, out;

/* Launch 8 threads of a kernel with these inputs; the results to got. */
static int run(void *f, const void *x, float got[8])
{
	void *params[] = {&in, &out};

	return cuMemcpyHtoD_v2(in, x, 32) ||
	       cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL) || cuCtxSynchronize() ||
	       cuMemcpyDtoH_v2(got, out, 32);
}

static bool same(const float got[8], const float *want)
{
	for (int i = 0; i < 8; i++)
		if (got[i] != want[i]) {
			printf("# [%d] %g instead of %g\n", i, (double)got[i], (double)want[i]);
			return false;
		}
	return true;
}

static const float rows[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
static const float at[8] = {-1.5f, 0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 1.0f, 2.25f};

static void *array_of(unsigned flags)
{
	const struct {
		size_t width, height, depth;
		int format;
		unsigned channels, flags;
	} d = {4, 2, 0, F32, 1, flags};
	void *a = NULL;

	CHECK_MSG(!cuArray3DCreate_v2(&a, &d), "an array");
	CHECK_MSG(!cuMemcpyHtoA_v2(a, 0, rows, sizeof(rows)), "its texels");
	return a;
}

/* Before anything is bound: it reads zeros, in both ways to fetch. Measured. */
static void test_unbound(void *m)
{
	static const float none[8] = {0};
	static const int numbers[8] = {0, 1, 2, 3, -1, 100, 7, 0};
	void *f, *ref = NULL;
	uint64_t address = 1;
	float got[8] = {1};

	CHECK_MSG(!cuModuleGetFunction(&f, m, "fetch") && !run(f, at, got) && same(got, none),
		  "an unbound reference");
	got[0] = 1;
	CHECK_MSG(!cuModuleGetFunction(&f, m, "line") && !run(f, numbers, got) && same(got, none),
		  "an unbound reference, by number");
	CHECK_MSG(!cuModuleGetTexRef(&ref, m, "tex") && cuTexRefGetAddress_v2(&address, ref) == 1 &&
			  !address,
		  "it has no address");
}

static void test_settings(void *m)
{
	static const float red[4] = {9, 0, 0, 0};
	void *tex, *a = array_of(0), *f = NULL, *got_array;
	float got[8], colour[4], least, most;
	int mode = 9, format = 0, channels = 0;
	unsigned flags = 99;

	CHECK_MSG(!cuModuleGetTexRef(&tex, m, "tex"), "a reference by its name");
	CHECK_MSG(!cuModuleGetFunction(&f, m, "fetch"), "a kernel");
	CHECK_MSG(cuTexRefGetArray(&got_array, tex) == INVALID_VALUE, "nothing is bound yet");
	CHECK_MSG(!cuTexRefSetArray(tex, a, 1), "bind an array");
	CHECK_MSG(!cuTexRefGetArray(&got_array, tex) && got_array == a, "it is bound");
	CHECK_MSG(cuTexRefGetMipmappedArray(&got_array, tex) == INVALID_VALUE,
		  "it is not mipmapped");
	CHECK_MSG(!run(f, at, got) && same(got, (float[]){1, 1, 2, 3, 4, 4, 2, 3}),
		  "nearest, clamped");
	CHECK_MSG(!cuTexRefSetFilterMode(tex, 1), "linear");
	CHECK_MSG(!run(f, at, got) && same(got, (float[]){1, 1, 2, 3, 4, 4, 1.5f, 2.75f}),
		  "blended");
	CHECK_MSG(!cuTexRefSetFilterMode(tex, 0) && !cuTexRefSetAddressMode(tex, 0, BORDER) &&
			  !cuTexRefSetBorderColor(tex, red),
		  "a border");
	CHECK_MSG(!run(f, at, got) && same(got, (float[]){9, 1, 2, 3, 4, 9, 2, 3}), "shows");
	CHECK_MSG(!cuTexRefSetFlags(tex, NORMALIZED) && !cuTexRefSetAddressMode(tex, 0, WRAP),
		  "normalized, repeated");
	CHECK_MSG(!run(f, (float[]){0, .25f, .5f, .75f, 1, 1.25f, -.25f, -.5f}, got) &&
			  same(got, (float[]){5, 6, 7, 8, 5, 6, 8, 7}),
		  "repeats");
	CHECK_MSG(!cuTexRefSetMaxAnisotropy(tex, 4) && !cuTexRefSetMipmapLevelClamp(tex, 0, 2),
		  "more");
	CHECK_MSG(!cuTexRefGetAddressMode(&mode, tex, 0) && mode == WRAP, "mode of x");
	CHECK_MSG(!cuTexRefGetAddressMode(&mode, tex, 1) && mode == CLAMP, "mode of y");
	CHECK_MSG(!cuTexRefGetFilterMode(&mode, tex) && mode == 0, "filter");
	CHECK_MSG(!cuTexRefGetFlags(&flags, tex) && flags == NORMALIZED, "flags");
	CHECK_MSG(!cuTexRefGetBorderColor(colour, tex) && colour[0] == 9, "border");
	CHECK_MSG(!cuTexRefGetMaxAnisotropy(&mode, tex) && mode == 4, "anisotropy");
	CHECK_MSG(!cuTexRefGetMipmapLevelClamp(&least, &most, tex) && most == 2, "levels");
	CHECK_MSG(!cuTexRefGetFormat(&format, &channels, tex) && format == F32 && channels == 1,
		  "format");
	CHECK_MSG(cuTexRefSetFilterMode(tex, 2) == INVALID_VALUE, "no such filter");
	CHECK_MSG(cuTexRefSetAddressMode(tex, 3, WRAP) == INVALID_VALUE, "no such dimension");
	CHECK_MSG(cuTexRefSetArray(tex, a, 0) == INVALID_VALUE, "the array's format counts");
	CHECK_MSG(cuTexRefSetArray(tex, &mode, 1) == INVALID_HANDLE, "no array");
	CHECK_MSG(cuTexRefSetFlags(&mode, 0) == INVALID_HANDLE, "no reference");
	CHECK_MSG(cuTexRefDestroy(tex) == INVALID_HANDLE, "a module's reference goes with it");
	CHECK_MSG(cuModuleGetTexRef(&tex, m, "surf") == NOT_FOUND, "a surface is no texture");
	CHECK_MSG(cuModuleGetTexRef(&tex, m, "plain") == NOT_FOUND, "nor is a number");
	CHECK_MSG(!cuParamSetTexRef(f, -1, tex), "for a kernel");
	CHECK_MSG(cuParamSetTexRef(f, 0, tex) == INVALID_VALUE, "there are no units");
	CHECK_MSG(!cuArrayDestroy(a), "free");
}

static void test_memory(void *m)
{
	const struct array_desc plane = {4, 2, F32, 1};
	uint64_t p, where = 0;
	uint8_t bytes[1024 + 32] = {0};
	size_t offset = 1;
	float got[8];
	void *tex, *f = NULL, *line = NULL;

	for (int i = 0; i < 32; i++)
		bytes[1024 + i] = (uint8_t)(255 - i);
	memcpy(bytes, rows[0], 16);
	memcpy(bytes + 512, rows[1], 16);
	CHECK_MSG(!cuMemAlloc_v2(&p, sizeof(bytes)) && !cuMemcpyHtoD_v2(p, bytes, sizeof(bytes)),
		  "memory");
	CHECK_MSG(!cuModuleGetTexRef(&tex, m, "tex") && !cuModuleGetFunction(&f, m, "fetch") &&
			  !cuModuleGetFunction(&line, m, "line"),
		  "a reference");
	CHECK_MSG(!cuTexRefSetFlags(tex, 0) && !cuTexRefSetAddressMode(tex, 0, CLAMP), "plain");
	CHECK_MSG(!cuTexRefSetAddress2D_v3(tex, &plane, p, 512), "rows");
	CHECK_MSG(!run(f, at, got) && same(got, (float[]){1, 1, 2, 3, 4, 4, 2, 3}), "of memory");
	CHECK_MSG(cuTexRefSetAddress2D_v3(tex, &plane, p + 4, 512) == INVALID_VALUE, "are aligned");
	CHECK_MSG(!cuTexRefSetFormat(tex, U8, 1), "bytes");
	CHECK_MSG(cuTexRefSetAddress_v2(NULL, tex, p + 1028, 28) == INVALID_VALUE,
		  "an address that is rounded needs an offset");
	CHECK_MSG(!cuTexRefSetAddress_v2(&offset, tex, p + 1028, 28) && offset == 4,
		  "which is answered");
	CHECK_MSG(!cuTexRefGetAddress_v2(&where, tex) && where == p + 1024, "the rounded one");
	CHECK_MSG(!run(line, (int[]){0, 1, 2, 3, 4, 31, 32, -1}, got) &&
			  same(got, (float[]){1, 254 / 255.f, 253 / 255.f, 252 / 255.f, 251 / 255.f,
					      224 / 255.f, 0, 0}),
		  "bytes as fractions, nothing outside");
	CHECK_MSG(cuTexRefSetAddress_v2(&offset, tex, p, 1 << 20) == INVALID_VALUE,
		  "longer than there is");
	CHECK_MSG(!run(line, (int[]){0, 1, 2, 3, 4, 31, 32, -1}, got) && got[0] == 1,
		  "the old one stays");
	CHECK_MSG(!cuTexRefCreate(&tex) && !cuTexRefSetAddress_v2(&offset, tex, p, 1024) &&
			  !cuTexRefDestroy(tex) && cuTexRefDestroy(tex) == INVALID_HANDLE,
		  "one without a module");
	CHECK_MSG(!cuMemFree_v2(p), "free");
}

static void test_surface(void *m)
{
	void *surf, *a = array_of(2), *f = NULL, *got_array = NULL;
	float got[2][4];
	static const float x[8] = {10, 20, 30, 40, 0, 0, 0, 0};
	void *params[] = {&in, &out};

	CHECK_MSG(!cuModuleGetSurfRef(&surf, m, "surf") && !cuModuleGetFunction(&f, m, "paint"),
		  "a surface");
	CHECK_MSG(cuModuleGetSurfRef(&surf, m, "tex") == NOT_FOUND, "a texture is none");
	CHECK_MSG(cuSurfRefGetArray(&got_array, surf) == INVALID_VALUE, "nothing is bound");
	CHECK_MSG(!cuSurfRefSetArray(surf, a, 0), "bind");
	CHECK_MSG(!cuSurfRefGetArray(&got_array, surf) && got_array == a, "bound");
	CHECK_MSG(cuTexRefGetArray(&got_array, surf) == INVALID_HANDLE, "it is no texture");
	CHECK_MSG(!cuMemcpyHtoD_v2(in, x, 32) &&
			  !cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, NULL, params, NULL) &&
			  !cuCtxSynchronize(),
		  "store");
	CHECK_MSG(!cuMemcpyAtoH_v2(got, a, 0, 32) && !memcmp(got[0], x, 16), "stored");
	CHECK_MSG(got[1][0] == 5 && got[1][3] == 8, "nothing else");
	CHECK_MSG(!cuArrayDestroy(a), "free");
}

/* ---- samplers of a module ---- */

static void test_samplers(void)
{
	static const char code[] =
		".version 7.0\n.target sm_70, texmode_independent\n.address_size 64\n"
		".global .texref tex;\n"
		".global .samplerref near = {addr_mode_0 = clamp_to_border, filter_mode = nearest};\n"
		".global .samplerref blend = {filter_mode = linear, addr_mode_0 = wrap};\n"
		".global .samplerref texels = {force_unnormalized_coords = 1};\n" FETCH(
			"near_fetch", "tex, near") FETCH("blend_fetch", "tex, blend")
			FETCH("texel_fetch", "tex, texels");
	static const float x[8] = {-.25f, 0, .25f, .375f, .5f, .75f, 1, 1.25f};
	void *m, *tex = NULL, *f = NULL, *a = array_of(0);
	float got[8];

	CHECK_MSG(!cuModuleLoadData(&m, code) && !cuModuleGetTexRef(&tex, m, "tex") &&
			  !cuTexRefSetFlags(tex, NORMALIZED) && !cuTexRefSetArray(tex, a, 1),
		  "a module with samplers");
	CHECK_MSG(!cuModuleGetFunction(&f, m, "near_fetch") && !run(f, x, got) &&
			  same(got, (float[]){0, 5, 6, 6, 7, 8, 0, 0}),
		  "nearest, with a border");
	CHECK_MSG(!cuModuleGetFunction(&f, m, "blend_fetch") && !run(f, x, got) &&
			  same(got, (float[]){5.5f, 4.5f, 3.5f, 4, 4.5f, 5.5f, 4.5f, 3.5f}),
		  "blended, repeated");
	CHECK_MSG(!cuModuleGetFunction(&f, m, "texel_fetch") && !run(f, at, got) &&
			  same(got, (float[]){1, 1, 2, 3, 4, 4, 2, 3}),
		  "texels by number");
	CHECK_MSG(!cuTexRefSetFlags(tex, 0), "unnormalized");
	CHECK_MSG(!cuModuleGetFunction(&f, m, "near_fetch") && !run(f, at, got) &&
			  same(got, (float[]){0, 1, 2, 3, 4, 0, 2, 3}),
		  "a sampler does not normalize");
	CHECK_MSG(!cuModuleUnload(m), "unload");
	CHECK_MSG(cuTexRefSetFlags(tex, 0) == INVALID_HANDLE, "the reference went with it");
	CHECK_MSG(!cuArrayDestroy(a), "free");
}

/* ---- the runtime interface ---- */

int cudaDeviceSynchronize(void);
int cudaGetSymbolAddress(void **, const void *);
int cudaBindTexture(size_t *, const void *, const void *, const void *, size_t);
int cudaBindTexture2D(size_t *, const void *, const void *, const void *, size_t, size_t, size_t);
int cudaBindTextureToArray(const void *, void *, const void *);
int cudaBindSurfaceToArray(const void *, void *, const void *);
int cudaUnbindTexture(const void *);
int cudaGetTextureAlignmentOffset(size_t *, const void *);
int cudaGetTextureReference(const void **, const void *);
int cudaGetSurfaceReference(const void **, const void *);

/* As programs built with 11 have them. */
static struct {
	int normalized, filter, address[3], bits[4], kind, srgb;
	unsigned anisotropy;
	int mip_filter;
	float bias, level_min, level_max;
	int no_shortcut, reserved[14];
} host_texture = {.address = {CLAMP, CLAMP, CLAMP}};
static struct {
	int bits[4], kind;
} host_surface;
static const struct {
	int bits[4], kind;
} float_texel = {{32, 0, 0, 0}, 2}, byte_texel = {{8, 0, 0, 0}, 1};

static void fetch(void)
{
}
static void line(void)
{
}
static void paint(void)
{
}

static int start(void (*stub)(void), const void *x, float got[8])
{
	void *params[] = {&in, &out};
	const void *f = (const void *)(uintptr_t)stub;

	return cuMemcpyHtoD_v2(in, x, 32) ||
	       cudaLaunchKernel(f, 1ull << 32 | 1, 1, 1ull << 32 | 8, 1, params, 0, NULL) ||
	       cudaDeviceSynchronize() || cuMemcpyDtoH_v2(got, out, 32);
}

static void **register_all(void)
{
	void **image = __cudaRegisterFatBinary(text);

	__cudaRegisterFunction(image, (void *)(uintptr_t)fetch, NULL, "fetch", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterFunction(image, (void *)(uintptr_t)line, NULL, "line", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterFunction(image, (void *)(uintptr_t)paint, NULL, "paint", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterTexture(image, &host_texture, NULL, "tex", 2, 1, 0);
	__cudaRegisterSurface(image, &host_surface, NULL, "surf", 2, 0);
	__cudaRegisterFatBinaryEnd(image);
	return image;
}

static void test_runtime_memory(void)
{
	uint64_t p;
	uint8_t bytes[1024 + 32] = {0};
	size_t offset = 1;
	float got[8];

	for (int i = 0; i < 32; i++)
		bytes[1024 + i] = (uint8_t)(255 - i);
	memcpy(bytes, rows[0], 16);
	memcpy(bytes + 512, rows[1], 16);
	CHECK_MSG(!cuMemAlloc_v2(&p, sizeof(bytes)) && !cuMemcpyHtoD_v2(p, bytes, sizeof(bytes)),
		  "memory");
	host_texture.normalized = host_texture.filter = 0;
	CHECK_MSG(!cudaBindTexture2D(&offset, &host_texture, (void *)p, &float_texel, 4, 2, 512) &&
			  offset == 0,
		  "rows");
	CHECK_MSG(!start(fetch, at, got) && same(got, (float[]){1, 1, 2, 3, 4, 4, 2, 3}),
		  "of memory");
	CHECK_MSG(cudaBindTexture(NULL, &host_texture, (void *)(p + 1028), &byte_texel, 28) ==
			  INVALID_VALUE,
		  "an address that is rounded needs an offset");
	CHECK_MSG(!cudaBindTexture(&offset, &host_texture, (void *)(p + 1028), &byte_texel,
				   UINT32_MAX) &&
			  offset == 4,
		  "bytes up to the end of the memory");
	offset = 0;
	CHECK_MSG(!cudaGetTextureAlignmentOffset(&offset, &host_texture) && offset == 4,
		  "the offset");
	CHECK_MSG(!start(line, (int[]){0, 1, 2, 3, 4, 31, 32, -1}, got) &&
			  same(got, (float[]){1, 254 / 255.f, 253 / 255.f, 252 / 255.f, 251 / 255.f,
					      224 / 255.f, 0, 0}),
		  "as fractions");
	CHECK_MSG(!cudaUnbindTexture(&host_texture), "unbind");
	CHECK_MSG(cudaGetTextureAlignmentOffset(&offset, &host_texture) == INVALID_BINDING,
		  "unbound");
	CHECK_MSG(!cuMemFree_v2(p), "free");
}

static void test_runtime(void)
{
	static const float x[8] = {0, .25f, .5f, .75f, 1, 1.25f, -.25f, -.5f};
	void **image = register_all(), *a = array_of(2);
	const void *reference = NULL;
	float got[8], texels[2][4];

	CHECK_MSG(!cudaGetTextureReference(&reference, &host_texture) && reference == &host_texture,
		  "the structure is the reference");
	CHECK_MSG(cudaGetTextureReference(&reference, &host_surface) == INVALID_TEXTURE,
		  "not this one");
	CHECK_MSG(cudaGetSurfaceReference(&reference, &host_texture) == INVALID_SURFACE,
		  "nor that");
	CHECK_MSG(cudaGetSymbolAddress((void **)(uintptr_t)&reference, &host_texture) == 13,
		  "it has no address");
	host_texture.normalized = 1;
	host_texture.address[0] = WRAP;
	CHECK_MSG(!cudaBindTextureToArray(&host_texture, a, &float_texel), "bind an array");
	CHECK_MSG(!start(fetch, x, got) && same(got, (float[]){5, 6, 7, 8, 5, 6, 8, 7}), "fetch");
	CHECK_MSG(cudaBindTextureToArray(&host_texture, a, &byte_texel) == INVALID_VALUE,
		  "other texels");
	CHECK_MSG(cudaBindTextureToArray(&host_texture, got, &float_texel) == INVALID_HANDLE,
		  "no array");
	test_runtime_memory();
	CHECK_MSG(!cudaBindSurfaceToArray(&host_surface, a, &float_texel), "bind a surface");
	CHECK_MSG(cudaBindSurfaceToArray(&host_texture, a, &float_texel) == INVALID_SURFACE,
		  "a texture is none");
	CHECK_MSG(!start(paint, (float[]){10, 20, 30, 40, 50, 60, 70, 80}, got), "store");
	CHECK_MSG(!cuMemcpyAtoH_v2(texels, a, 0, 32) && texels[0][3] == 40 && texels[1][0] == 5,
		  "stored");
	CHECK_MSG(!cuArrayDestroy(a), "free");
	__cudaUnregisterFatBinary(image);
	CHECK_MSG(cudaUnbindTexture(&host_texture) == INVALID_TEXTURE, "unregistered");
}

int main(void)
{
	void *context, *m = NULL;

	CHECK_MSG(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context),
		  "start");
	CHECK_MSG(!cuMemAlloc_v2(&in, 32) && !cuMemAlloc_v2(&out, 32) &&
			  !cuModuleLoadData(&m, text),
		  "load");
	test_unbound(m);
	test_settings(m);
	test_memory(m);
	test_surface(m);
	test_samplers();
	CHECK_MSG(!cuModuleUnload(m), "unload");
	test_runtime();
	return check_done();
}
