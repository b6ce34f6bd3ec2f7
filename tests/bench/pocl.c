/*
 * Kernels in OpenCL, run by whatever OpenCL there is for processors (PoCL). The library is opened
 * while the program runs, so that building needs the headers at most and running needs nothing.
 */
#include "tests/bench/pocl.h"

#include "src/base/file.h"

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

/* The functions used, by name. */
/* clang-format off */
#define CL_FUNCTIONS(F) \
	F(clGetPlatformIDs) F(clGetDeviceIDs) F(clCreateContext) F(clCreateCommandQueue) \
	F(clCreateProgramWithSource) F(clBuildProgram) F(clCreateKernel) F(clCreateBuffer) \
	F(clSetKernelArg) F(clEnqueueNDRangeKernel) F(clFinish) F(clReleaseMemObject) \
	F(clReleaseKernel) F(clReleaseProgram) F(clReleaseCommandQueue) F(clReleaseContext)
/* clang-format on */

#define POCL_KERNELS_MAX 32

struct pocl {
	void *library;
#define FUNCTION(name) __typeof__(name) *name;
	CL_FUNCTIONS(FUNCTION)
#undef FUNCTION
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel[POCL_KERNELS_MAX];
	cl_mem buffer[POCL_KERNELS_MAX][POCL_ARGS_MAX];
	int kernels;
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

static bool set_arg(struct pocl *p, int k, u32 n, const struct pocl_arg *arg)
{
	cl_int error;

	if (!arg->is_buffer)
		return !p->clSetKernelArg(p->kernel[k], n, arg->bytes, arg->at);
	p->buffer[k][n] = p->clCreateBuffer(p->context, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE,
					    arg->bytes, arg->at, &error);
	return !error && !p->clSetKernelArg(p->kernel[k], n, sizeof(cl_mem), &p->buffer[k][n]);
}

int pocl_kernel(struct pocl *p, const char *name, const struct pocl_arg *args)
{
	int k = p->kernels;
	cl_int error;

	if (k == POCL_KERNELS_MAX)
		return -1;
	p->kernel[k] = p->clCreateKernel(p->program, name, &error);
	if (error)
		return -1;
	p->kernels++;
	for (u32 i = 0; i < POCL_ARGS_MAX && args[i].bytes; i++)
		if (!set_arg(p, k, i, &args[i]))
			return -1;
	return k;
}

bool pocl_run(struct pocl *p, int kernel, const u32 *grid, const u32 *block)
{
	size_t local[3], global[3];

	for (u32 i = 0; i < 3; i++) {
		local[i] = block[i];
		global[i] = (size_t)grid[i] * block[i];
	}
	return !p->clEnqueueNDRangeKernel(p->queue, p->kernel[kernel], 3, NULL, global, local, 0,
					  NULL, NULL) &&
	       !p->clFinish(p->queue);
}

struct pocl *pocl_open(const char *source)
{
	struct pocl *p = calloc(1, sizeof(*p));
	const char *why = "no libOpenCL";
	cl_int error;

	if (!p)
		return NULL;
	if (!find_functions(p))
		goto fail;
	why = "no OpenCL device of type CPU";
	if (!find_device(p))
		goto fail;
	why = "the OpenCL kernels cannot be built";
	p->program = p->clCreateProgramWithSource(p->context, 1, &source, NULL, &error);
	if (error || p->clBuildProgram(p->program, 0, NULL, "", NULL, NULL))
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
	for (int k = 0; k < p->kernels; k++) {
		for (u32 i = 0; i < POCL_ARGS_MAX; i++)
			if (p->buffer[k][i])
				p->clReleaseMemObject(p->buffer[k][i]);
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

struct pocl *pocl_open(const char *source PL_UNUSED)
{
	printf("SKIP: no comparison with PoCL: built without CL/cl.h\n");
	return NULL;
}

void pocl_close(struct pocl *p PL_UNUSED)
{
}

int pocl_kernel(struct pocl *p PL_UNUSED, const char *name PL_UNUSED,
		const struct pocl_arg *args PL_UNUSED)
{
	return -1;
}

bool pocl_run(struct pocl *p PL_UNUSED, int kernel PL_UNUSED, const u32 *grid PL_UNUSED,
	      const u32 *block PL_UNUSED)
{
	return false;
}

#endif

struct pocl *pocl_open_beside(const char *ptx)
{
	size_t n = strlen(ptx);
	char *path = malloc(n + 1), *source;
	struct pocl *p = NULL;
	struct file f;

	if (!path || n < 4)
		goto done;
	snprintf(path, n + 1, "%.*s.cl", (int)n - 4, ptx);
	if (!file_open(&f, path))
		goto done;
	source = strndup((const char *)f.data, f.size);
	file_close(&f);
	p = source ? pocl_open(source) : NULL;
	free(source);
done:
	free(path);
	return p;
}
