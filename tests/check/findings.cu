// Asks for what was found as data, in a program of CUDA. `findings`: the findings of an access outside of memory and of
// calls that fail, one a line, then nothing after they are cleared.
#include <cstdio>
#include <ptxloom.h>

__global__ void put(int *p, int i)
{
	p[threadIdx.x + i] = 1; // put
}

static void show(const char *when)
{
	const struct ptxloom_findings *f = ptxloom_findings(nullptr);

	if (!f)
		return;
	printf("%s: %zu of %s\n", when, f->count, f->checks);
	for (size_t i = 0; i < f->count; i++) {
		const struct ptxloom_finding *x = f->finding[i];

		printf("%s %s %s %d %llu %s\n", x->check, x->kind, x->is_warning ? "warning" : "error", x->has_address,
		       (unsigned long long)x->count, x->message);
		for (unsigned k = 0; k < x->place_count; k++)
			printf("  place %s %s %u\n", x->places[k].what, x->places[k].function, x->places[k].line);
		for (unsigned k = 0; k < x->host_count; k++)
			printf("  host %s %s %u\n", x->hosts[k].what, x->hosts[k].function, x->hosts[k].line);
	}
	ptxloom_findings_free(f);
}

int main()
{
	int *p;

	show("before");
	cudaMalloc(&p, 64);    // allocated
	put<<<1, 32>>>(p, 0);  // launched
	cudaDeviceSynchronize();
	cudaSetDevice(77); // called
	show("after");
	ptxloom_findings_clear(nullptr);
	show("cleared");
	return 5;
}
