/*
 * Kernels that launch kernels: in the default stream, in one of their own, as a tail, in depth, and
 * with memory operations in between. Needs -rdc=true and libcudadevrt.
 */
#include <cstdio>

__global__ void add(int *p, int n, int value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] += value;
}

/* Doubles a value in each of `depth` generations. */
__global__ void generations(int *p, int depth)
{
	*p *= 2;
	if (depth > 1)
		generations<<<1, 1>>>(p, depth - 1);
}

__global__ void tail(int *p, int *seen)
{
	*seen = p[0] + p[63];
}

__global__ void parent(int *p, int *results)
{
	cudaStream_t stream;
	int devices = 0;

	if (threadIdx.x)
		return;
	tail<<<1, 1, 0, cudaStreamTailLaunch>>>(p, results);
	cudaMemsetAsync(p, 0, 64 * sizeof(int), 0);
	add<<<2, 32>>>(p, 64, 5);
	add<<<1, 64>>>(p, 64, 2);
	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	results[1] = 1;
	generations<<<1, 1, 0, stream>>>(results + 1, 10);
	cudaMemcpyAsync(results + 2, results + 1, sizeof(int), cudaMemcpyDeviceToDevice, stream);
	cudaStreamDestroy(stream);
	add<<<1, 2000>>>(p, 64, 1);
	results[3] = cudaGetLastError() != cudaSuccess;
	results[4] = cudaGetLastError();
	cudaGetDeviceCount(&devices);
	results[5] = devices;
}

/* What the device's runtime says of kernels, and copies and fills of volumes. */
struct volume {
	int first[2][3][4], second[2][3][4];
};

__global__ void __launch_bounds__(96) bounded(int *p)
{
	__shared__ int room[32];

	room[threadIdx.x] = *p;
	*p = room[0];
}

__global__ void volumes(volume *v, cudaFuncAttributes *attributes, int *results)
{
	const cudaPitchedPtr first = {v->first, 16, 16, 3}, second = {v->second, 16, 16, 3};
	cudaMemcpy3DParms copy = {};

	results[0] = cudaFuncGetAttributes(attributes, (const void *)bounded);
	results[1] = cudaFuncGetAttributes(attributes + 1, (const void *)v);
	results[2] = cudaGetLastError();
	results[3] = cudaMemset3DAsync(first, 1, cudaExtent{8, 2, 2}, 0);
	copy.srcPtr = first;
	copy.dstPtr = second;
	copy.dstPos = cudaPos{4, 1, 0};
	copy.extent = cudaExtent{12, 2, 2};
	copy.kind = cudaMemcpyDeviceToDevice;
	results[4] = cudaMemcpy3DAsync(&copy, 0);
	copy.extent = cudaExtent{12, (size_t)1 << 60, 1};
	copy.srcPtr.pitch = 0;
	results[5] = cudaMemcpy3DAsync(&copy, 0);
	copy.srcArray = (cudaArray_t)v;
	results[6] = cudaMemcpy3DAsync(&copy, 0);
}

static int test_volumes(void)
{
	static const int want[7] = {cudaSuccess, cudaErrorInvalidDeviceFunction, cudaErrorInvalidDeviceFunction,
				    cudaSuccess, cudaSuccess, cudaErrorInvalidPitchValue, cudaErrorInvalidValue};
	cudaFuncAttributes *attributes, host;
	int *results, bad = 0;
	volume *v;

	if (cudaMallocManaged(&attributes, 2 * sizeof(host)) || cudaMallocManaged(&results, sizeof(want)) ||
	    cudaMallocManaged(&v, sizeof(*v)) || cudaFuncGetAttributes(&host, bounded))
		return 1;
	for (int i = 0; i < 24; i++)
		v->first[0][0][i] = v->second[0][0][i] = 100 + i;
	volumes<<<1, 1>>>(v, attributes, results);
	if (cudaDeviceSynchronize())
		return 1;
	for (int i = 0; i < 7; i++)
		bad += results[i] != want[i];
	bad += attributes->maxThreadsPerBlock != 96 || attributes->sharedSizeBytes != 128 ||
	       attributes->binaryVersion != host.binaryVersion || attributes->numRegs != host.numRegs;
	for (int z = 0; z < 2; z++)
		for (int y = 0; y < 3; y++)
			for (int x = 0; x < 4; x++) {
				int at = 100 + (z * 3 + y) * 4 + x;
				int first = y < 2 && x < 2 ? 0x01010101 : at;
				int second = !x || !y ? at : x < 3 ? 0x01010101 : at - 5;

				bad += v->first[z][y][x] != first || v->second[z][y][x] != second;
			}
	if (bad)
		fprintf(stderr, "volumes: %d wrong\n", bad);
	return bad;
}

int main()
{
	int *p, *results, h[6] = {0, 0, 0, 0, 0, 0};

	if (cudaMalloc(&p, 64 * sizeof(int)) || cudaMalloc(&results, sizeof(h)) ||
	    cudaMemset(p, 1, 64 * sizeof(int)))
		return 1;
	parent<<<1, 32>>>(p, results);
	if (cudaMemcpy(h, results, sizeof(h), cudaMemcpyDeviceToHost)) {
		fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
		return 1;
	}
	printf("%d %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4], h[5]);
	if (h[0] != 14 || h[1] != 1024 || h[2] != 1024 || h[3] != 1 || h[4] != 0 || h[5] < 1)
		return 1;
	if (test_volumes())
		return 1;
	puts("all right");
	return 0;
}
