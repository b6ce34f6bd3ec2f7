/* The C API: devices, modules, launches, bound functions, faults, from one thread and from several.
 */
#include "tests/check.h"

#include <ptxloom.h>

#include <pthread.h>
#include <stdlib.h>

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"

static const char kernels[] = HEAD
	".visible .global .align 4 .u32 counter = 41;\n"
	".visible .const .align 8 .u64 where = counter;\n"
	"\n"
	".visible .entry empty() { ret; }\n"
	"\n"
	"// y[i] = a * x[i] + y[i]\n"
	".visible .entry axpy(.param .u32 n, .param .s32 a, .param .u64 x, .param .u64 y)\n{\n"
	".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
	"ld.param.u32 %r0, [n]; ld.param.u32 %r1, [a]; ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];\n"
	"mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"setp.ge.s32 %p1, %r5, %r0; @%p1 bra END;\n"
	"mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd0, %rd2; add.s64 %rd4, %rd1, %rd2;\n"
	"ld.global.u32 %r6, [%rd3]; ld.global.u32 %r7, [%rd4];\n"
	"mad.lo.s32 %r8, %r6, %r1, %r7;\n"
	".loc 1 77 3\n"
	"st.global.u32 [%rd4], %r8;\n"
	"END: ret;\n}\n"
	".file 1 \"axpy.cu\"\n"
	"\n"
	".visible .entry bounded(.param .u64 out) .maxntid 64, 1, 1\n{\n"
	".shared .align 4 .b8 s[256];\n"
	".reg .b32 %r<3>; .reg .b64 %rd<2>; ld.param.u64 %rd0, [out]; mov.u32 %r0, %dynamic_smem_size;\n"
	"st.global.u32 [%rd0], %r0; ret;\n}\n"
	"\n"
	".visible .entry structure(.param .align 8 .b8 s[16], .param .u64 out)\n{\n"
	".reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd0, [s]; ld.param.u64 %rd1, [s+8]; ld.param.u64 %rd2, [out]; add.s64 %rd3, %rd0, %rd1;\n"
	"st.global.u64 [%rd2], %rd3; ret;\n}\n"
	"\n"
	".visible .entry forever() { L: bra L; ret; }\n"
	".visible .entry stop() { trap; ret; }\n";

struct env {
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
};

static bool env_open(struct env *e, const struct ptxloom_options *o)
{
	char text[2000];
	bool ok = CHECK_EQ(ptxloom_device_open(o, &e->dev), 0) &&
		  CHECK_EQ(ptxloom_module_load(e->dev, kernels, sizeof(kernels) - 1, &e->mod), 0);

	if (!ok && e->dev) {
		ptxloom_message(e->dev, text, sizeof(text));
		printf("# %s\n", text);
	}
	return ok;
}

static void test_devices(void)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "v100", .workers = 2};
	struct ptxloom_device *dev;
	int64_t n = 0;

	CHECK_EQ(ptxloom_device_open(&o, &dev), 0);
	CHECK(strstr(ptxloom_device_name(dev), "V100") != NULL);
	CHECK_EQ(ptxloom_device_number(dev, "sms", &n), 0);
	CHECK_EQ(n, 80);
	CHECK_EQ(ptxloom_device_number(dev, "has_its", &n), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(ptxloom_device_number(dev, "memory_bytes", &n), 0);
	CHECK(n > INT32_MAX);
	CHECK_EQ(ptxloom_device_number(dev, "name", &n), PTXLOOM_NOT_FOUND);
	CHECK_EQ(ptxloom_device_number(dev, "colour", &n), PTXLOOM_NOT_FOUND);
	CHECK_EQ(ptxloom_device_sync(dev), 0);
	ptxloom_device_close(dev);
	ptxloom_device_close(NULL);
	o.device = "b300";
	CHECK_EQ(ptxloom_device_open(&o, &dev), PTXLOOM_INVALID_DEVICE);
	CHECK(dev == NULL);
	o.size = 3;
	CHECK_EQ(ptxloom_device_open(&o, &dev), PTXLOOM_INVALID_VALUE);
	setenv("PTXLOOM_WORKERS", "many", 1);
	CHECK_EQ(ptxloom_device_open(NULL, &dev), PTXLOOM_INVALID_VALUE);
	unsetenv("PTXLOOM_WORKERS");
	CHECK_STR(ptxloom_status_text(700), "an illegal memory access was encountered");
	CHECK_STR(ptxloom_status_name(700), "cudaErrorIllegalAddress");
	CHECK_STR(ptxloom_status_name(226), "cudaErrorContained");
	CHECK_STR(ptxloom_status_text(12345), "unrecognized error code");
}

