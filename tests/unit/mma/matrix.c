/*
 * Matrix instructions as an H200 runs them: kernels of tests/vectors/matrix.ptx on inputs of
 * matrix.bin, whose results must come out bit for bit, on every host level; what parts without the
 * tensor cores refuse; a guard that parts the warp; products with a factor in common.
 */
#include "src/base/file.h"
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#include <stdlib.h>

#define FILL 0xcd

struct vectors {
	struct file ptx, list, bytes;
	char *text; /* of the list */
};

static bool open_file(struct file *f, const char *name)
{
	const char *dir = getenv("srcdir");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/vectors/%s", dir ? dir : ".", name);
	return CHECK_MSG(file_open(f, path), name);
}

/* One line: form, kernel, threads, place and bytes of the input, place and bytes of the results. */
static bool run_line(struct harness *h, const struct vectors *v, const char *level, char *line)
{
	char form[160], kernel[16];
	u32 threads, in_at, in_len, out_at, out_len;
	struct {
		u64 in, out;
		u32 n;
	} params = {0, 0, 0};
	bool ok = sscanf(line, "%159s %15s %u %u %u %u %u", form, kernel, &threads, &in_at, &in_len,
			 &out_at, &out_len) == 7;

	if (!ok || in_at + in_len > v->bytes.size || out_at + out_len > v->bytes.size)
		return false;
	params.in = mem_alloc(&h->mem, in_len, 0, MEM_KIND_DEVICE);
	params.out = mem_alloc(&h->mem, out_len, 0, MEM_KIND_DEVICE);
	if (!params.in || !params.out)
		return false;
	params.n = threads;
	memcpy((void *)(uintptr_t)params.in, v->bytes.data + in_at, in_len);
	memset((void *)(uintptr_t)params.out, FILL, out_len);
	ok = harness_run(h, kernel, 1, threads, &params, level) == STOP_DONE &&
	     !memcmp((void *)(uintptr_t)params.out, v->bytes.data + out_at, out_len);
	mem_free(&h->mem, params.in);
	mem_free(&h->mem, params.out);
	return ok;
}

static void test_vectors(struct vectors *v, const char *ptx, const char *level)
{
	char *copy = strdup(v->text), *more = NULL, what[200];
	struct harness h;

	if (!copy || !CHECK(harness_open(&h, ptx)))
		return;
	for (char *line = strtok_r(copy, "\n", &more); line; line = strtok_r(NULL, "\n", &more)) {
		if (*line == '#')
			continue;
		snprintf(what, sizeof(what), "%s: %.*s", level, (int)strcspn(line, "\t"), line);
		CHECK_MSG(run_line(&h, v, level, line), what);
	}
	harness_close(&h);
	free(copy);
}

/* Integers, bits and f64 have one arithmetic on all parts that have them: what the H200 gave. */
static void test_same_arithmetic(struct vectors *v, const char *ptx, const char *device)
{
	static const char *const types[] = {".s32.s8.", ".s32.u8.", ".s32.u4.",
					    ".s32.s4.", ".s32.b1.", ".f64.f64.f64"};
	char *copy = strdup(v->text), *more = NULL, what[200];
	struct harness h;
	u32 forms = 0;

	if (!copy || !CHECK(harness_open(&h, ptx)))
		return;
	h.device = device;
	for (char *line = strtok_r(copy, "\n", &more); line; line = strtok_r(NULL, "\n", &more)) {
		bool same = false;

		for (size_t i = 0; i < ARRAY_LEN(types); i++)
			same |= strstr(line, types[i]) != NULL;
		if (!same || strncmp(line, "wgmma", 5) == 0)
			continue;
		forms++;
		snprintf(what, sizeof(what), "%s: %.*s", device, (int)strcspn(line, "\t"), line);
		CHECK_MSG(run_line(&h, v, NULL, line), what);
	}
	CHECK(forms >= 12);
	harness_close(&h);
	free(copy);
}

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

/* Every element of A, B and C is 1, so those of D are 17; some lanes come by another way. */
static const char ones[] = HEAD
	".visible .entry k(.param .u64 out)\n"
	"{ .reg .u64 %o; .reg .u32 %t; .reg .b32 %a; .reg .f32 %d<4>, %c; .reg .pred %p;\n"
	"ld.param.u64 %o,[out]; mov.u32 %t,%tid.x; mov.b32 %a,0x3c003c00; mov.f32 %c,0f3f800000;\n"
	"setp.lt.u32 %p,%t,7; @%p bra L; mov.f32 %c,0f3f800000;\n"
	"L: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3},{%a,%a,%a,%a},{%a,%a},{%c,%c,%c,%c};\n"
	"mad.wide.u32 %o,%t,4,%o; add.f32 %d0,%d0,%d3; st.global.f32 [%o],%d0; ret; }\n";

static void test_device(const char *device, enum exec_stop want)
{
	struct harness h;
	u64 out;
	bool same = true;

	if (!CHECK(harness_open(&h, ones)))
		return;
	h.device = device;
	out = mem_alloc(&h.mem, 128, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 32, &out, NULL), want);
	if (want == STOP_FAULT) {
		CHECK_EQ(h.fault.kind, FAULT_ILLEGAL_INSTRUCTION);
	} else {
		for (u32 i = 0; i < 32; i++)
			same &= ((const f32 *)(uintptr_t)out)[i] == 34;
		CHECK_MSG(same, device);
	}
	harness_close(&h);
}

