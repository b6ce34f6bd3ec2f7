/*
 * The runtimes of CUDA 11, 12 and 13 side by side: what differs between them under one name.
 * Offsets in cudaDeviceProp are those of the public headers of each version.
 */
#include "tests/check.h"

#include <dlfcn.h>
#include <stdlib.h>

static void *function(void *library, const char *name)
{
	void *f = dlsym(library, name);

	if (!f)
		printf("# no %s\n", name);
	return f;
}

#define CALL(library, ret, name, params, ...)                                                      \
	(((ret(*) params)function(library, #name))(__VA_ARGS__))

static int at_int(const unsigned char *p, size_t at)
{
	int v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

/* How many bytes of a buffer were written: it was filled with a value that nothing ends with. */
static size_t written(const unsigned char *p, size_t n)
{
	while (n && p[n - 1] == 0xa5)
		n--;
	return n;
}

struct layout {
	const char *soname, *properties;
	int version;
	size_t prop_bytes, sms, l2, optin, func_bytes;
};

static void check(const struct layout *l)
{
	void *lib = dlopen(l->soname, RTLD_NOW), *kernel = NULL, *code = NULL;
	static unsigned char p[2048];
	int version = 0;
	void *g = NULL, *nodes[2] = {NULL, NULL};
	size_t n = 0;

	if (!CHECK_MSG(lib != NULL, l->soname))
		return;
	CHECK_EQ(CALL(lib, int, cudaRuntimeGetVersion, (int *), &version), 0);
	CHECK_EQ(version, l->version);
	memset(p, 0xa5, sizeof(p));
	CHECK_EQ(((int (*)(void *, int))function(lib, l->properties))(p, 0), 0);
	CHECK_EQ(written(p, sizeof(p)), l->prop_bytes);
	CHECK_EQ(at_int(p, 360), 8);
	CHECK_EQ(at_int(p, l->sms), 108);
	CHECK_EQ(at_int(p, l->l2), 41943040);
	CHECK_EQ(at_int(p, l->optin), 166912);
	CALL(lib, int, cudaLibraryLoadData,
	     (void *, const char *, void *, void *, unsigned, void *, void *, unsigned), &code,
	     ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k() { ret; }\n", NULL,
	     NULL, 0, NULL, NULL, 0);
	CALL(lib, int, cudaLibraryGetKernel, (void *, void *, const char *), &kernel, code, "k");
	memset(p, 0xa5, sizeof(p));
	CHECK_EQ(CALL(lib, int, cudaFuncGetAttributes, (void *, void *), p, kernel), 0);
	CHECK_EQ(at_int(p, 24), 1024);
	CHECK(written(p, sizeof(p)) <= l->func_bytes);
	/* Edges of a graph: with data since 13. */
	CALL(lib, int, cudaGraphCreate, (void *, unsigned), &g, 0);
	for (int i = 0; i < 2; i++)
		CALL(lib, int, cudaGraphAddEmptyNode, (void *, void *, void *, size_t), &nodes[i],
		     g, NULL, 0);
	if (l->version >= 13000)
		CHECK_EQ(CALL(lib, int, cudaGraphAddDependencies,
			      (void *, void *, void *, void *, size_t), g, &nodes[0], &nodes[1],
			      NULL, 1),
			 0);
	else
		CHECK_EQ(CALL(lib, int, cudaGraphAddDependencies, (void *, void *, void *, size_t),
			      g, &nodes[0], &nodes[1], 1),
			 0);
	CHECK_EQ(CALL(lib, int, cudaGraphGetEdges_v2, (void *, void *, void *, void *, size_t *), g,
		      NULL, NULL, NULL, &n),
		 0);
	CHECK_EQ(n, 1);
}

int main(void)
{
	static const struct layout layouts[] = {
		{"libcudart.so.11.0", "cudaGetDeviceProperties", 11080, 728, 388, 616, 696, 56},
		{"libcudart.so.12", "cudaGetDeviceProperties_v2", 12090, 1032, 388, 616, 696, 144},
		{"libcudart.so.13", "cudaGetDeviceProperties", 13000, 1008, 384, 596, 672, 144},
	};

	setenv("PTXLOOM_DEVICE", "a100", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		check(&layouts[i]);
	return check_done();
}
