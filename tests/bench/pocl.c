/*
 * The kernels of bench.cu in OpenCL, run by whatever OpenCL there is for processors (PoCL). The
 * library is opened while the program runs, so that building needs the headers at most and running
 * needs nothing.
 */
#include "tests/bench/engine.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define HAVE_OPENCL 1
#endif
#endif

#ifdef HAVE_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

static const char source[] =
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"__kernel void vadd(__global const float *a, __global const float *b, __global float *c, int n)\n"
	"{ int i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }\n"
	"__kernel void sgemm(__global const float *a, __global const float *b, __global float *c, int n)\n"
	"{ __local float as[16][16], bs[16][16];\n"
	"  int tx = get_local_id(0), ty = get_local_id(1), row = get_global_id(1), "
	"col = get_global_id(0); float sum = 0;\n"
	"  for (int t = 0; t < n; t += 16) {\n"
	"    as[ty][tx] = a[row * n + t + tx]; bs[ty][tx] = b[(t + ty) * n + col]; barrier(CLK_LOCAL_MEM_FENCE);\n"
	"    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];\n"
	"    barrier(CLK_LOCAL_MEM_FENCE); }\n"
	"  c[row * n + col] = sum; }\n"
	"__kernel void mandel(__global int *out, int w, int h, int limit)\n"
	"{ int x = get_global_id(0), y = get_global_id(1), i = 0;\n"
	"  float cr = -2.2f + 3.0f * x / w, ci = -1.5f + 3.0f * y / h, zr = 0, zi = 0;\n"
	"  if (x >= w || y >= h) return;\n"
	"  while (i < limit && zr * zr + zi * zi < 4.0f) { float t = zr * zr - zi * zi + cr; "
	"zi = 2 * zr * zi + ci; zr = t; i++; }\n"
	"  out[y * w + x] = i; }\n"
	"__kernel void hash(__global unsigned *out, int n)\n"
	"{ __local unsigned s[256]; int i = get_global_id(0), t = get_local_id(0); "
	"unsigned x = i * 2654435761u + 12345u;\n"
	"  for (int k = 0; k < 64; k++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; x = x * 1664525u + 1013904223u; }\n"
	"  s[t] = i < n ? x : 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  for (int o = 128; o; o >>= 1) { if (t < o) s[t] += s[t + o]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
	"  if (t == 0) atomic_add(out, s[0]); }\n"
	"__kernel void stencil(__global const double *in, __global double *out, int n)\n"
	"{ int x = get_global_id(0), y = get_global_id(1);\n"
	"  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;\n"
	"  out[y * n + x] = 0.5 * in[y * n + x] +\n"
	"    0.125 * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]); }\n"
	"__kernel void reduce(__global const unsigned *in, __global unsigned *out, int n)\n"
	"{ __local unsigned s[256]; unsigned sum = 0; int t = get_local_id(0);\n"
	"  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];\n"
	"  s[t] = sum; barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  for (int o = 128; o; o >>= 1) { if (t < o) s[t] += s[t + o]; barrier(CLK_LOCAL_MEM_FENCE); }\n"
	"  if (t == 0) atomic_add(out, s[0]); }\n";

/* The functions used, by name. */
/* clang-format off */
#define CL_FUNCTIONS(F) \
	F(clGetPlatformIDs) F(clGetDeviceIDs) F(clCreateContext) F(clCreateCommandQueue) \
	F(clCreateProgramWithSource) F(clBuildProgram) F(clCreateKernel) F(clCreateBuffer) \
	F(clSetKernelArg) F(clEnqueueNDRangeKernel) F(clFinish) F(clReleaseMemObject) \
	F(clReleaseKernel) F(clReleaseProgram) F(clReleaseCommandQueue) F(clReleaseContext)
/* clang-format on */

struct pocl {
	void *library;
#define FUNCTION(name) __typeof__(name) *name;
	CL_FUNCTIONS(FUNCTION)
#undef FUNCTION
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel[BENCH_KERNELS];
	cl_mem buffer[BENCH_KERNELS][3];
	const struct bench_job *jobs;
};

static bool find_functions(struct pocl *p)
{
	p->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!p->library)
		return false;