static void test_modules(struct env *e)
{
	struct ptxloom_module *m;
	struct ptxloom_param p;
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, "axpy");
	char text[2000];
	uint32_t *counter;
	uint64_t *where;
	size_t bytes;

	CHECK(k && k == ptxloom_module_kernel_nth(e->mod, 1));
	CHECK(ptxloom_module_kernel(e->mod, "saxpy") == NULL &&
	      ptxloom_module_kernel_nth(e->mod, 6) == NULL);
	CHECK_STR(ptxloom_kernel_name(k), "axpy");
	CHECK_EQ(ptxloom_kernel_param_count(k), 4);
	CHECK_EQ(ptxloom_kernel_param(k, 2, &p), 0);
	CHECK(!strcmp(p.name, "x") && !strcmp(p.type, "u64") && p.offset == 8 && p.bytes == 8 &&
	      !p.is_array);
	CHECK_EQ(ptxloom_kernel_param(k, 4, &p), PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_kernel_param(ptxloom_module_kernel(e->mod, "structure"), 0, &p), 0);
	CHECK(p.is_array && p.bytes == 16 && p.align == 8);
	CHECK_EQ(ptxloom_kernel_occupancy(k, 1024, 0), 2);
	CHECK_EQ(ptxloom_kernel_occupancy(k, 32, 100000), 1);
	CHECK_EQ(ptxloom_kernel_occupancy(k, 2000, 0), 0);
	CHECK_EQ(ptxloom_kernel_occupancy(k, UINT32_MAX, 0), 0);
	CHECK_EQ(ptxloom_module_variable(e->mod, "counter", (void **)&counter, &bytes), 0);
	CHECK(bytes == 4 && *counter == 41);
	CHECK_EQ(ptxloom_module_variable(e->mod, "where", (void **)&where, &bytes), 0);
	CHECK(bytes == 8 && *where == (uintptr_t)counter);
	CHECK_EQ(ptxloom_module_variable(e->mod, "nothing", (void **)&where, &bytes),
		 PTXLOOM_NOT_FOUND);
	CHECK_EQ(ptxloom_module_load(e->dev, "no ptx at all", 13, &m), PTXLOOM_INVALID_IMAGE);
	CHECK(m == NULL && ptxloom_message(e->dev, text, sizeof(text)) > 0 &&
	      strstr(text, "<memory>") != NULL);
	CHECK_EQ(ptxloom_message(e->dev, text, sizeof(text)), 0);
	CHECK_EQ(ptxloom_module_load(e->dev, HEAD ".entry k() { bra nowhere; }\n",
				     strlen(HEAD) + 27, &m),
		 PTXLOOM_INVALID_PTX);
	CHECK(ptxloom_message(e->dev, text, sizeof(text)) > 0 &&
	      strstr(text, "<memory>:4:") != NULL);
	CHECK_EQ(ptxloom_module_load_file(e->dev, "./nowhere.ptx", &m), PTXLOOM_FILE_NOT_FOUND);
	CHECK(ptxloom_message(e->dev, text, sizeof(text)) > 0 &&
	      strstr(text, "No such file") != NULL);
}

