// What programs say of their memory: pools with regions, through the memory extension of NVTX, whose header loads a
// library as `attach` does here. And allocations that are not used. `announced NAME`: tests/check/announced.sh.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>

struct segment {
	size_t id, slots;
	intptr_t *slot;
};
struct module_info {
	uint16_t version, bytes, id, compatibility;
	size_t segments;
	segment *first;
	void *unused[2];
};
struct range {
	size_t size;
	const void *at;
};
struct heap {
	uint16_t compatibility = 0x102, bytes = 64;
	uint32_t reserved = 0, usage = 1, type = 1;
	size_t range_bytes = sizeof(range);
	const range *at;
	uint32_t category = 0, message_type = 0;
	void *message = nullptr, *rest[2] = {};
};
struct registering {
	uint16_t compatibility = 0x102, bytes = sizeof(registering);
	uint32_t type = 1;
	void *heap;
	size_t count = 1, element = sizeof(range);
	const range *at;
	void **handles = nullptr;
};
struct batch {
	uint16_t compatibility = 0x102, bytes = sizeof(batch);
	uint32_t type = 1;
	size_t count = 1, element;
	const void *at;
};

struct region_name {
	uint32_t reference = 0, type = 1; // a pointer; ASCII
	const void *at, *name;
	uint32_t category = 0, reserved = 0;
};
struct permission {
	uint32_t flags, reference = 0;
	const void *at;
};
struct described { // named, or permitted
	uint16_t compatibility = 0x102, bytes = sizeof(described);
	uint32_t reserved = 0;
	size_t count = 1, element;
	const void *at;
	size_t rest = 0;
};
struct permitted {
	uint16_t compatibility = 0x102, bytes = sizeof(permitted);
	uint32_t reserved = 0;
	void *permissions;
	size_t count = 1, element = sizeof(permission);
	const permission *at;
	size_t rest = 0;
};

static intptr_t slots[64];

static bool attach()
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : nullptr;
	auto init = lib ? (int (*)(module_info *))dlsym(lib, "InitializeInjectionNvtxExtension")
			: nullptr;
	auto core = lib ? (int (*)(void *))dlsym(lib, "InitializeInjectionNvtx2") : nullptr;
	segment s = {1, 63, slots};
	module_info m = {3, sizeof m, 1, 0x102, 1, &s, {}}, other = m;

	other.id = 2;
	return core && core(nullptr) && init && !init(nullptr) && !init(&other) && init(&m);
}

template <class... A> static void *call(int number, A... a)
{
	return ((void *(*)(void *, A...))slots[number])(nullptr, a...);
}

static void *add_heap(void *at, size_t size, uint32_t usage = 1)
{
	range r = {size, at};
	heap h;
	h.at = &r;
	h.usage = usage;
	return call(0, (const heap *)&h);
}

static void add_region(void *heap, void *at, size_t size)
{
	range r = {size, at};
	registering b;
	void *handle = nullptr;
	b.heap = heap;
	b.at = &r;
	b.handles = &handle;
	call(3, (const registering *)&b);
	if (handle != at)
		puts("no handle");
}

static void change(int number, void *at, size_t size)
{
	range r = {size, at};
	batch b;
	b.at = &r;
	b.element = sizeof r;
	call(number, (const batch *)&b);
}

static void drop(void *at)
{
	batch b;
	b.at = &at;
	b.element = sizeof at;
	call(5, (const batch *)&b);
}

static void initialized(void *at, size_t size)
{
	range r = {size, at};
	batch b;
	b.at = &r;
	b.element = sizeof r;
	call(16, (void *)nullptr, 0, (const batch *)&b);
}

static void name(const void *at, const void *text, uint32_t type)
{
	region_name r;
	described b;
	r.at = at;
	r.name = text;
	r.type = type;
	b.element = sizeof r;
	b.at = &r;
	call(6, (const described *)&b);
}

enum { READ = 1, WRITE = 2, ATOMIC = 4, RESET = 8 };

static void permit(const void *at, uint32_t flags, void *permissions)
{
	permission r;
	permitted b;
	r.flags = flags;
	r.at = at;
	b.permissions = permissions;
	b.at = &r;
	call(7, (const permitted *)&b);
}

__global__ void put(unsigned char *p)
{
	p[threadIdx.x] = threadIdx.x; // put
}

__global__ void add(const unsigned char *p, int *sum)
{
	atomicAdd(sum, p[threadIdx.x]); // add
}

