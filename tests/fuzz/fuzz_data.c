/*
 * Fuzzer of what `ptxloom exec` reads for buffers and parameters: TYPE[N]=INIT, and .npy files.
 * Ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_data FILE...  runs these files once
 *   fuzz_data          changes specifications and files, the same on every run; --long [N [FIRST]]:
 *                      N of them
 * An input is a line with the specification, in which @ stands for the file, and behind it the
 * file.
 */
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include "src/base/file.h"
#include "src/tools/exec_data.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Larger buffers find nothing that smaller ones do not. */
#define BYTES_MAX ((u64)1 << 20)
#define SPEC_MAX 256u

static char path[64];
static u64 filled, refused;

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const u8 *data, size_t size)
{
	int fd;

	if (!path[0]) {
		snprintf(path, sizeof(path), "/tmp/fuzz_data.XXXXXX");
		fd = mkstemp(path);
		atexit(remove_file);
	} else {
		fd = open(path, O_WRONLY | O_TRUNC);
	}
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* The specification with the file's name for the first @. */
static void name_file(const char *spec, struct text *out)
{
	size_t n = strcspn(spec, "@");

	text_add(out, spec, n);
	if (spec[n])
		text_printf(out, "@%s", path);
}

static void try_spec(const char *spec)
{
	struct text text = {0}, why = {0}, shown = {0};
	struct data d = {0};
	const char *at;

	name_file(spec, &text);
	at = text.at ? text.at : "";
	if (data_parse_type(&at, &d, &why) && (*at == '=' || !*at) &&
	    (d.count == UINT64_MAX || d.count <= BYTES_MAX / d.type->bytes)) {
		if (data_fill(&d, *at ? at + 1 : NULL, &why)) {
			data_print(&d, "x", &shown);
			filled++;
		} else if (!why.len) {
			fprintf(stderr, "fuzz_data: no reason is given: %s\n", spec);
			abort();
		} else {
			refused++;
		}
	}
	data_fini(&d);
	text_fini(&text);
	text_fini(&why);
	text_fini(&shown);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const u8 *end = memchr(data, '\n', size);
	size_t n = end ? (size_t)(end - data) : size;
	char spec[SPEC_MAX];

	if (n >= sizeof(spec))
		return 0;
	memcpy(spec, data, n);
	spec[n] = 0;
	write_file(end ? end + 1 : data, end ? size - n - 1 : 0);
	try_spec(spec);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#define ROUNDS 2000
#define HEAD(dict) "\x93NUMPY\x01\x00\x46\x00" dict

/* clang-format off */
static const char *const seeds[] = {
	"f32[4]=1,2,3,4\n", "f32=1,2,3\n", "u8[16]=iota\n", "s64[3]=-1,0x10,7\n", "f16[8]=random:7\n",
	"bf16[2]=1e30,-nan\n", "f64[]=inf,0.5\n", "b32[4]=ones\n", "u64\n", "f32[2]=zeros\n",
	"f32=@\n" "\x93NUMPY\x01", "u16[4]=@\n" "abcdefgh", "u8=@\n" "raw bytes",
};
static const char npy[] =
	HEAD("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }          \n")
	"0123456789abcdef";
/* clang-format on */

static void make_seed(u64 number, struct text *t)
{
	if (number % 3) {
		text_puts(t, seeds[number % ARRAY_LEN(seeds)]);
	} else {
		text_puts(t, number % 2 ? "f32=@\n" : "f32[4]=@\n");
		text_add(t, npy, sizeof(npy) - 1);
	}
}

int main(int argc, char **argv)
{
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);

	if (!mutate_makes(argc, argv))
		return mutate_files(argc - 1, argv + 1);
	for (u64 i = r.first; i < r.first + r.n; i++) {
		u64 state = mutate_state(i);
		u32 changes = (u32)(mutate_next(&state) % 4);
		struct text t = {0}, other = {0};

		make_seed(i, &t);
		make_seed(mutate_next(&state), &other);
		while (changes-- && t.len)
			mutate(&t, &other, &state);
		LLVMFuzzerTestOneInput((const u8 *)t.at, t.len);
		text_fini(&t);
		text_fini(&other);
	}
	printf("# %llu changed inputs: %llu were taken, %llu refused\n", (unsigned long long)r.n,
	       (unsigned long long)filled, (unsigned long long)refused);
	CHECK_MSG(filled > r.n / 8 && refused > r.n / 64, "changed data do no harm");
	return check_done();
}

#endif