static void test_launches(struct env *e)
{
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, "axpy"),
			      *b = ptxloom_module_kernel(e->mod, "bounded");
	struct ptxloom_config c = {.grid = {40}, .block = {250}};
	int n = 10000, a = 3;
	int *x = ptxloom_alloc(e->dev, (size_t)n * 4), *y = ptxloom_alloc(e->dev, (size_t)n * 4);
	void *args[] = {&n, &a, &x, &y};
	char text[256];
	bool good = true;
	struct {
		uint64_t a, b;
	} s = {40, 2};

	CHECK(x && y && !y[n - 1]);
	for (int i = 0; i < n; i++)
		x[i] = i, y[i] = 7;
	CHECK_EQ(ptxloom_launch(k, &c, args), 0);
	for (int i = 0; i < n; i++)
		good &= y[i] == 3 * i + 7;
	CHECK(good);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(ptxloom_launch_async(ptxloom_module_kernel(e->mod, "empty"), &c, NULL), 0);
	CHECK_EQ(ptxloom_device_sync(e->dev), 0);
	/* What CUDA refuses. */
	CHECK_EQ(ptxloom_launch(k, &c, NULL), PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_launch(k, &(struct ptxloom_config){.grid = {0}, .block = {32}}, args),
		 PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_launch(k, &(struct ptxloom_config){.grid = {1}, .block = {0}}, args),
		 PTXLOOM_INVALID_VALUE);
	ptxloom_message(e->dev, text, sizeof(text));
	CHECK_EQ(ptxloom_launch(k, &(struct ptxloom_config){.grid = {1}, .block = {2048}}, args),
		 PTXLOOM_INVALID_VALUE);
	ptxloom_message(e->dev, text, sizeof(text));
	CHECK(!strcmp(
		text,
		"ptxloom: error: the launch of axpy is refused: the block has 2048 threads in "
		"dimension x, the device allows 1024\n"));
	CHECK_EQ(
		ptxloom_launch(k, &(struct ptxloom_config){.grid = {1}, .block = {1, 1, 65}}, args),
		PTXLOOM_INVALID_VALUE);
	CHECK_EQ(
		ptxloom_launch(k, &(struct ptxloom_config){.grid = {1, 65536}, .block = {1}}, args),
		PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_launch(k,
				&(struct ptxloom_config){
					.grid = {1}, .block = {32}, .dynamic_shared = 300000},
				args),
		 PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_launch(b, &(struct ptxloom_config){.grid = {1}, .block = {128}},
				(void *[]){&y}),
		 PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_launch(k,
				&(struct ptxloom_config){
					.grid = {108 * 2 + 1}, .block = {1024}, .cooperative = 1},
				args),
		 PTXLOOM_COOPERATIVE_LAUNCH_TOO_LARGE);
	CHECK_EQ(ptxloom_launch(b,
				&(struct ptxloom_config){
					.grid = {1}, .block = {64}, .dynamic_shared = 100000},
				(void *[]){&y}),
		 0);
	CHECK_EQ(y[0], 100000);
	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(e->mod, "structure"),
				&(struct ptxloom_config){.grid = {1}, .block = {1}},
				(void *[]){&s, &y}),
		 0);
	CHECK_EQ(y[0], 42);
	CHECK_EQ(ptxloom_free(e->dev, x), 0);
	CHECK_EQ(ptxloom_free(e->dev, x), PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_free(e->dev, y + 1), PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_free(e->dev, y), 0);
	CHECK_EQ(ptxloom_free(e->dev, NULL), 0);
}

static void test_faults(struct env *e)
{
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, "axpy");
	struct ptxloom_config c = {.grid = {3}, .block = {64}}; /* the last CTA alone fails */
	int n = 200, a = 1, *x = ptxloom_alloc(e->dev, 256 * 4),
	    *y = ptxloom_alloc(e->dev, 150 * 4), host[256];
	void *args[] = {&n, &a, &x, &y}, *p = host;
	struct ptxloom_fault f;
	char text[4096];

	ptxloom_message(e->dev, text, sizeof(text));
	CHECK_EQ(ptxloom_last_fault(e->dev, &f), PTXLOOM_NOT_FOUND);
	CHECK_EQ(ptxloom_launch(k, &c, args), PTXLOOM_ILLEGAL_ADDRESS);
	CHECK_EQ(ptxloom_last_fault(e->dev, &f), 0);
	CHECK_EQ(f.status, PTXLOOM_ILLEGAL_ADDRESS);
	CHECK(!strcmp(f.kernel, "axpy") && !strcmp(f.kind, "Invalid address"));
	CHECK(f.cta[0] == 2 && f.thread[0] == 22 && f.has_address && !f.is_write && f.bytes == 4);
	CHECK_EQ(f.address, (uintptr_t)(y + 150));
	CHECK_EQ(f.ptx_line, 17);
	CHECK(strstr(f.message, "global read of 4 bytes") &&
	      strstr(f.message, "0 bytes after a 600-byte allocation"));
	CHECK(strstr(f.message, "ld.global.u32 %r7, [%rd4]") != NULL);
	CHECK(ptxloom_message(e->dev, text, sizeof(text)) == strlen(f.message) &&
	      !strcmp(text, f.message));
	/* Host memory is no device memory, until it is registered. */
	memset(host, 0, sizeof(host));
	args[3] = &p;
	CHECK_EQ(ptxloom_launch(k, &c, args), PTXLOOM_ILLEGAL_ADDRESS);
	CHECK_EQ(ptxloom_register(e->dev, host, sizeof(host)), 0);
	CHECK_EQ(ptxloom_register(e->dev, host + 1, 4), PTXLOOM_INVALID_VALUE);
	x[5] = 9;
	CHECK_EQ(ptxloom_launch(k, &c, args), 0);
	CHECK_EQ(host[5], 9);
	CHECK_EQ(ptxloom_unregister(e->dev, host), 0);
	CHECK_EQ(ptxloom_unregister(e->dev, host), PTXLOOM_INVALID_VALUE);
	/* A source line, a misaligned address, a trap, a fault that no call waited for. */
	args[3] = &y;
	y = (int *)((char *)y + 2);
	CHECK_EQ(ptxloom_launch(k, &c, args), PTXLOOM_MISALIGNED_ADDRESS);
	y = (int *)((char *)y - 2);
	CHECK_EQ(ptxloom_launch_async(ptxloom_module_kernel(e->mod, "stop"), &c, NULL), 0);
	CHECK_EQ(ptxloom_device_sync(e->dev), PTXLOOM_LAUNCH_FAILED);
	CHECK_EQ(ptxloom_device_sync(e->dev), 0);
	CHECK_EQ(ptxloom_last_fault(e->dev, &f), 0);
	CHECK(!strcmp(f.kernel, "stop") && strstr(f.message, "trap") != NULL);
	ptxloom_free(e->dev, x);
	ptxloom_free(e->dev, y);
}

