/*
 * A surface is written by one kernel and fetched as a texture by another, with and without blending;
 * memory is fetched by number.
 */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W 16
#define H 8

static void check(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	printf("%s: error %d\n", what, (int)e);
	fflush(stdout);
	_Exit(1);
}

__global__ void write(cudaSurfaceObject_t s)
{
	int x = threadIdx.x, y = blockIdx.x;

	surf2Dwrite((float)(x + 100 * y), s, x * 4, y);
}

__global__ void fetch(float *out, cudaTextureObject_t t)
{
	int x = threadIdx.x, y = blockIdx.x;

	out[y * W + x] = tex2D<float>(t, x + 1.0f, y + 0.5f);
}

__global__ void count(unsigned *out, cudaTextureObject_t t)
{
	out[threadIdx.x] = tex1Dfetch<unsigned>(t, threadIdx.x * 2);
}

static cudaTextureObject_t make(const cudaResourceDesc *res, cudaTextureFilterMode filter)
{
	cudaTextureObject_t t;
	cudaTextureDesc d;

	memset(&d, 0, sizeof(d));
	d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
	d.filterMode = filter;
	check(cudaCreateTextureObject(&t, res, &d, NULL), "cudaCreateTextureObject");
	return t;
}

static int compare(const float *got, bool blended)
{
	int wrong = 0;

	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			float right = x + 1 < W ? x + 1.0f : x, want = right + 100 * y;

			if (blended)
				want = (x + right) / 2 + 100 * y;
			wrong += got[y * W + x] != want;
		}
	return wrong;
}

int main(void)
{
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	static float host[W * H];
	static unsigned words[64], back[32];
	cudaResourceDesc res;
	cudaSurfaceObject_t s;
	cudaTextureObject_t t;
	cudaArray_t a;
	unsigned *in, *numbers;
	float *out;
	int wrong = 0;

	memset(&res, 0, sizeof(res));
	check(cudaMallocArray(&a, &f, W, H, cudaArraySurfaceLoadStore), "cudaMallocArray");
	res.resType = cudaResourceTypeArray;
	res.res.array.array = a;
	check(cudaCreateSurfaceObject(&s, &res), "cudaCreateSurfaceObject");
	check(cudaMalloc(&out, sizeof(host)), "cudaMalloc");
	write<<<H, W>>>(s);
	for (int blended = 0; blended < 2; blended++) {
		t = make(&res, blended ? cudaFilterModeLinear : cudaFilterModePoint);
		fetch<<<H, W>>>(out, t);
		check(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost), "cudaMemcpy");
		wrong += compare(host, blended);
		check(cudaDestroyTextureObject(t), "cudaDestroyTextureObject");
	}
	check(cudaDestroySurfaceObject(s), "cudaDestroySurfaceObject");
	check(cudaFreeArray(a), "cudaFreeArray");

	for (unsigned i = 0; i < 64; i++)
		words[i] = i * i;
	check(cudaMalloc(&in, sizeof(words)), "cudaMalloc");
	check(cudaMalloc(&numbers, sizeof(back)), "cudaMalloc");
	check(cudaMemcpy(in, words, sizeof(words), cudaMemcpyHostToDevice), "cudaMemcpy");
	memset(&res, 0, sizeof(res));
	res.resType = cudaResourceTypeLinear;
	res.res.linear.devPtr = in;
	res.res.linear.desc = cudaCreateChannelDesc<unsigned>();
	res.res.linear.sizeInBytes = sizeof(words);
	t = make(&res, cudaFilterModePoint);
	count<<<1, 32>>>(numbers, t);
	check(cudaMemcpy(back, numbers, sizeof(back), cudaMemcpyDeviceToHost), "cudaMemcpy");
	for (unsigned i = 0; i < 32; i++)
		wrong += back[i] != 4 * i * i;
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
