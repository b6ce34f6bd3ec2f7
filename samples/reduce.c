/*
 * Buffers, launches and a fault: sums with the kernel of reduce.ptx, in place and without copies.
 * Usage: reduce [reduce.ptx]. Ends with 0 when all is well.
 */
#include <ptxloom.h>

#include <stdio.h>

static int fail(struct ptxloom_device *dev, int status)
{
	char text[4096];

	ptxloom_message(dev, text, sizeof(text));
	fprintf(stderr, "%s (%s)\n%s", ptxloom_status_text(status), ptxloom_status_name(status),
		text);
	return 2;
}

int main(int argc, char **argv)
{
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct ptxloom_kernel *kernel;
	struct ptxloom_config config = {.block = {256}};
	struct ptxloom_fault fault;
	int n = 100000, sums = (n + 255) / 256, status;
	int *in, *out;
	long long sum = 0;

	status = ptxloom_device_open(NULL, &dev);
	if (status)
		return 2;
	status = ptxloom_module_load_file(dev, argc > 1 ? argv[1] : "samples/reduce.ptx", &mod);
	if (status)
		return fail(dev, status);
	kernel = ptxloom_module_kernel(mod, "reduce");
	in = ptxloom_alloc(dev, sizeof(*in) * (size_t)n);
	out = ptxloom_alloc(dev, sizeof(*out) * (size_t)sums);
	if (!kernel || !in || !out)
		return 2;
	for (int i = 0; i < n; i++)
		in[i] = i;
	config.grid[0] = (unsigned)sums;
	status = ptxloom_launch(kernel, &config, (void *[]){&in, &out, &n});
	if (status)
		return fail(dev, status);
	for (int i = 0; i < sums; i++)
		sum += out[i];
	printf("the sum of 0 .. %d is %lld\n", n - 1, sum);

	/* One CTA more than there is room for: the fault says where. */
	config.grid[0]++;
	status = ptxloom_launch(kernel, &config, (void *[]){&in, &out, &n});
	ptxloom_last_fault(dev, &fault);
	printf("%s: %s of %llu bytes in CTA %u, thread %u\n", fault.kind,
	       fault.is_write ? "write" : "read", (unsigned long long)fault.bytes, fault.cta[0],
	       fault.thread[0]);
	ptxloom_device_close(dev);
	return sum == 4999950000 && status == PTXLOOM_ILLEGAL_ADDRESS &&
			       fault.cta[0] == (unsigned)sums
		       ? 0
		       : 1;
}