static void pool(const char *name)
{
	unsigned char *p;
	int *sum;
	void *h;

	if (!attach()) {
		puts("not attached");
		return;
	}
	cudaMalloc(&p, 4096);
	cudaMemset(p, 0, 4096);
	cudaMalloc(&sum, 4);
	cudaMemset(sum, 0, 4);
	h = add_heap(p, 4096, strcmp(name, "layout") ? 1 : 2);
	add_region(h, p + 16, 63);
	add_region(h, p + 128, 64);
	if (!strcmp(name, "inside"))
		put<<<1, 63>>>(p + 16);
	if (!strcmp(name, "past") || !strcmp(name, "layout"))
		put<<<1, 64>>>(p + 16);
	if (!strcmp(name, "outside"))
		put<<<1, 1>>>(p + 256);
	if (!strcmp(name, "resized")) {
		change(4, p + 16, 64);
		put<<<1, 64>>>(p + 16);
	}
	if (!strcmp(name, "freed")) {
		drop(p + 16);
		put<<<1, 64>>>(p + 128);
		put<<<1, 1>>>(p + 16);
	}
	if (!strcmp(name, "reset")) {
		call(2, h);
		put<<<1, 1>>>(p + 16);
	}
	if (!strcmp(name, "ended")) {
		call(1, h);
		put<<<1, 1>>>(p + 256);
	}
	if (!strcmp(name, "uninit"))
		add<<<1, 63>>>(p + 16, sum);
	if (!strcmp(name, "grown")) {
		put<<<1, 63>>>(p + 16);
		change(4, p + 16, 64);
		add<<<1, 64>>>(p + 16, sum);
	}
	if (!strcmp(name, "marked")) {
		initialized(p + 16, 63);
		add<<<1, 63>>>(p + 16, sum);
	}
	if (!strcmp(name, "nowhere"))
		add_region(h, p + 8192, 64);
	cudaDeviceSynchronize();
	cudaFree(p);
	cudaFree(sum);
	/* The pool went with its memory. */
	cudaMalloc(&p, 4096);
	put<<<1, 64>>>(p);
	cudaDeviceSynchronize();
	cudaFree(p);
}

__global__ void twice(int *p)
{
	int i = *p;      // twice read
	*p = i + 1;      // twice write
	atomicAdd(p, 1); // twice atomic
}

static void try_twice(int *p)
{
	twice<<<1, 1>>>(p);
	if (cudaDeviceSynchronize() != cudaSuccess)
		puts("failed");
}

static void permissions()
{
	int *p, *other;
	void *all, *first;

	if (!attach())
		return;
	all = call(13);
	first = call(14, 0);
	cudaMalloc(&p, 4);
	cudaMemset(p, 0, 4);
	cudaMalloc(&other, 4);
	cudaMemset(other, 0, 4);
	name(p, "the counter", 1);
	permit(p, READ, all);
	try_twice(p); // writes
	permit(p, WRITE, all);
	try_twice(p); // reads
	permit(p, READ | WRITE, all);
	try_twice(p); // adds
	permit(p, 0, first);
	permit(p, READ | WRITE | ATOMIC, all);
	try_twice(p); // reads on a device
	permit(p, RESET, first);
	try_twice(p);
	permit(p, 0, all);
	call(10, all);
	try_twice(p);
	permit(p + 1, 0, all); // nothing begins there
	permit(p, 0, all);
	try_twice(other);
	cudaFree(p);
	cudaMalloc(&p, 4);
	cudaMemset(p, 0, 4);
	try_twice(p);
	cudaFree(p);
	cudaFree(other);
	call(8, 0);
}

static void names()
{
	int *p, *q, *r;

	if (!attach())
		return;
	cudaMalloc(&p, 100);
	cudaMalloc(&q, 100);
	cudaMalloc(&r, 100);
	name(p, "first", 1);
	name(p, "My allocation", 1);
	name(q, L"h\u00f6he", 2);
	name(r, "nobody", 1);
	name(r, nullptr, 1);
	name((char *)r + 4, "nowhere", 1);
}

static void unused()
{
	unsigned char *none, *part, *whole, *later, *managed;

	cudaMalloc(&none, 400); // none
	cudaMalloc(&part, 400); // part
	put<<<1, 300>>>(part);
	cudaMalloc(&whole, 400);
	cudaMemset(whole, 0, 400);
	cudaMallocAsync(&later, 4096, 0); // later
	cudaFreeAsync(later, 0);
	cudaMallocManaged(&managed, 4096); // managed
	memset(managed, 7, 4000);
	cudaDeviceSynchronize();
	cudaFree(none);
	cudaFree(part);
}

int main(int, char **args)
{
	if (!strcmp(args[1], "unused"))
		unused();
	else if (!strcmp(args[1], "permissions"))
		permissions();
	else if (!strcmp(args[1], "names"))
		names();
	else
		pool(args[1]);
}
