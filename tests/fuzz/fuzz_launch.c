/*
 * Fuzzer of launches: kernels of any text are run, on small grids and for a short time. Whatever
 * they do, the host must live, and a launch that fails must say what failed and where. Ways to use
 * it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_launch FILE...  runs these files once
 *   fuzz_launch          changes random programs, the same on every run; --long [N [FIRST]]: N of
 *                        them
 */
#include "tests/check.h"

#include "src/base/file.h"

#include <ptxloom.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define INPUT_MAX ((size_t)64 << 10)
#define BUFFER_BYTES 65536u
#define KERNELS_MAX 4u
#define PARAMS_MAX 64u
#define TIMEOUT_MS 100
/* A device is used for so many texts: what one leaves behind must not matter to the next. */
#define DEVICE_USES 64u

static struct ptxloom_device *device;
static u32 device_uses;
/* Launches that ended well, by a fault, or did not start; texts that were not taken. */
static u64 ended, faulted, refused, untaken;

/* What the library said of this text. */
static char said[512];
static size_t said_bytes;

static void hear(void *user, const char *text)
{
	(void)user;
	snprintf(said, sizeof(said), "%s", text);
	said_bytes += strlen(text);
}

static void ignore_output(void *user, const char *text, size_t size)
{
	(void)user;
	(void)text;
	(void)size;
}

static struct ptxloom_device *device_get(void)
{
	static const char *const names[] = {"h200", "v100", "p100", "rtx5090"};
	struct ptxloom_options o = {.size = sizeof(o), .workers = 1, .timeout_ms = TIMEOUT_MS};

	if (device && device_uses++ % DEVICE_USES)
		return device;
	ptxloom_device_close(device);
	o.device = names[device_uses / DEVICE_USES % 16 < 13 ? 0 : device_uses / DEVICE_USES % 4];
	o.output = ignore_output;
	o.message = hear;
	if (ptxloom_device_open(&o, &device)) {
		o.device = "h200";
		if (ptxloom_device_open(&o, &device))
			abort();
	}
	return device;
}

static void require(bool ok, const char *what, const char *detail)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_launch: %s: %s\n", what, detail);
	abort();
}

/* A fault of a kernel has words, and names the kernel. */
static void check_fault(struct ptxloom_device *dev, struct ptxloom_kernel *kernel, int status)
{
	struct ptxloom_fault f;

	if (status >= PTXLOOM_ILLEGAL_ADDRESS && status <= PTXLOOM_LAUNCH_FAILED &&
	    status != PTXLOOM_LAUNCH_OUT_OF_RESOURCES) {
		require(!ptxloom_last_fault(dev, &f), "no fault is kept",
			ptxloom_status_name(status));
		require(f.message[0], "a fault has no message", ptxloom_status_name(status));
		require(!strncmp(f.kernel, ptxloom_kernel_name(kernel), sizeof(f.kernel) - 1),
			"a fault names another kernel", f.kernel);
		faulted++;
	} else if (status) {
		refused++;
		require(said_bytes, "an error has no message", ptxloom_status_name(status));
	} else {
		ended++;
	}
}

