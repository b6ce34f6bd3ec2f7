/* Follows links from node to node; with an argument one of them leads astray (docs/record.md). */
#include <stdio.h>

struct node {
	int value;
	node *next;
};

__device__ int table[64];

__global__ void build(node *nodes, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		nodes[i].value = i;
		nodes[i].next = &nodes[(i + 7) % n];
	}
	if (i < 64)
		table[i] = 3 * i;
}

__global__ void walk(const node *nodes, int *out, int steps)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	const node *at = &nodes[i];

	for (int s = 0; s < steps; s++)
		at = at->next;
	out[i] = at->value + table[i % 64];
}

int main(int argc, char **argv)
{
	enum { N = 200, STEPS = 3 };
	node *nodes, *wild = (node *)0xdead0000;
	int *out, host[N], wrong = 0;
	cudaError_t e;

	cudaMalloc(&nodes, N * sizeof(*nodes));
	cudaMalloc(&out, sizeof(host));
	build<<<4, 64>>>(nodes, N);
	if (argc > 1)
		cudaMemcpy(&nodes[70].next, &wild, sizeof(wild), cudaMemcpyHostToDevice);
	walk<<<4, N / 4>>>(nodes, out, STEPS);
	e = cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
	if (e != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(e));
		return 1;
	}
	for (int i = 0; i < N; i++)
		wrong += host[i] != (i + 7 * STEPS) % N + 3 * (i % 64);
	if (wrong)
		printf("walk: %d of %d values are wrong\n", wrong, N);
	else
		printf("walk: %d values, all right\n", N);
	return wrong != 0;
}
