/*
 * Fuzzer of recorded launches: what `--replay` reads. Ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_record FILE...  reads these files once
 *   fuzz_record          records a launch and changes bytes of the record, the same on every run;
 *                        --long [N [FIRST]]: N of them
 * Records are changed unpacked, as the checksum of packed ones would hide what is behind it.
 */
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include "src/dev/record/record.h"
#include "src/dev/record/wire.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static char path[64];
static u64 taken, refused;

static void remove_record(void)
{
	unlink(path);
}

static void put_record(const u8 *data, size_t size)
{
	int fd;

	if (!path[0]) {
		snprintf(path, sizeof(path), "/tmp/fuzz_record.XXXXXX");
		fd = mkstemp(path);
		atexit(remove_record);
	} else {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	}
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void load_record(struct replay *r, struct arch *a, struct diag *d, struct text *why)
{
	struct device_settings s = {.sched.workers = 1};
	struct sched_pool *pool = sched_pool_new(&s.sched);
	struct device_program *p = NULL;
	struct device dev;

	replay_place(r);
	if (!pool || device_init(&dev, a, pool, exec_ops_select(NULL), NULL) != STATUS_SUCCESS)
		abort();
	if (replay_load(r, &dev, d, &p, why))
		taken++;
	else
		refused++;
	device_program_unload(p);
	device_fini(&dev);
	sched_pool_free(pool);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct text why = {0}, shown = {0};
	struct replay *r;
	struct arch *a;
	struct diag d;

	put_record(data, size);
	diag_init(&d, NULL, NULL);
	r = replay_open(path, &why);
	if (!r && !why.len)
		abort();
	a = r ? replay_profile(r, &d) : NULL;
	if (a) {
		replay_describe(r, &shown);
		load_record(r, a, &d, &why);
	} else {
		refused++;
	}
	replay_close(r);
	arch_free(a);
	diag_fini(&d);
	text_fini(&why);
	text_fini(&shown);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#define ROUNDS 400
#define HEAD_BYTES 16

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .global .u32 v = 7;\n"
			  ".visible .entry k(.param .u64 p) { ret; }\n";

/* A record of a launch of k, unpacked. */
static void make_record(struct text *to)
{
	struct device_text text = {.name = "k.ptx", .text = ptx, .size = sizeof(ptx) - 1};
	struct device_settings s = {.sched.workers = 1};
	struct sched_pool *pool = sched_pool_new(&s.sched);
	struct device_program *p = NULL;
	struct text why = {0};
	struct device dev;
	struct diag d;
	struct file f;
	struct wire w;
	u64 value = 0;
	u8 byte;

	put_record((const u8 *)"", 0);
	setenv("PTXLOOM_RECORD", path, 1);
	setenv("PTXLOOM_RECORD_LAUNCH", "k", 1);
	diag_init(&d, diag_print, stderr);
	CHECK(device_init(&dev, arch_default(), pool, exec_ops_select(NULL), NULL) ==
	      STATUS_SUCCESS);
	dev.recorder = recorder_open(&s, &why);
	CHECK(dev.recorder != NULL);
	CHECK_EQ(device_program_load(&dev, &text, 1, IR_LINK_WHOLE, &d, &p), STATUS_SUCCESS);
	CHECK_EQ(device_launch(&(struct device_launch){.kernel = device_program_kernel(p, "k"),
						       .grid = {1, 1, 1},
						       .block = {1, 1, 1},
						       .packed = &value,
						       .packed_bytes = sizeof(value)},
			       NULL, NULL),
		 STATUS_SUCCESS);
	device_wait(&dev);
	recorder_close(dev.recorder);
	device_program_unload(p);
	device_fini(&dev);
	sched_pool_free(pool);
	diag_fini(&d);
	CHECK(file_open(&f, path) && f.size > HEAD_BYTES);
	text_add(to, (const char *)f.data, HEAD_BYTES);
	to->at[HEAD_BYTES - 4] = WIRE_PLAIN;
	CHECK(wire_open(&w, f.data + HEAD_BYTES, f.size - HEAD_BYTES, WIRE_ZSTD));
	for (wire_bytes(&w, &byte, 1); !w.failed; wire_bytes(&w, &byte, 1))
		text_add(to, (const char *)&byte, 1);
	wire_fini(&w);
	file_close(&f);
}

/* Bytes, numbers of eight bytes, the end. */
static void change_record(struct text *t, u64 *state)
{
	size_t at = HEAD_BYTES + mutate_next(state) % (t->len - HEAD_BYTES);
	u64 number = mutate_next(state) % 2 ? UINT64_MAX : (u64)1 << mutate_next(state) % 64;

	switch (mutate_next(state) % 8) {
	case 0:
		t->len = at;
		break;
	case 1:
	case 2:
		memcpy(t->at + at, &number, (size_t)min_u64(sizeof(number), t->len - at));
		break;
	default:
		t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		break;
	}
}

int main(int argc, char **argv)
{
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);
	struct text good = {0};

	if (!mutate_makes(argc, argv))
		return mutate_files(argc - 1, argv + 1);
	make_record(&good);
	LLVMFuzzerTestOneInput((const u8 *)good.at, good.len);
	CHECK_MSG(taken == 1, "a record that was not changed is taken");
	for (u64 i = r.first; i < r.first + r.n; i++) {
		u64 state = mutate_state(i);
		struct text t = {0};

		text_add(&t, good.at, good.len);
		for (u64 n = 1 + mutate_next(&state) % 3; n && t.len > HEAD_BYTES + 8; n--)
			change_record(&t, &state);
		LLVMFuzzerTestOneInput((const u8 *)t.at, t.len);
		text_fini(&t);
	}
	text_fini(&good);
	printf("# %llu changed records: %llu were taken, %llu refused\n", (unsigned long long)r.n,
	       (unsigned long long)taken, (unsigned long long)refused);
	CHECK_MSG(refused > r.n / 8, "changed records do no harm");
	return check_done();
}

#endif