/* Parameters of 8 bytes get a buffer, others small numbers; structures begin with a buffer, too. */
static void launch(struct ptxloom_device *dev, struct ptxloom_kernel *kernel, u8 *buffer, u32 shape)
{
	static const struct ptxloom_config configs[] = {
		{.grid = {2, 1, 1}, .block = {40, 1, 1}},
		{.grid = {1, 2, 1}, .block = {33, 2, 1}, .dynamic_shared = 1024},
		{.grid = {3, 1, 1}, .block = {1, 1, 1}, .cooperative = 1},
		{.grid = {4, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}},
	};
	u32 n = ptxloom_kernel_param_count(kernel);
	void *args[PARAMS_MAX];
	u8 *values;
	int status;

	if (n > PARAMS_MAX)
		return;
	values = calloc(PARAMS_MAX, 32768 + 16);
	if (!values)
		abort();
	for (u32 i = 0; i < n; i++) {
		struct ptxloom_param p;
		u64 at = (u64)(uintptr_t)(buffer + (i % 3) * (BUFFER_BYTES / 4));

		require(!ptxloom_kernel_param(kernel, i, &p), "a parameter is not there", "");
		args[i] = values + i * (32768 + 16);
		if (p.bytes >= sizeof(at))
			memcpy(args[i], &at, sizeof(at));
		else
			*(u8 *)args[i] = (u8)(i + 1);
	}
	said_bytes = 0;
	status = ptxloom_launch(kernel, &configs[shape % ARRAY_LEN(configs)], args);
	check_fault(dev, kernel, status);
	ptxloom_device_sync(dev);
	free(values);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ptxloom_device *dev = device_get();
	struct ptxloom_module *module = NULL;
	struct ptxloom_kernel *kernel;
	u8 *buffer;

	if (!size || size > INPUT_MAX)
		return 0;
	said_bytes = 0;
	if (ptxloom_module_load(dev, data, size, &module)) {
		require(said_bytes, "a refused text has no message", "");
		untaken++;
		return 0;
	}
	buffer = ptxloom_alloc(dev, BUFFER_BYTES);
	require(buffer, "no memory", "");
	for (u32 i = 0; i < KERNELS_MAX && (kernel = ptxloom_module_kernel_nth(module, i)); i++)
		launch(dev, kernel, buffer, i + (u32)size);
	require(!ptxloom_free(dev, buffer), "a buffer is gone", "");
	ptxloom_module_unload(module);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/progen.h"

#define ROUNDS 2000
#define CHANGES_MAX 12

/*
 * A change after which most programs are still valid: another register of the pool, another number,
 * a statement gone, doubled or moved. Text before the first opening brace stays.
 */
static void mutate_softly(struct text *t, u64 *state)
{
	static const char *const numbers[] = {"0",     "1",          "-1",        "3",   "8",
					      "31",    "32",         "33",        "255", "4096",
					      "65535", "0x7fffffff", "0xffffffff"};
	const char *body = strchr(t->at, '{'), *line;
	size_t from = body ? (size_t)(body - t->at) : 0, size, len;
	size_t at = mutate_token(t, from + mutate_next(state) % (t->len - from), &size);
	const char *number = numbers[mutate_next(state) % ARRAY_LEN(numbers)];
	char last;

	for (u32 tries = 0; tries < 64 && t->at[at] != '%' && (t->at[at] < '0' || t->at[at] > '9');
	     tries++)
		at = mutate_token(t, from + mutate_next(state) % (t->len - from), &size);
	last = t->at[at + size - 1];
	if (mutate_next(state) % 3 && t->at[at] == '%' && last >= '0' && last <= '9') {
		t->at[at + size - 1] = (char)('0' + mutate_next(state) % 8);
	} else if (mutate_next(state) % 3 && t->at[at] >= '0' && t->at[at] <= '9') {
		mutate_replace(t, at, size, number, strlen(number));
	} else {
		/* A line of one statement goes, or comes a second time somewhere. */
		while (at > from && t->at[at - 1] != '\n')
			at--;
		line = t->at + at;
		len = strcspn(line, "\n");
		if (at == from || !len || line[len - 1] != ';' || line[0] == '.' ||
		    strchr("{}", line[0]))
			return;
		mutate_replace(t, at, mutate_next(state) % 2 ? len : 0, line,
			       mutate_next(state) % 2 ? len : 0);
	}
}

/* One changed program. Few changes are hard ones, with words of another program. */
static void fuzz_program(u64 number)
{
	u64 state = MUTATE_SEED ^ number * 0x9e3779b97f4a7c15u;
	struct text t = {0}, other = {0};
	struct progen p, q;
	char *text, *donor;
	u32 changes = (u32)(number % (CHANGES_MAX + 1));

	progen_init(&p, number + 1, 0, NULL, NULL);
	if (p.target.sm > 90) {
		/* No device here runs it. */
		progen_fini(&p);
		return;
	}
	progen_init(&q, number + 77777, 0, NULL, NULL);
	text = progen_text(&p, NULL);
	donor = progen_text(&q, NULL);
	text_puts(&t, text);
	text_puts(&other, donor);
	for (u32 i = 0; i < 8; i++)
		mutate_next(&state);
	while (changes-- && t.len)
		if (mutate_next(&state) % 16)
			mutate_softly(&t, &state);
		else
			mutate(&t, &other, &state);
	LLVMFuzzerTestOneInput((const u8 *)t.at, t.len);
	text_fini(&t);
	text_fini(&other);
	free(text);
	free(donor);
	progen_fini(&p);
	progen_fini(&q);
}

static int fuzz_programs(struct mutate_rounds r)
{
	for (u64 i = r.first; i < r.first + r.n; i++)
		fuzz_program(i);
	printf("# %llu changed programs: %llu launches ended, %llu faulted, %llu were refused; "
	       "%llu programs were not read\n",
	       (unsigned long long)r.n, (unsigned long long)ended, (unsigned long long)faulted,
	       (unsigned long long)refused, (unsigned long long)untaken);
	/* Some are for devices that are not here. */
	CHECK_MSG(3 * (ended + faulted) > refused + untaken, "changed programs run and do no harm");
	return check_done();
}

int main(int argc, char **argv)
{
	int status = mutate_makes(argc, argv) ? fuzz_programs(mutate_rounds(argc, argv, ROUNDS))
					      : mutate_files(argc - 1, argv + 1);

	ptxloom_device_close(device);
	return status;
}

#endif
