# `ptxloom cc` as users use it: its options, several files, messages, and programs for each group of what
# its headers have.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1

needs_clang

# right NAME: ./program ends well and says so.
right()
{
	succeeds "$1: runs" timeout 120 ptxloom run ./program
	says out 'all right' "$1: is right"
}

for name in math language headers orders; do
	rm -f program
	succeeds "$name: builds" ptxloom cc "$top/tests/programs/cc_$name.cu" -o program -lcuda
	right "$name"
done

succeeds "orders: no error is found" timeout 120 ptxloom check ./program

rm -f program
succeeds "language, -G: builds" ptxloom cc -G "$top/tests/programs/cc_language.cu" -o program -lcuda
right "language, -G"

# ---- several files, objects, options ----

cat >one.cu <<'END'
#include "two.h"
#include <stdio.h>
__global__ void add(int *x, int n)
{
	if (threadIdx.x < n)
		x[threadIdx.x] += STEP;
}
int main()
{
	int *x, sum = 0, back[32];

	cudaMalloc(&x, sizeof(back));
	cudaMemset(x, 0, sizeof(back));
	add<<<1, 32>>>(x, 32);
	twice(x, 32);
	cudaMemcpy(back, x, sizeof(back), cudaMemcpyDeviceToHost);
	for (int v : back)
		sum += v;
	puts(sum == 2 * 32 * STEP && host_part(1) == 2 && STEP == 5 ? "all right" : "wrong");
	return 0;
}
END
cat >two.h <<'END'
void twice(int *x, int n);
extern "C" int host_part(int x);
END
cat >two.cu <<'END'
#include "two.h"
__global__ void add(int *x, int n)
{
	if (threadIdx.x < n)
		x[threadIdx.x] *= 2;
}
static void launch(int *x, int n) { add<<<1, 32>>>(x, n); }
void twice(int *x, int n) { launch(x, n); }
END
sed -i 's/add/two_add/' two.cu
cat >three.cpp <<'END'
#include <cuda_runtime.h>
extern "C" int host_part(int x)
{
	int n = 0;
	float4 v = make_float4(1, 2, 3, 4);

	return cudaGetDeviceCount(&n) == cudaSuccess && n > 0 && v.w == 4 ? x + 1 : 0;
}
END
cat >four.c <<'END'
#include <cuda.h>
#include <cuda_runtime_api.h>
int four(void)
{
	int n = 0;
	struct cudaDeviceProp p;

	return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&n) == CUDA_SUCCESS && sizeof(p) > 700;
}
END
succeeds "several files: builds" ptxloom cc -DSTEP=5 one.cu two.cu three.cpp four.c -o program -lcuda
right "several files"
succeeds "-c: an object for each source" ptxloom cc -DSTEP=5 -c one.cu two.cu three.cpp
rm -f program
succeeds "objects: link" ptxloom cc one.o two.o three.o -o program
right "objects"
succeeds "options of nvcc are taken" ptxloom cc -D STEP=5 -std=c++14 -O3 -g -lineinfo -Xptxas -v \
	-Xcompiler -Wall,-fPIC -gencode arch=compute_70,code=sm_70 -gencode=arch=compute_80,code=sm_80 \
	--expt-extended-lambda -maxrregcount=32 -lcudart -lm -I . one.cu two.cu three.cpp -o program
right "options of nvcc"
succeeds "-G: builds" ptxloom cc -G -DSTEP=5 one.cu two.cu three.cpp -o program
right "-G"
succeeds "-use_fast_math: builds" ptxloom cc -use_fast_math -DSTEP=5 one.cu two.cu three.cpp -o program
right "-use_fast_math"
succeeds "-run runs the program" ptxloom cc -DSTEP=5 one.cu two.cu three.cpp -o program -run
says out 'all right' "-run: is right"
succeeds "-ptx: PTX beside the current folder's files" ptxloom cc -DSTEP=5 -ptx one.cu
succeeds "-ptx: it is accepted" ptxloom lint one.ptx
succeeds "-M: names what a source depends on" ptxloom cc -M -DSTEP=5 one.cu
says out 'two\.h' "-M: the included file is there"
succeeds "-MD -MF: builds" ptxloom cc -MD -MF deps -DSTEP=5 -c one.cu -o other.o
grep -q 'two\.h' deps && [ -s other.o ]
ok $? "-MD -MF: writes both files"
succeeds "-dryrun: shows the commands" ptxloom cc -dryrun -DSTEP=5 one.cu -o dry
says any 'cuda-device-only' "-dryrun: shows the one for the device"
ok "$([ ! -e dry ]; echo $?)" "-dryrun: runs none"
succeeds "-shared: builds a library" ptxloom cc -shared -Xcompiler -fPIC two.cu -o libtwo.so
rm -f program
succeeds "-shared: links with it" ptxloom cc -DSTEP=5 one.cu three.cpp -L. -ltwo -Xlinker -rpath,. -o program
right "-shared"
succeeds "a newer target is made for what clang knows" ptxloom cc -arch=sm_120 -DSTEP=5 -c one.cu
says any 'note: .* not for sm_120' "a newer target: says so"

# ---- messages ----

cat >wrong.cu <<'END'
__global__ void k(int *x)
{
	x[0] = undeclared;
}
int main() {}
END
refused 1 'wrong.cu:3:9: error' "an error is located" ptxloom cc wrong.cu -o wrong
refused 2 'not supported' "-cubin is refused" ptxloom cc -cubin one.cu
refused 2 'no file given' "no file is an error" ptxloom cc -O2
refused 2 'needs a value' "-o without a value is an error" ptxloom cc one.cu -o
refused 2 'is not a target' "a wrong target is an error" ptxloom cc -arch=sm_x one.cu
refused 2 'several sources' "-c -o with two sources is an error" ptxloom cc -c one.cu two.cu -o x.o
refused 2 'per thread' "default streams per thread are refused" ptxloom cc -default-stream=per-thread one.cu
refused 2 'clang is not found' "no clang is said" env PTXLOOM_CLANG=/nonexistent ptxloom cc one.cu
# ---- the driver's functions by their plain names ----

cat >driver.cu <<'END'
#include <cuda.h>
#include <stdio.h>
int main()
{
	CUdevice device;
	CUcontext context;
	CUdeviceptr p;
	unsigned x = 5, y = 0, z = 0;

	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context) || cuMemAlloc(&p, 4) || cuMemcpyHtoD(p, &x, 4) ||
	    cuMemcpyDtoH(&y, p, 4) || cuMemsetD32(p, 7, 1) || cuMemcpyDtoH(&z, p, 4) || cuMemFree(p))
		return 1;
	puts(y == 5 && z == 7 ? "all right" : "wrong");
	return 0;
}
END
rm -f program
succeeds "driver: builds" ptxloom cc driver.cu -o program -lcuda
right driver
api=$top/share/ptxloom/include/ptxloom/driver_api.h
for name in $(grep -o 'cu[A-Z][A-Za-z0-9]*_v[0-9](' "$api" | sed 's/_v[0-9](//' | sort -u); do
	grep -qE "^#define $name |\b$name\(" "$api" || echo "$name"
done >missing
empty "$(cat missing)" "functions with versions have names without"
finish