static void test_bind(struct env *e)
{
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, "axpy"),
			      *s = ptxloom_module_kernel(e->mod, "structure");
	static const char *const wrong[] = {
		"",
		"(n, a, x)",
		"(n, a, x, y",
		"(n, a, x, y) <<<1>>>",
		"(n, a, x, y) <<<1, 32",
		"(n, a, x, y) <<<m, 32>>>",
		"(n, a, x, y, z) <<<1, 32>>>",
		"(n, a, in x, y) <<<1, 32>>>",
		"(n, a, in f31 x[n], y) <<<1, 32>>>",
		"(n, in a[n], x, y) <<<1, 32>>>",
		"(f64 n, a, x, y) <<<1, 32>>>",
		"(n, a, in f32 x[x], y) <<<1, 32>>>",
		"(n, a, x, y) <<<(1, 32>>>",
		"(n, a, x, y) <<<1, 32>>> extra",
		"(n, a, x, y) <<<1 + , 32>>>",
		"(n, a, in s32 x[n, y) <<<1, 32>>>",
	};
	int (*axpy)(int n, int a, const int *x, int *y), (*pair)(const void *s, uint64_t *out);
	int x[1000], y[1000], *buffer = ptxloom_alloc(e->dev, sizeof(y));
	struct {
		uint64_t a, b;
	} two = {30, 12};
	uint64_t sum = 0;
	char text[1000];
	bool good = true;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		CHECK_MSG(ptxloom_bind(k, wrong[i], (void **)&axpy) == PTXLOOM_INVALID_VALUE,
			  wrong[i]);
		CHECK(!axpy && ptxloom_message(e->dev, text, sizeof(text)) > 0 &&
		      strstr(text, "column"));
	}
	CHECK_EQ(
		ptxloom_bind(
			k,
			"(n, a, in s32 x[n], inout s32 y[n]) <<<(n + 255) / 256, {2 * 64 + 128, 1, 1}, n % 7>>>",
			(void **)&axpy),
		0);
	for (int i = 0; i < 1000; i++)
		x[i] = i, y[i] = buffer[i] = 1;
	CHECK_EQ(axpy(1000, -2, x, y), 0);
	for (int i = 0; i < 1000; i++)
		good &= y[i] == 1 - 2 * i && x[i] == i;
	CHECK(good);
	/* A buffer goes through; only n elements are copied; 0 CTAs and too many are refused as in
	 * CUDA. */
	CHECK_EQ(axpy(1000, 1, x, buffer), 0);
	CHECK(buffer[999] == 1000);
	CHECK_EQ(axpy(1, 5, x + 10, y), 0);
	CHECK(y[0] == 51 && y[1] == -1);
	CHECK_EQ(axpy(0, 5, x, y), PTXLOOM_INVALID_VALUE);
	CHECK_EQ(axpy(-1, 5, x, y), PTXLOOM_INVALID_VALUE);
	CHECK_EQ(axpy(1000, 1, NULL, y), PTXLOOM_ILLEGAL_ADDRESS);
	CHECK(y[0] == 51);
	CHECK_EQ(ptxloom_bind(s, "(s, out u64 o[1]) <<<1, 1>>>", (void **)&pair), 0);
	CHECK_EQ(pair(&two, &sum), 0);
	CHECK_EQ(sum, 42);
	ptxloom_free(e->dev, buffer);
}