#define FUNCTION(name)                                                                             \
	*(void **)&p->name = dlsym(p->library, #name);                                             \
	if (!p->name)                                                                              \
		return false;
	CL_FUNCTIONS(FUNCTION)
#undef FUNCTION
	return true;
}

static bool find_device(struct pocl *p)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int error;

	if (p->clGetPlatformIDs(1, &platform, NULL) ||
	    p->clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL))
		return false;
	p->context = p->clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	if (error)
		return false;
	p->queue = p->clCreateCommandQueue(p->context, device, 0, &error);
	return !error;
}

/* Buffers are the job's own memory. */
static bool make_kernel(struct pocl *p, u32 k)
{
	const struct bench_job *j = &p->jobs[k];
	u32 arg = 0;
	cl_int error;

	p->kernel[k] = p->clCreateKernel(p->program, j->name, &error);
	if (error)
		return false;
	for (u32 i = 0; i < 3; i++) {
		size_t bytes = i < 2 ? j->in_bytes[i] : j->out_bytes;

		if (!bytes)
			continue;
		p->buffer[k][i] =
			p->clCreateBuffer(p->context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE,
					  bytes, i < 2 ? j->in[i] : j->out, &error);
		if (error ||
		    p->clSetKernelArg(p->kernel[k], arg++, sizeof(cl_mem), &p->buffer[k][i]))
			return false;
	}
	for (u32 i = 0; i < ARRAY_LEN(j->ints) && j->ints[i]; i++)
		if (p->clSetKernelArg(p->kernel[k], arg++, 4, &j->ints[i]))
			return false;
	return pocl_run(p, k);
}

bool pocl_run(struct pocl *p, u32 k)
{
	const struct bench_job *j = &p->jobs[k];
	size_t local[3], global[3];

	for (u32 i = 0; i < 3; i++) {
		local[i] = j->block[i];
		global[i] = (size_t)j->grid[i] * j->block[i];
	}
	return !p->clEnqueueNDRangeKernel(p->queue, p->kernel[k], 3, NULL, global, local, 0, NULL,
					  NULL) &&
	       !p->clFinish(p->queue);
}

struct pocl *pocl_open(struct bench_job *jobs)
{
	struct pocl *p = calloc(1, sizeof(*p));
	const char *text = source, *why = "no libOpenCL";
	cl_int error;

	if (!p)
		return NULL;
	p->jobs = jobs;
	if (!find_functions(p))
		goto fail;
	why = "no OpenCL device of type CPU";
	if (!find_device(p))
		goto fail;
	why = "the OpenCL kernels cannot be built";
	p->program = p->clCreateProgramWithSource(p->context, 1, &text, NULL, &error);
	if (error || p->clBuildProgram(p->program, 0, NULL, "", NULL, NULL))
		goto fail;
	why = "the OpenCL kernels cannot be run";
	for (u32 k = 0; k < BENCH_KERNELS; k++)
		if (!make_kernel(p, k))
			goto fail;
	return p;
fail:
	printf("SKIP: no comparison with PoCL: %s\n", why);
	pocl_close(p);
	return NULL;
}

void pocl_close(struct pocl *p)
{
	if (!p)
		return;
	for (u32 k = 0; k < BENCH_KERNELS; k++) {
		for (u32 i = 0; i < 3; i++)
			if (p->buffer[k][i])
				p->clReleaseMemObject(p->buffer[k][i]);
		if (p->kernel[k])
			p->clReleaseKernel(p->kernel[k]);
	}
	if (p->program)
		p->clReleaseProgram(p->program);
	if (p->queue)
		p->clReleaseCommandQueue(p->queue);
	if (p->context)
		p->clReleaseContext(p->context);
	/* The library stays: it does not bear being unloaded while its threads end. */
	free(p);
}

#else

struct pocl *pocl_open(struct bench_job *jobs PL_UNUSED)
{
	printf("SKIP: no comparison with PoCL: built without CL/cl.h\n");
	return NULL;
}

void pocl_close(struct pocl *p PL_UNUSED)
{
}

bool pocl_run(struct pocl *p PL_UNUSED, u32 kernel PL_UNUSED)
{
	return false;
}

#endif
