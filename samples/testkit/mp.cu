/*
 * One CTA writes a value and then a flag, another reads the flag and then the value: a message.
 * Without fences the flag may be seen before the value; with `fixed` there is one on each side.
 */
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 64 };

template <bool FIXED> __global__ void pass(int *value, int *flag, int *seen)
{
	int i = threadIdx.x;

	if (blockIdx.x == 0) {
		value[i] = 42;
		if (FIXED)
			__threadfence();
		flag[i] = 1;
	} else {
		int f = flag[i];

		if (FIXED)
			__threadfence();
		/* 0: no message; 42: a message; -1: a flag without one */
		seen[i] = !f ? 0 : value[i] == 42 ? 42 : -1;
	}
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && !strcmp(argv[1], "fixed");
	int *d, seen[ROUNDS];

	if (cudaMalloc(&d, 3 * sizeof(seen)) || cudaMemset(d, 0, 3 * sizeof(seen)))
		return 1;
	if (fixed)
		pass<true><<<2, ROUNDS>>>(d, d + ROUNDS, d + 2 * ROUNDS);
	else
		pass<false><<<2, ROUNDS>>>(d, d + ROUNDS, d + 2 * ROUNDS);
	if (cudaMemcpy(seen, d + 2 * ROUNDS, sizeof(seen), cudaMemcpyDeviceToHost))
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		if (seen[i] < 0) {
			printf("mp: message %d has a flag and no value\n", i);
			return 1;
		}
	puts("mp: right");
	return 0;
}
