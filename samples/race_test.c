/*
 * A unit test that fails when a kernel has a data race: the kernel runs with the race check, and
 * what it finds is read as data. Usage: race_test FILE KERNEL. Ends with 0 when nothing is found.
 */
#include <ptxloom.h>

#include <stdio.h>

#define THREADS 64

static void show(const struct ptxloom_finding *f)
{
	printf("%s %s: %s (%llu times)\n", f->kind, f->is_warning ? "warning" : "error", f->message,
	       (unsigned long long)f->count);
	for (unsigned i = 0; i < f->place_count; i++)
		printf("    %s in %s, %s:%u\n", f->places[i].what, f->places[i].function,
		       f->places[i].file ? f->places[i].file : "?", f->places[i].line);
}

int main(int argc, char **argv)
{
	struct ptxloom_options options = {.size = sizeof(options), .checks = "mem,race"};
	struct ptxloom_config config = {.grid = {1}, .block = {THREADS}};
	const struct ptxloom_findings *found;
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct ptxloom_kernel *kernel;
	void *out;
	int errors = 0;

	if (argc < 3 || ptxloom_device_open(&options, &dev))
		return 2;
	if (ptxloom_module_load_file(dev, argv[1], &mod))
		return 2;
	kernel = ptxloom_module_kernel(mod, argv[2]);
	out = ptxloom_alloc(dev, THREADS * sizeof(unsigned));
	if (!kernel || !out || ptxloom_launch(kernel, &config, (void *[]){&out}))
		return 2;
	found = ptxloom_findings(dev);
	for (size_t i = 0; found && i < found->count; i++) {
		errors += !found->finding[i]->is_warning;
		show(found->finding[i]);
	}
	ptxloom_findings_free(found);
	ptxloom_device_close(dev);
	return errors > 0;
}