#define CHAIN_WORDS 16u
#define CHAIN_THREADS 256u

/*
 * Products that follow one another with a factor in common, which is decoded once: the fourth
 * writes over A, so that the fifth has another one. `between` stands between them.
 */
static void write_chain(char *ptx, size_t size, const char *between)
{
	static const char *const products[] = {
		"{%c0,%c1,%c2,%c3},{%a0,%a1,%a2,%a3},{%b0,%b1},{%c0,%c1,%c2,%c3}",
		"{%c4,%c5,%c6,%c7},{%a0,%a1,%a2,%a3},{%b2,%b3},{%c4,%c5,%c6,%c7}",
		"{%c0,%c1,%c2,%c3},{%a0,%a1,%a2,%a3},{%b2,%b3},{%c4,%c5,%c6,%c7}",
		"{%a0,%a1,%a2,%a3},{%a0,%a1,%a2,%a3},{%b0,%b1},{%c0,%c1,%c2,%c3}",
		"{%c4,%c5,%c6,%c7},{%a0,%a1,%a2,%a3},{%b0,%b1},{%c4,%c5,%c6,%c7}",
	};
	static const char *const names[] = {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3",
					    "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};
	size_t at = (size_t)snprintf(
		ptx, size,
		HEAD
		".visible .entry k(.param .u64 data)\n"
		"{ .reg .u64 %%o; .reg .u32 %%t; .reg .b32 %%a<4>,%%b<4>,%%c<8>;\n"
		"ld.param.u64 %%o,[data]; mov.u32 %%t,%%tid.x; mad.wide.u32 %%o,%%t,64,%%o;\n");

	for (u32 i = 0; i < CHAIN_WORDS; i++)
		at += (size_t)snprintf(ptx + at, size - at, "ld.global.b32 %%%s,[%%o+%u];\n",
				       names[i], 4 * i);
	for (u32 i = 0; i < ARRAY_LEN(products); i++)
		at += (size_t)snprintf(ptx + at, size - at,
				       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %s;\n%s",
				       products[i], between);
	for (u32 i = 0; i < CHAIN_WORDS; i++)
		at += (size_t)snprintf(ptx + at, size - at, "st.global.b32 [%%o+%u],%%%s;\n", 4 * i,
				       names[i]);
	snprintf(ptx + at, size - at, "ret; }\n");
}

/* Ordinary factors, accumulators of about 1. */
static bool run_chain(const char *between, const char *level, u32 *data)
{
	static char ptx[1 << 13];
	u32 bytes = 4 * CHAIN_WORDS * CHAIN_THREADS, r = 1;
	struct harness h;
	u64 at;
	bool ok;

	for (u32 i = 0; i < CHAIN_WORDS * CHAIN_THREADS; i++) {
		r = r * 1664525 + 1013904223;
		data[i] = i % CHAIN_WORDS < 8 ? (r & 0x87ff87ff) | 0x38003800
					      : (r & 0x80ffffff) | 0x3f000000;
	}
	write_chain(ptx, sizeof(ptx), between);
	if (!CHECK(harness_open(&h, ptx)))
		return false;
	at = mem_alloc(&h.mem, bytes, 0, MEM_KIND_DEVICE);
	memcpy((void *)(uintptr_t)at, data, bytes);
	ok = harness_run(&h, "k", 1, CHAIN_THREADS, &at, level) == STOP_DONE;
	memcpy(data, (void *)(uintptr_t)at, bytes);
	harness_close(&h);
	return ok;
}

static void test_chain(const char *level)
{
	static u32 together[CHAIN_WORDS * CHAIN_THREADS], apart[CHAIN_WORDS * CHAIN_THREADS];
	char what[80];

	CHECK(run_chain("", level, together));
	CHECK(run_chain("add.u32 %t,%t,%t;\nst.global.u32 [%o],%t;\n", level, apart));
	snprintf(what, sizeof(what), "%s: products with a factor in common", level);
	CHECK_MSG(!memcmp(together, apart, sizeof(together)), what);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};
	struct vectors v;
	char *ptx;

	if (!open_file(&v.ptx, "matrix.ptx") || !open_file(&v.list, "matrix.tsv") ||
	    !open_file(&v.bytes, "matrix.bin"))
		return check_done();
	ptx = calloc(1, v.ptx.size + 1);
	v.text = calloc(1, v.list.size + 1);
	if (!ptx || !v.text)
		return 1;
	memcpy(ptx, v.ptx.data, v.ptx.size);
	memcpy(v.text, v.list.data, v.list.size);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (check_level(exec_ops_select(levels[i]), levels[i])) {
			test_vectors(&v, ptx, levels[i]);
			test_chain(levels[i]);
		}
	test_same_arithmetic(&v, ptx, "gb202");
	test_device("gh100", STOP_DONE);
	test_device("ga100", STOP_DONE);
	test_device("gv100", STOP_FAULT);
	free(ptx);
	free(v.text);
	file_close(&v.ptx);
	file_close(&v.list);
	file_close(&v.bytes);
	return check_done();
}
