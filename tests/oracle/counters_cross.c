/*
 * Launches the kernels of tests/counters/access.h, one instruction with one pattern of addresses
 * each, by the driver API of whatever libcuda it is given, and names each launch, so that a
 * profiler's counters can be put beside them (counters_cross.sh does).
 *
 * usage: counters_cross LIBCUDA FAMILY [PART OF]     FAMILY: as access.h names them
 * PART OF: of the launches those whose number modulo OF is PART.
 */
#include "tests/counters/access.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int call();

static struct driver {
	call *init, *retain, *current, *load, *function, *alloc, *set, *launch, *wait;
} cu;

static bool open_driver(const char *path)
{
	static const char *const names[] = {
		"cuInit",           "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
		"cuModuleLoadData", "cuModuleGetFunction",      "cuMemAlloc_v2",
		"cuMemsetD8_v2",    "cuLaunchKernel",           "cuCtxSynchronize",
	};
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *context = NULL;

	_Static_assert(sizeof(cu) == ARRAY_LEN(names) * sizeof(void *), "one name for each call");
	if (!lib) {
		fprintf(stderr, "counters_cross: %s\n", dlerror());
		return false;
	}
	for (u32 i = 0; i < ARRAY_LEN(names); i++) {
		void *p = dlsym(lib, names[i]);

		if (!p)
			return false;
		memcpy((u8 *)&cu + i * sizeof(p), &p, sizeof(p));
	}
	return !cu.init(0u) && !cu.retain(&context, 0) && !cu.current(context);
}

static bool launch(void *function, u64 buffer, const struct access_pattern *p)
{
	u32 mul = p->mul, shift = p->shift, and = p->and, add = p->add, lanes = p->lanes;
	u32 magic = ACCESS_MAGIC;
	void *args[] = {&buffer, &mul, &shift, &and, &add, &lanes, &magic};

	return !cu.launch(function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, NULL, args, NULL) && !cu.wait();
}

/* Launches what belongs to the part; false: something failed. */
static bool run(u32 family, u32 part, u32 of)
{
	void *module = NULL, *function = NULL;
	struct text text = {0};
	u64 buffer = 0;
	u32 n = 0;
	bool ok;

	access_write_module(&text);
	ok = !cu.load(&module, text.at) && !cu.alloc(&buffer, (size_t)ACCESS_BUFFER_BYTES) &&
	     !cu.set(buffer, 0, (size_t)ACCESS_BUFFER_BYTES);
	for (u32 i = 0; ok && i < ARRAY_LEN(access_ops); i++) {
		const struct access_op *op = &access_ops[i];

		if (op->family != family)
			continue;
		ok = !cu.function(&function, module, op->name);
		for (u32 k = 0; ok && k < access_pattern_count(op); k++, n++) {
			if (n % of != part)
				continue;
			ok = launch(function, buffer, &access_patterns[k]);
			printf("%s\t%s\n", op->name, access_patterns[k].name);
		}
	}
	text_fini(&text);
	return ok;
}

int main(int argc, char **argv)
{
	u32 part = argc > 4 ? (u32)strtoul(argv[3], NULL, 10) : 0;
	u32 of = argc > 4 ? (u32)strtoul(argv[4], NULL, 10) : 1;

	if (argc < 3 || !of) {
		fprintf(stderr, "usage: counters_cross LIBCUDA FAMILY [PART OF]\n");
		return 2;
	}
	if (!open_driver(argv[1])) {
		fprintf(stderr, "counters_cross: no device\n");
		return 77;
	}
	/* If this program is ended early, the names of what was launched are kept. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (u32 i = 0; i < FAMILIES; i++)
		if (!strcmp(access_families[i], argv[2]))
			return run(i, part, of) ? 0 : 1;
	fprintf(stderr, "counters_cross: no family '%s'\n", argv[2]);
	return 2;
}