struct caller {
	pthread_t id;
	int (*axpy)(int n, int a, const int *x, int *y);
	int number;
	bool good;
};

static void *call_often(void *arg)
{
	struct caller *c = arg;
	int x[300], y[300];

	c->good = true;
	for (int round = 0; round < 100; round++) {
		int n = 1 + (round * 37 + c->number) % 300;

		for (int i = 0; i < n; i++)
			x[i] = i + c->number, y[i] = round;
		c->good &= c->axpy(n, 2, x, y) == 0;
		for (int i = 0; i < n; i++)
			c->good &= y[i] == 2 * (i + c->number) + round;
	}
	return NULL;
}

static void test_threads(struct env *e)
{
	struct caller c[4];

	for (int i = 0; i < 4; i++) {
		c[i].number = i;
		CHECK_EQ(ptxloom_bind(ptxloom_module_kernel(e->mod, "axpy"),
				      "(n, a, in s32 x[n], inout s32 y[n]) <<<(n + 31) / 32, 32>>>",
				      (void **)&c[i].axpy),
			 0);
		pthread_create(&c[i].id, NULL, call_often, &c[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(c[i].id, NULL);
		CHECK(c[i].good);
	}
}

static void keep(void *user, const char *text)
{
	strncat(user, text, 1000);
}

static void test_timeout(void)
{
	static char said[4096];
	struct ptxloom_options o = {
		.size = sizeof(o), .workers = 1, .timeout_ms = 50, .message = keep, .user = said};
	struct ptxloom_fault f;
	struct env e;

	if (!env_open(&e, &o))
		return;
	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(e.mod, "forever"),
				&(struct ptxloom_config){.grid = {2}, .block = {32}}, NULL),
		 PTXLOOM_LAUNCH_TIMEOUT);
	CHECK(strstr(said, "Timeout: the launch ran for more than 50 ms") &&
	      strstr(said, "in kernel forever"));
	CHECK(strstr(said, "block (0,0,0) warp 0 lanes 0xffffffff: running at PTX line") != NULL);
	CHECK_EQ(ptxloom_last_fault(e.dev, &f), 0);
	CHECK_STR(f.message, said);
	ptxloom_device_close(e.dev);
}

/* Sum of 1 / (n + 3) over 2000 CTAs, in the order in which they come. */
static const char sums[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry sum(.param .u64 o)\n{\n.reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [o]; mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, 3; cvt.rn.f32.u32 %f1, %r1;\n"
	"rcp.rn.f32 %f1, %f1; red.global.add.f32 [%rd1], %f1; ret;\n}\n";

static uint32_t sum_with(unsigned workers, int deterministic)
{
	struct ptxloom_options o = {
		.size = sizeof(o), .workers = workers, .deterministic = deterministic};
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	uint32_t bits = 0, *out;

	if (!CHECK_EQ(ptxloom_device_open(&o, &dev), 0))
		return 0;
	CHECK_EQ(ptxloom_module_load(dev, sums, sizeof(sums) - 1, &mod), 0);
	out = ptxloom_alloc(dev, 4);
	CHECK_EQ(ptxloom_launch_async(ptxloom_module_kernel(mod, "sum"),
				      &(struct ptxloom_config){.grid = {2000}, .block = {33}},
				      (void *[]){&out}),
		 0);
	CHECK_EQ(ptxloom_device_sync(dev), 0);
	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(mod, "sum"),
				&(struct ptxloom_config){.grid = {2000}, .block = {33}},
				(void *[]){&out}),
		 0);
	memcpy(&bits, out, 4);
	ptxloom_device_close(dev);
	return bits;
}

static void test_one_order(void)
{
	uint32_t first = sum_with(1, 1);

	CHECK(first != 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(sum_with(4, 1), first);
}

int main(void)
{
	struct env e;

	test_devices();
	if (!env_open(&e, NULL))
		return check_done();
	test_modules(&e);
	test_launches(&e);
	test_faults(&e);
	test_bind(&e);
	test_threads(&e);
	ptxloom_module_unload(e.mod);
	ptxloom_device_close(e.dev);
	test_timeout();
	test_one_order();
	return check_done();
}
