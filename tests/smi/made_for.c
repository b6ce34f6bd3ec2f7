/*
 * Registers a fat binary of PTX for TARGETS as nvcc's start-up code does: a library, or with
 * PROGRAM a program that also loads the libraries of its command line and uses a kernel.
 */
#include "src/dev/image/image_int.h"

#include <dlfcn.h>
#include <stdio.h>

#define KERNEL(suffix)                                                                             \
	".version 8.7\n.target sm_" suffix                                                         \
	"\n.address_size 64\n.visible .entry here()\n{\n\tret;\n}\n"

/* One image; the kernel's text says its target. */
struct entry {
	u8 header[ENTRY_HEADER_BYTES];
	char text[128];
};

static struct {
	u8 header[FATBIN_HEADER_BYTES];
	struct entry entry[8];
} binary;

static struct {
	u32 magic, version;
	const void *data;
	void *unused;
} wrapper = {WRAPPER_MAGIC, 1, &binary, NULL};

static void *handle;
static char stub;

static void *function(const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	if (!f) {
		printf("no %s\n", name);
		exit(1);
	}
	return f;
}

static void put(u8 *at, u64 value, u32 bytes)
{
	memcpy(at, &value, bytes);
}

static void add_image(struct entry *e, const char *target)
{
	char *suffix;
	u32 sm = (u32)strtoul(target, &suffix, 10);

	snprintf(e->text, sizeof(e->text), KERNEL("%s"), target);
	put(e->header + ENTRY_KIND_AT, IMAGE_PTX, 2);
	put(e->header + ENTRY_VERSION_AT, ENTRY_VERSION, 2);
	put(e->header + ENTRY_HEADER_SIZE_AT, ENTRY_HEADER_BYTES, 4);
	put(e->header + ENTRY_PAYLOAD_AT, sizeof(e->text), 8);
	put(e->header + ENTRY_MINOR_AT, 7, 2);
	put(e->header + ENTRY_MAJOR_AT, 8, 2);
	put(e->header + ENTRY_ARCH_AT, sm, 4);
	put(e->header + ENTRY_FLAGS_AT,
	    ENTRY_64BIT | ENTRY_LINUX | (*suffix == 'a' ? ENTRY_ARCH_SPECIFIC : 0), 8);
}

__attribute__((constructor)) static void register_binary(void)
{
	static const char *const targets[] = {TARGETS};
	void *(*add)(void *) = (void *(*)(void *))function("__cudaRegisterFatBinary");
	void (*name)(void *, const void *, char *, const char *, int, void *, void *, void *,
		     void *, int *) = (void *)function("__cudaRegisterFunction");
	u32 n = 0;

	for (; n < ARRAY_LEN(targets); n++)
		add_image(&binary.entry[n], targets[n]);
	put(binary.header, FATBIN_MAGIC, 4);
	put(binary.header + 4, FATBIN_VERSION, 2);
	put(binary.header + 6, FATBIN_HEADER_BYTES, 2);
	put(binary.header + 8, n * sizeof(struct entry), 8);
	handle = add(&wrapper);
	name(handle, &stub, &stub, "here", -1, NULL, NULL, NULL, NULL, NULL);
}

/* Ask for the kernel; the runtime's status. */
int use_kernel(void);
int use_kernel(void)
{
	int (*attributes)(void *, const void *) =
		(int (*)(void *, const void *))function("cudaFuncGetAttributes");
	char to[512];

	return attributes(to, &stub);
}

#ifdef PROGRAM
/* NVML's idea of the first device, before CUDA is used. */
static void print_nvml(void)
{
	int (*begin)(void);
	int (*device)(unsigned, void **);
	int (*name)(void *, char *, unsigned);
	char text[96] = "?";
	void *first;

	if (!dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_GLOBAL))
		return;
	begin = (int (*)(void))function("nvmlInit_v2");
	device = (int (*)(unsigned, void **))function("nvmlDeviceGetHandleByIndex_v2");
	name = (int (*)(void *, char *, unsigned))function("nvmlDeviceGetName");
	if (!begin() && !device(0, &first))
		name(first, text, sizeof(text));
	printf("%s\n", text);
}

int main(int argc, char **argv)
{
	int (*attribute)(int *, int, int) =
		(int (*)(int *, int, int))function("cudaDeviceGetAttribute");
	int major = -1, minor = -1;

	print_nvml();
	attribute(&major, 75, 0);
	attribute(&minor, 76, 0);
	printf("%d.%d\n", major, minor);
	printf("kernel %d\n", use_kernel());
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		int (*use)(void) = library ? (int (*)(void))dlsym(library, "use_kernel") : NULL;

		printf("library %d\n", use ? use() : -1);
	}
	return 0;
}
#endif
