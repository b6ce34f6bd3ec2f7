/*
 * Kernels that launch kernels, in PTX as CUDA 11 wrote it: where the parent waits for its children,
 * and children that fetch textures, by handle and by reference.
 */
#include "tests/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuTexObjectCreate(uint64_t *, const void *, const void *, const void *);
int cuModuleGetTexRef(void **, void *, const char *);
int cuTexRefSetFormat(void *, int, int);
int cuTexRefSetAddress_v2(size_t *, void *, uint64_t, size_t);

static const char text[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, "
	".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
	".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
	".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
	".extern .func (.param .b32 r) cudaMemcpy3DAsync(.param .b64 p, .param .b64 s);\n"
	".visible .entry child(.param .u64 p, .param .u32 v) {\n"
	"	.reg .u64 %p; .reg .u32 %v; ld.param.u64 %p, [p]; ld.param.u32 %v, [v];\n"
	"	red.global.add.u32 [%p], %v; ret;\n"
	"}\n"
	".visible .entry bad() { trap; }\n"
	/*
	 * launches `child` or `bad` twice, waits, and copies what the first word is then to the
	 * second
	 */
	".visible .entry parent(.param .u64 p, .param .u32 fail) {\n"
	"	.reg .u64 %p, %f, %b, %g; .reg .u32 %v, %s, %i; .reg .pred %q;\n"
	"	ld.param.u64 %p, [p]; ld.param.u32 %v, [fail]; mov.u32 %i, 0;\n"
	"	mov.u64 %f, child; mov.u64 %g, bad; setp.ne.u32 %q, %v, 0; selp.u64 %f, %g, %f, %q;\n"
	"AGAIN:\n"
	"	{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; "
	".param .b64 r;\n"
	"	st.param.b64 [f], %f; st.param.b32 [g], 4; st.param.b32 [g+4], 1; "
	"st.param.b32 [g+8], 1;\n"
	"	st.param.b32 [b], 8; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; "
	"st.param.b32 [s], 0;\n"
	"	call.uni (r), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %b, [r]; }\n"
	"	st.u64 [%b], %p; st.u32 [%b+8], 3;\n"
	"	{ .param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], %b; "
	"st.param.b64 [s], 0;\n"
	"	call.uni (r), cudaLaunchDeviceV2, (b, s); ld.param.b32 %s, [r]; }\n"
	"	st.global.u32 [%p+8], %s; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 2; @%q bra AGAIN;\n"
	"	{ .param .b32 r; call.uni (r), cudaDeviceSynchronize, (); ld.param.b32 %s, [r]; }\n"
	"	st.global.u32 [%p+12], %s; ld.volatile.global.u32 %v, [%p]; st.global.u32 [%p+4], %v;\n"
	"	ret;\n"
	"}\n"
	".global .texref ref;\n"
	".visible .entry fetch(.param .u64 p, .param .u64 t) {\n"
	"	.reg .u64 %p, %t; .reg .s32 %i; .reg .u32 %x; .reg .f32 %a, %b, %d<3>;\n"
	"	ld.param.u64 %p, [p]; ld.param.u64 %t, [t]; mov.u32 %x, %tid.x; cvt.s32.u32 %i, %x;\n"
	"	tex.1d.v4.f32.s32 {%a, %d0, %d1, %d2}, [%t, {%i}];\n"
	"	tex.1d.v4.f32.s32 {%b, %d0, %d1, %d2}, [ref, {%i}];\n"
	"	mad.wide.u32 %p, %x, 8, %p; st.global.v2.f32 [%p], {%a, %b}; ret;\n"
	"}\n"
	".visible .entry fetching(.param .u64 p, .param .u64 t) {\n"
	"	.reg .u64 %p, %t, %f, %b; .reg .u32 %s;\n"
	"	ld.param.u64 %p, [p]; ld.param.u64 %t, [t]; mov.u64 %f, fetch;\n"
	"	{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; "
	".param .b64 r;\n"
	"	st.param.b64 [f], %f; st.param.b32 [g], 1; st.param.b32 [g+4], 1; "
	"st.param.b32 [g+8], 1;\n"
	"	st.param.b32 [b], 4; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; "
	"st.param.b32 [s], 0;\n"
	"	call.uni (r), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %b, [r]; }\n"
	"	st.u64 [%b], %p; st.u64 [%b+8], %t;\n"
	"	{ .param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], %b; "
	"st.param.b64 [s], 0;\n"
	"	call.uni (r), cudaLaunchDeviceV2, (b, s); ld.param.b32 %s, [r]; }\n"
	"	ret;\n"
	"}\n"
	/* copies as the structure at p says, and puts the answer to r */
	".visible .entry copies(.param .u64 p, .param .u64 r) {\n"
	"	.reg .u64 %p, %r; .reg .u32 %s; ld.param.u64 %p, [p]; ld.param.u64 %r, [r];\n"
	"	{ .param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], %p; "
	"st.param.b64 [s], 0;\n"
	"	call.uni (r), cudaMemcpy3DAsync, (b, s); ld.param.b32 %s, [r]; }\n"
	"	st.global.u32 [%r], %s; ret;\n"
	"}\n";

/* CUDA_RESOURCE_DESC of linear memory. */
struct linear {
	int kind;
	uint64_t address;
	int format;
	unsigned channels;
	size_t bytes;
	int reserved[32];
};

static void fetch_in_children(void *module)
{
	static const float texels[4] = {1, 2, 3, 4}, others[4] = {5, 6, 7, 8};
	struct linear r = {.kind = 2, .format = 0x20, .channels = 1, .bytes = sizeof(texels)};
	uint64_t out = 0, other = 0, texture = 0;
	char settings[256] = {0};
	void *parent = NULL, *ref = NULL, *args[2] = {&out, &texture};
	float got[4][2] = {{0}};

	CHECK_EQ(cuMemAlloc_v2(&r.address, sizeof(texels)), 0);
	CHECK_EQ(cuMemAlloc_v2(&other, sizeof(others)), 0);
	CHECK_EQ(cuMemAlloc_v2(&out, sizeof(got)), 0);
	CHECK_EQ(cuMemcpyHtoD_v2(r.address, texels, sizeof(texels)), 0);
	CHECK_EQ(cuMemcpyHtoD_v2(other, others, sizeof(others)), 0);
	CHECK_EQ(cuTexObjectCreate(&texture, &r, settings, NULL), 0);
	CHECK_EQ(cuModuleGetTexRef(&ref, module, "ref"), 0);
	CHECK_EQ(cuTexRefSetFormat(ref, 0x20, 1), 0);
	CHECK_EQ(cuTexRefSetAddress_v2(NULL, ref, other, sizeof(others)), 0);
	CHECK_EQ(cuModuleGetFunction(&parent, module, "fetching"), 0);
	CHECK_EQ(cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
	CHECK_EQ(cuCtxSynchronize(), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(got, out, sizeof(got)), 0);
	for (int i = 0; i < 4; i++) {
		CHECK(got[i][0] == texels[i]);
		CHECK(got[i][1] == others[i]);
	}
}

/* cudaMemcpy3DParms. */
struct box_copy {
	void *from_array;
	size_t from_at[3];
	uint64_t from, from_pitch, from_width, from_height;
	void *to_array;
	size_t to_at[3];
	uint64_t to, to_pitch, to_width, to_height;
	size_t extent[3];
	int kind;
};

/* What a kernel is told when it asks for this copy between two buffers, and then the second one. */
static int copy_in_kernel(void *kernel, struct box_copy how, char *second)
{
	static const char a[16] = "aaaaaaaaaaaaaaa", b[16] = "bbbbbbbbbbbbbbb";
	uint64_t place = 0, result = 0;
	void *args[2] = {&place, &result};
	int status = -1;

	CHECK_EQ(cuMemAlloc_v2(&how.from, sizeof(a)), 0);
	CHECK_EQ(cuMemAlloc_v2(&how.to, sizeof(b)), 0);
	CHECK_EQ(cuMemAlloc_v2(&place, sizeof(how)), 0);
	CHECK_EQ(cuMemAlloc_v2(&result, sizeof(status)), 0);
	CHECK_EQ(cuMemcpyHtoD_v2(how.from, a, sizeof(a)), 0);
	CHECK_EQ(cuMemcpyHtoD_v2(how.to, b, sizeof(b)), 0);
	CHECK_EQ(cuMemcpyHtoD_v2(place, &how, sizeof(how)), 0);
	CHECK_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
	CHECK_EQ(cuCtxSynchronize(), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(&status, result, sizeof(status)), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(second, how.to, sizeof(b)), 0);
	return status;
}

/* Positions and ends whose sums or products do not fit 64 bits are refused, and touch nothing. */
static void absurd_copies(void *module)
{
	struct box_copy plain = {.from_pitch = 4,
				 .from_height = 4,
				 .to_pitch = 4,
				 .to_height = 4,
				 .extent = {4, 2, 1},
				 .kind = 3};
	struct box_copy c = plain;
	void *kernel = NULL;
	char got[16];

	CHECK_EQ(cuModuleGetFunction(&kernel, module, "copies"), 0);
	CHECK_EQ(copy_in_kernel(kernel, c, got), 0);
	CHECK(!memcmp(got, "aaaaaaaabbbbbbb", 16));
	c.to_pitch = (uint64_t)1 << 62;
	c.to_at[2] = 1;
	CHECK_EQ(copy_in_kernel(kernel, c, got), 1);
	CHECK(!memcmp(got, "bbbbbbbbbbbbbbb", 16));
	c.to_at[2] = 0;
	c.to_at[1] = 4;
	CHECK_EQ(copy_in_kernel(kernel, c, got), 1);
	CHECK(!memcmp(got, "bbbbbbbbbbbbbbb", 16));
	c = plain;
	c.from_at[0] = SIZE_MAX - 3;
	CHECK_EQ(copy_in_kernel(kernel, c, got), 1);
	c = plain;
	c.to_pitch = (uint64_t)1 << 63;
	c.extent[1] = 3;
	CHECK_EQ(copy_in_kernel(kernel, c, got), 1);
	CHECK(!memcmp(got, "bbbbbbbbbbbbbbb", 16));
	/* Of one slice, its size does not matter. */
	c = plain;
	c.to_height = SIZE_MAX;
	CHECK_EQ(copy_in_kernel(kernel, c, got), 0);
	CHECK(!memcmp(got, "aaaaaaaabbbbbbb", 16));
}

int main(void)
{
	void *context, *module = NULL, *parent = NULL, *args[2];
	uint64_t memory = 0;
	int values[4] = {-1, -1, -1, -1}, fail = 0;

	setenv("PTXLOOM_DEVICE", "a100", 1);
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	CHECK_EQ(cuInit(0), 0);
	CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
	CHECK_EQ(cuCtxSetCurrent(context), 0);
	CHECK_EQ(cuModuleLoadData(&module, text), 0);
	CHECK_EQ(cuModuleGetFunction(&parent, module, "parent"), 0);
	CHECK_EQ(cuMemAlloc_v2(&memory, 16), 0);
	args[0] = &memory;
	args[1] = &fail;
	CHECK_EQ(cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(values, memory, 16), 0);
	CHECK_EQ(values[0], 2 * 32 * 3);
	CHECK_EQ(values[1], 2 * 32 * 3);
	CHECK_EQ(values[2], 0);
	CHECK_EQ(values[3], 0);
	fetch_in_children(module);
	absurd_copies(module);
	fail = 1;
	CHECK_EQ(cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
	CHECK_EQ(cuCtxSynchronize(), 719);
	return check_done();
}
