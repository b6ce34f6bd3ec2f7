/*
 * A unit test of a kernel: saxpy from saxpy.ptx, called like any C function and compared with what
 * C computes. Usage: saxpy_test [saxpy.ptx]. Ends with 0 when all is well.
 */
#include <ptxloom.h>

#include <math.h>
#include <stdio.h>

#define N 1000

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "samples/saxpy.ptx";
	int (*saxpy)(int n, float a, const float *x, float *y);
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct ptxloom_kernel *kernel;
	char text[4096];
	float x[N], y[N];
	int status, wrong = 0;

	if (ptxloom_device_open(NULL, &dev))
		return 2;
	status = ptxloom_module_load_file(dev, path, &mod);
	kernel = status ? NULL : ptxloom_module_kernel(mod, "saxpy");
	if (!kernel ||
	    ptxloom_bind(kernel, "(n, a, in f32 x[n], inout f32 y[n]) <<<(n + 255) / 256, 256>>>",
			 (void **)&saxpy)) {
		ptxloom_message(dev, text, sizeof(text));
		fprintf(stderr, "%s", text);
		return 2;
	}
	for (int i = 0; i < N; i++) {
		x[i] = (float)i;
		y[i] = 1;
	}
	status = saxpy(N, 0.1f, x, y);
	for (int i = 0; i < N; i++)
		wrong += y[i] != fmaf(0.1f, x[i], 1);
	printf("saxpy on %s: %s, %d of %d elements differ\n", ptxloom_device_name(dev),
	       ptxloom_status_text(status), wrong, N);
	ptxloom_device_close(dev);
	return status || wrong;
}
