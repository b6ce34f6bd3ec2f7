// Texture objects that the program destroys before the next launch.
#include <cstdio>
__global__ void fetch(cudaTextureObject_t from, float *to)
{
	int t = threadIdx.x;
	float x = tex1Dfetch<float>(from, t);
	to[t] += x;
}
static void run(float *data, float *to)
{
	cudaResourceDesc what = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;
	what.resType = cudaResourceTypeLinear;
	what.res.linear.devPtr = data;
	what.res.linear.desc = cudaCreateChannelDesc<float>();
	what.res.linear.sizeInBytes = 128;
	how.readMode = cudaReadModeElementType;
	cudaCreateTextureObject(&texture, &what, &how, nullptr);
	fetch<<<1, 32>>>(texture, to);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(texture);
}
int main()
{
	float host[64], *data, *more, *to;
	for (int i = 0; i < 64; i++)
		host[i] = i;
	cudaMalloc(&data, 128);
	cudaMalloc(&more, 128);
	cudaMalloc(&to, 128);
	cudaMemcpy(data, host, 128, cudaMemcpyHostToDevice);
	cudaMemcpy(more, host + 32, 128, cudaMemcpyHostToDevice);
	cudaMemset(to, 0, 128);
	run(data, to);
	run(more, to);
	run(data, to);
	cudaMemcpy(host, to, 128, cudaMemcpyDeviceToHost);
	printf("%g %g %s\n", host[0], host[31], cudaGetErrorName(cudaGetLastError()));
}
