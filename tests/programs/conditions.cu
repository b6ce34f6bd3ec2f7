// Conditional nodes of graphs: IF, WHILE and SWITCH, one within another, set by kernels.
#include "try.h"

__global__ void set(cudaGraphConditionalHandle h, unsigned v)
{
	cudaGraphSetConditional(h, v);
}

// Counts down; the loop goes on until zero.
__global__ void count_down(cudaGraphConditionalHandle h, int *left, int *sum)
{
	*sum += *left;
	cudaGraphSetConditional(h, --*left > 0);
}

__global__ void add(int *p, int v)
{
	*p += v;
}

// What has been summed when the kernel runs.
__global__ void note(int *to, const int *from)
{
	*to = *from;
}

template <class... T>
static cudaError_t kernel(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t *after, void *fn, T... args)
{
	void *list[] = {&args...};
	cudaKernelNodeParams k = {};

	k.func = fn;
	k.gridDim = dim3(1);
	k.blockDim = dim3(1);
	k.kernelParams = list;
	return cudaGraphAddKernelNode(out, g, after, after ? 1 : 0, &k);
}

static cudaError_t condition(cudaGraph_t *body, cudaGraph_t g, cudaGraphNode_t *node, cudaGraphNode_t *after,
							 cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, unsigned n)
{
	cudaGraphNodeParams p = {};
	cudaError_t e;

	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = h;
	p.conditional.type = type;
	p.conditional.size = n;
	e = cudaGraphAddNode(node, g, after, NULL, after ? 1 : 0, &p);
	for (unsigned i = 0; e == cudaSuccess && i < n; i++)
		body[i] = p.conditional.phGraph_out[i];
	return e;
}

int main()
{
	cudaGraph_t graph, loop, yes, cases[3];
	cudaGraphExec_t exec;
	cudaGraphConditionalHandle again, test, which;
	cudaGraphNode_t node, cond, last;
	cudaStream_t s;
	int *d, h[7];

	TRY(cudaStreamCreate(&s));
	TRY(cudaMalloc(&d, sizeof(h)));
	TRY(cudaGraphCreate(&graph, 0));
	TRY(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
	TRY(cudaGraphConditionalHandleCreate(&test, graph, 0, cudaGraphCondAssignDefault));
	TRY(cudaGraphConditionalHandleCreate(&which, graph, 0, 0));
	// while (left) { sum += left--; if (test) d[2] += 1; }
	TRY(kernel(&node, graph, NULL, (void *)set, test, 1u));
	TRY(condition(&loop, graph, &cond, &node, again, cudaGraphCondTypeWhile, 1));
	TRY(kernel(&node, loop, NULL, (void *)count_down, again, d, d + 1));
	TRY(condition(&yes, loop, &last, &node, test, cudaGraphCondTypeIf, 1));
	TRY(kernel(&node, yes, NULL, (void *)add, d + 2, 1));
	// Behind the loop, and only behind all of it; and what nothing orders before or behind it.
	TRY(kernel(&last, graph, &cond, (void *)note, d + 4, (const int *)d + 1));
	TRY(kernel(&last, graph, NULL, (void *)add, d + 6, 7));
	// switch (2) { .. case 2: d[3] += 100; }
	TRY(kernel(&node, graph, &cond, (void *)set, which, 2u));
	TRY(condition(cases, graph, &cond, &node, which, cudaGraphCondTypeSwitch, 3));
	for (int i = 0; i < 3; i++)
		TRY(kernel(&node, cases[i], NULL, (void *)add, d + 3, i == 2 ? 100 : 1));
	TRY(kernel(&last, graph, &cond, (void *)note, d + 5, (const int *)d + 3));
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	for (int run = 0; run < 3; run++) {
		h[0] = 10, h[1] = h[2] = h[3] = h[4] = h[5] = h[6] = 0;
		TRY(cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice));
		TRY(cudaGraphLaunch(exec, s));
		TRY(cudaStreamSynchronize(s));
		TRY(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
		if (h[0] != 0 || h[1] != 55 || h[2] != 10 || h[3] != 100 || h[4] != 55 || h[5] != 100 || h[6] != 7) {
			for (int v : h)
				printf("%d\n", v);
			return 1;
		}
	}
	TRY(cudaGraphLaunch(exec, s));
	TRY(cudaGraphExecDestroy(exec)); // while it runs
	TRY(cudaGraphDestroy(graph));
	TRY(cudaStreamSynchronize(s));
	puts("all right");
	return 0;
}
