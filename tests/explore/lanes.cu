/*
 * Lanes of one warp that race with each other; by argument, with `fixed` behind it as they should.
 */
#include <cstdio>
#include <cstring>

/* In lock step, as long as nothing diverges them. */
template <bool fixed> __global__ void step(int *out)
{
	__shared__ volatile int s[32];
	int l = threadIdx.x;

	s[l] = -1;
	__syncwarp();
	s[l] = l;
	if (fixed)
		__syncwarp();
	out[l] = s[31 - l];
}

/* A reduction without __syncwarp, as before Volta. */
template <bool fixed> __global__ void reduce(int *out)
{
	__shared__ volatile int s[64];
	int l = threadIdx.x;

	s[l] = 31 - l;
	s[l + 32] = 0;
	__syncwarp();
	for (int n = 16; n; n /= 2) {
		int x = s[l + n];

		if (fixed)
			__syncwarp();
		s[l] += x;
		if (fixed)
			__syncwarp();
	}
	out[l] = l ? 31 - l : 31 - s[0] + 496;
}

template <bool fixed> static void run(const char *what, int *p)
{
	if (!strcmp(what, "step"))
		step<fixed><<<1, 32>>>(p);
	else
		reduce<fixed><<<1, 32>>>(p);
}

int main(int argc, char **argv)
{
	int *p, out[32], wrong = 0;

	if (argc < 2 || cudaMalloc(&p, 256) || cudaMemset(p, 0, 256))
		return 2;
	if (argc > 2)
		run<true>(argv[1], p);
	else
		run<false>(argv[1], p);
	if (cudaMemcpy(out, p, sizeof(out), cudaMemcpyDeviceToHost))
		return 2;
	for (int i = 0; i < 32; i++)
		wrong += out[i] != 31 - i;
	printf("%s: %d of 32 are wrong\n", argv[1], wrong);
	return wrong != 0;
}
