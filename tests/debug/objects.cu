// Objects of CUDA that the debugger shows as structures: a tensor map, mbarriers, a texture, a surface, streams.
#include <cstdio>
#include <cstring>
#include <cuda.h>
struct Bundle { int n; cudaTextureObject_t tex; };
__device__ CUtensorMap gmap, pixels;
__constant__ CUtensorMap unset;
__device__ bool passed(unsigned long long *bar, unsigned parity)
{
	unsigned is;
	asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
		     : "=r"(is) : "l"(bar), "r"(parity) : "memory");
	return is;
}
__device__ void arrive(unsigned long long *bar)
{
	unsigned long long state;
	asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(bar) : "memory");
}
__global__ void use(CUtensorMap map, Bundle bundle, cudaSurfaceObject_t surf, int *out)
{
	__shared__ unsigned long long full, empty;
	int t = threadIdx.x;
	if (t == 0) {
		asm volatile("mbarrier.init.b64 [%0], 32;" :: "l"(&full));
		asm volatile("mbarrier.init.b64 [%0], 5;" :: "l"(&empty));
	}
	__syncthreads();
	if (t < 32)
		while (!passed(&full, 0))
			;
	else
		arrive(&full);
	out[t] = bundle.n + (int)sizeof(map) + (surf != 0);
	if (t == 0)
		asm volatile("mbarrier.inval.b64 [%0];" :: "l"(&empty));
	__syncthreads();
	out[t] += 1;
}
int main()
{
	int *in, *out, h[64];
	cudaMalloc(&in, 4096);
	cudaMalloc(&out, sizeof(h));
	cudaResourceDesc linear, array;
	memset(&linear, 0, sizeof(linear));
	memset(&array, 0, sizeof(array));
	linear.resType = cudaResourceTypeLinear;
	linear.res.linear.devPtr = in;
	linear.res.linear.sizeInBytes = 4096;
	linear.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaTextureDesc how;
	memset(&how, 0, sizeof(how));
	how.addressMode[0] = cudaAddressModeClamp;
	Bundle bundle = {7, 0};
	cudaCreateTextureObject(&bundle.tex, &linear, &how, nullptr);
	cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
	array.resType = cudaResourceTypeArray;
	cudaMallocArray(&array.res.array.array, &bytes, 16, 8, cudaArraySurfaceLoadStore);
	cudaSurfaceObject_t surf = 0;
	cudaCreateSurfaceObject(&surf, &array);
	CUtensorMap map;
	cuuint64_t dim[2] = {32, 8}, stride[1] = {128};
	cuuint32_t box[2] = {8, 4}, step[2] = {1, 1};
	decltype(&cuTensorMapEncodeTiled) encode;
	cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault, nullptr);
	encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
	       CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	cudaMemcpyToSymbol(gmap, &map, sizeof(map));
	decltype(&cuTensorMapEncodeIm2col) encode_pixels;
	cudaGetDriverEntryPoint("cuTensorMapEncodeIm2col", (void **)&encode_pixels, cudaEnableDefault, nullptr);
	cuuint64_t image[3] = {8, 16, 2}, pitches[2] = {16, 256};
	cuuint32_t steps[3] = {1, 1, 1};
	int lower[1] = {-1}, upper[1] = {2};
	encode_pixels(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, in, image, pitches, lower, upper, 8, 4, steps,
		      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
		      CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
	cudaMemcpyToSymbol(pixels, &map, sizeof(map));
	cudaMemcpyFromSymbol(&map, gmap, sizeof(map));
	cudaStream_t side;
	cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
	use<<<1, 64, 0, side>>>(map, bundle, surf, out);
	cudaMemcpyAsync(h, out, sizeof(h), cudaMemcpyDeviceToHost, side);
	cudaStreamSynchronize(side);
	printf("%d\n", h[63]);
}
