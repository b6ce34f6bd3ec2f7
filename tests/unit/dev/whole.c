/*
 * Values of up to 16 bytes are whole: a reader of one that others write at the same time sees what
 * one of them has written, never a part of it. Between CTAs of several workers, and between a
 * kernel and threads of the host; for every width, for the patterns that addresses of a warp have,
 * at every level of the host's handlers.
 *
 *     whole [ROUNDS]
 *
 * Values are made of a number and its complement in turn, so that a part of another one shows.
 * Source: PTX ISA "Memory Consistency Model: Scalar Data-Types, Vector Data-Types"; that hardware
 * shows vectors whole is what published scans keep their status and value in.
 */
#include "tests/check.h"

#include "src/base/base.h"
#include "src/base/piece.h"

#include <ptxloom.h>

#include <pthread.h>
#include <stdlib.h>

#define THREADS 64u
#define CTAS 16u
#define SLOT_BYTES 32u
#define SLOTS THREADS

/* ---- kernels ---- */

/* How values are moved. Elements are registers %e0.. of `bits`; pieces of 16 bytes are compared. */
struct form {
	const char *name, *load, *store; /* with their address behind them; NULL: see writer */
	u32 bits, count;
	bool pairs; /* one operand of 128 bits: two registers of 64 */
};

static const struct form forms[] = {
	{"b32, halves", "ld.relaxed.gpu.global.b32", "st.relaxed.gpu.global.b32", 32, 1, false},
	{"b64", "ld.relaxed.gpu.global.b64", "st.relaxed.gpu.global.b64", 64, 1, false},
	{"v2.b16", "ld.relaxed.gpu.global.v2.b16", "st.relaxed.gpu.global.v2.b16", 16, 2, false},
	{"v4.b16", "ld.volatile.global.v4.b16", "st.volatile.global.v4.b16", 16, 4, false},
	{"v2.b32", "ld.relaxed.gpu.global.v2.b32", "st.relaxed.gpu.global.v2.b32", 32, 2, false},
	{"v4.b32", "ld.relaxed.gpu.global.v4.b32", "st.relaxed.gpu.global.v4.b32", 32, 4, false},
	{"v2.b64", "ld.relaxed.gpu.global.v2.b64", "st.relaxed.gpu.global.v2.b64", 64, 2, false},
	{"v2.b32, weak", "ld.global.v2.b32", "st.global.v2.b32", 32, 2, false},
	{"v4.b32, weak", "ld.global.v4.b32", "st.global.v4.b32", 32, 4, false},
	{"v2.b64, generic", "ld.acquire.sys.v2.b64", "st.release.sys.v2.b64", 64, 2, false},
	{"v4.b32, generic", "ld.relaxed.sys.v4.b32", "st.relaxed.sys.v4.b32", 32, 4, false},
	{"b128", "ld.relaxed.gpu.global.b128", "st.relaxed.gpu.global.b128", 64, 2, true},
	{"b128, exchanged", "ld.relaxed.gpu.global.b128", "atom.relaxed.gpu.global.exch.b128", 64,
	 2, true},
	{"b128, compared", "ld.acquire.gpu.global.b128", "atom.acq_rel.gpu.global.cas.b128", 64, 2,
	 true},
	{"cp.async", "cp.async.cg.shared.global", "st.relaxed.gpu.global.v4.b32", 32, 4, false},
	{"cp.async.bulk", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
	 "st.relaxed.gpu.global.v4.b32", 32, 4, false},
};

/* Which slot thread %r1 has: into %r2; whether it takes part: into %p1. %r3 is a random number. */
struct pattern {
	const char *name, *slot;
};

static const struct pattern patterns[] = {
	{"row", "mov.u32 %r2, %r1;"},
	{"reverse", "sub.u32 %r2, 63, %r1;"},
	{"halves", "xor.b32 %r2, %r1, 16;"},
	{"mixed", "mul.lo.u32 %r2, %r1, 37; and.b32 %r2, %r2, 63;"},
	{"same", "shr.u32 %r2, %r1, 5;"},
	{"part of a row", "mov.u32 %r2, %r1; and.b32 %r4, %r1, 31; setp.gt.u32 %p1, %r4, 6;"},
	{"holes",
	 "mul.lo.u32 %r2, %r1, 37; and.b32 %r2, %r2, 63; and.b32 %r4, %r1, 3; setp.ne.u32 %p1, %r4, 1;"},
	{"one lane", "mov.u32 %r2, 5; and.b32 %r4, %r1, 31; setp.eq.u32 %p1, %r4, 9;"},
};

/* How the address comes about, which decides the record: into %rd1. %rd0 is the base. */
static const struct pattern addresses[] = {
	{"known shape", "mad.wide.u32 %rd1, %r2, WIDTH, %rd0;"},
	{"any index",
	 "add.u32 %r2, %r2, %r5; mul.wide.u32 %rd1, %r2, WIDTH; add.u64 %rd1, %rd0, %rd1;"},
	{"any address",
	 "cvt.u64.u32 %rd1, %r2; mul.lo.u64 %rd1, %rd1, WIDTH; add.u64 %rd1, %rd1, %rd0; "
	 "cvt.u64.u32 %rd2, %r5; add.u64 %rd1, %rd1, %rd2;"},
};

static char text[1 << 14], *end;

static void put(const char *s)
{
	size_t n = strlen(s);

	memcpy(end, s, n + 1);
	end += n;
}

#define PUT(...) (end += snprintf(end, (size_t)(text + sizeof(text) - end), __VA_ARGS__))

static u32 width_of(const struct form *f)
{
	return f->bits * f->count / 8;
}

static void put_address(const struct form *f, const struct pattern *address)
{
	for (const char *s = address->slot; *s; s++)
		if (!strncmp(s, "WIDTH", 5)) {
			PUT("%u", width_of(f));
			s += 4;
		} else {
			PUT("%c", *s);
		}
	put("\n");
}

static void put_vector(const struct form *f)
{
	if (f->count == 1) {
		put("%e0");
		return;
	}
	for (u32 e = 0; e < f->count; e++)
		PUT("%s%%e%u", e ? ", " : "{", e);
	put("}");
}

/* Elements of %r10: itself, its complement, itself .. In a single one both halves. */
static void put_writer(const struct form *f)
{
	if (f->count == 1 && f->bits == 32)
		put("not.b32 %r11, %r10; shl.b32 %r11, %r11, 16; and.b32 %r12, %r10, 65535; or.b32 %e0, %r11, %r12;");
	else if (f->count == 1)
		put("not.b32 %r11, %r10; mov.b64 %e0, {%r10, %r11};");
	for (u32 e = 0; f->count > 1 && e < f->count; e++) {
		if (f->bits == 16)
			PUT("cvt.u16.u32 %%e%u, %%r10;", e);
		else if (f->bits == 32)
			PUT("mov.b32 %%e%u, %%r10;", e);
		else
			PUT("mov.b64 %%e%u, {%%r10, %%r13};", e);
		if (e & 1)
			PUT("not.b%u %%e%u, %%e%u;", f->bits, e, e);
	}
	put("\n");
	if (!f->pairs) {
		PUT("@%%p1 %s [%%rd1], ", f->store);
		put_vector(f);
		put(";\n");
		return;
	}
	put("mov.b128 %q0, {%e0, %e1};\n");
	if (strstr(f->store, "exch"))
		PUT("@%%p1 %s %%q1, [%%rd1], %%q0;\n", f->store);
	else if (strstr(f->store, "cas"))
		PUT("@%%p1 ld.relaxed.gpu.global.b128 %%q1, [%%rd1];\n"
		    "@%%p1 %s %%q2, [%%rd1], %%q1, %%q0;\n@%%p1 st.relaxed.gpu.global.b128 [%%rd1], %%q2;\n",
		    f->store);
	else
		PUT("@%%p1 %s [%%rd1], %%q0;\n", f->store);
}

static void put_load(const struct form *f)
{
	if (!strncmp(f->load, "cp.async.bulk", 13)) {
		PUT("@%%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
		    "@!%%p1 mbarrier.arrive.shared.b64 _, [bar];\n"
		    "@%%p1 %s [%%r20], [%%rd1], 16, [bar];\n"
		    "{ .reg .pred %%w; W: mbarrier.try_wait.parity.shared.b64 %%w, [bar], %%r21; @!%%w bra W; }\n"
		    "xor.b32 %%r21, %%r21, 1; bar.sync 0;\n@%%p1 ld.shared.v4.b32 ",
		    f->load);
		put_vector(f);
		put(", [%r20];\n");
	} else if (!strncmp(f->load, "cp.async", 8)) {
		PUT("@%%p1 %s [%%r20], [%%rd1], 16;\ncp.async.wait_all;\n@%%p1 ld.shared.v4.b32 ",
		    f->load);
		put_vector(f);
		put(", [%r20];\n");
	} else if (f->pairs) {
		PUT("@%%p1 %s %%q0, [%%rd1];\nmov.b128 {%%e0, %%e1}, %%q0;\n", f->load);
	} else {
		PUT("@%%p1 %s ", f->load);
		put_vector(f);
		put(", [%rd1];\n");
	}
}

static void put_reader(const struct form *f)
{
	put_load(f);
	if (f->count == 1 && f->bits == 32)
		put("shr.u32 %r11, %e0, 16; not.b32 %r12, %e0; and.b32 %r12, %r12, 65535;\n"
		    "setp.ne.and.u32 %p2, %r11, %r12, %p1; @%p2 add.u32 %r9, %r9, 1;\n");
	else if (f->count == 1)
		put("mov.b64 {%r11, %r12}, %e0; not.b32 %r12, %r12; setp.ne.and.u32 %p2, %r11, %r12, %p1;\n"
		    "@%p2 add.u32 %r9, %r9, 1;\n");
	for (u32 e = 1; e < f->count; e++)
		PUT("not.b%u %%x, %%e%u; setp.ne.and.b%u %%p2, %%x, %%e%u, %%p1; @%%p2 add.u32 %%r9, %%r9, 1;\n",
		    f->bits, e - 1, f->bits, e);
}

/* role 0: CTAs write and read in turn; 1: all write; 2: all read. */
static void make_kernel(const struct form *f, const struct pattern *slot,
			const struct pattern *address)
{
	end = text;
	PUT(".version 8.3\n.target sm_90\n.address_size 64\n"
	    ".visible .entry k(.param .u64 mem, .param .u64 bad, .param .u32 turns, .param .u32 role, "
	    ".param .u32 zero)\n{\n.reg .pred %%p<4>; .reg .b32 %%r<24>; .reg .b64 %%rd<4>;\n"
	    ".reg .b%u %%e<8>; .reg .b%u %%x; .reg .b128 %%q<3>;\n"
	    ".shared .align 16 .b8 copy[1024]; .shared .align 8 .b64 bar;\n",
	    f->bits, f->bits);
	put("ld.param.u64 %rd0, [mem]; ld.param.u64 %rd3, [bad]; ld.param.u32 %r6, [turns]; ld.param.u32 %r7, [role];\n"
	    "ld.param.u32 %r5, [zero]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r5, 0; mov.u32 %r9, 0; mov.u32 %r21, 0;\n"
	    "mov.u32 %r20, copy; mad.lo.u32 %r20, %r1, 16, %r20;\n"
	    "setp.eq.u32 %p3, %r1, 0; @%p3 mbarrier.init.shared.b64 [bar], 64; bar.sync 0;\n"
	    "mov.u32 %r22, %clock; and.b32 %r22, %r22, 0; add.u32 %r5, %r5, %r22;\n");
	put(slot->slot);
	put_address(f, address);
	put("mov.u32 %r8, %ctaid.x; mad.lo.u32 %r10, %r8, 1000003, %r1; shl.b32 %r10, %r10, 8; mov.u32 %r13, %r8;\n"
	    "and.b32 %r8, %r8, 1; setp.eq.u32 %p2, %r7, 1; @%p2 mov.u32 %r8, 0; setp.eq.u32 %p2, %r7, 2;\n"
	    "@%p2 mov.u32 %r8, 1; setp.eq.u32 %p2, %r8, 1; @%p2 bra READ;\n"
	    "WRITE: add.u32 %r10, %r10, 1;\n");
	put_writer(f);
	put("sub.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra WRITE; ret;\nREAD:\n");
	put_reader(f);
	put("sub.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra READ;\n"
	    "red.global.add.u32 [%rd3], %r9; ret;\n}\n");
}

/* ---- the host's threads ---- */

struct host {
	u8 *mem;
	u32 bytes, stop, bad;
	bool writes;
};

/* The value of number i in 16 bytes, for elements of `bits`. */
static piece value_of(u64 i)
{
	return (piece){(i & 0xffffffff) | (u64)(u32)~i << 32,
		       (i & 0xffffffff) | (u64)(u32)~i << 32};
}

static void *run_host(void *data)
{
	struct host *h = data;
	u32 bad = 0;

	for (u64 i = 0; !__atomic_load_n(&h->stop, __ATOMIC_RELAXED); i++)
		for (u32 s = 0; s < SLOTS; s++) {
			piece v = value_of(i * 77 + s);

			if (h->writes) {
				piece_move(h->mem + s * 16, &v, 16);
				continue;
			}
			v = piece_load(h->mem + s * 16);
			bad += (u32)v[0] != (u32) ~(v[0] >> 32) || v[0] != v[1];
		}
	h->bad = bad;
	return NULL;
}

/* ---- runs ---- */

struct bench {
	struct ptxloom_device *dev;
	u8 *mem;
	u32 *bad;
};

static bool start(const struct bench *b, struct ptxloom_kernel *k, u32 turns, u32 role)
{
	struct ptxloom_config c = {.grid = {CTAS}, .block = {THREADS}};
	void *mem = b->mem, *bad = b->bad;
	u32 zero = 0;

	return !ptxloom_launch(k, &c, (void *[]){&mem, &bad, &turns, &role, &zero});
}

static u32 run_case(const struct bench *b, const struct form *f, const struct pattern *slot,
		    const struct pattern *address, u32 turns)
{
	struct ptxloom_module *mod;
	struct ptxloom_kernel *k;
	u32 bad = UINT32_MAX;

	make_kernel(f, slot, address);
	if (ptxloom_module_load(b->dev, text, strlen(text), &mod)) {
		ptxloom_message(b->dev, text, sizeof(text));
		printf("# %s\n", text);
		return bad;
	}
	k = ptxloom_module_kernel(mod, "k");
	*b->bad = 0;
	if (start(b, k, 1, 1) && start(b, k, turns, 0))
		bad = *b->bad;
	ptxloom_module_unload(mod);
	return bad;
}

static void test_ctas(const struct bench *b, u32 turns, const char *level)
{
	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (size_t p = 0; p < ARRAY_LEN(patterns); p++) {
			u32 bad = 0;

			for (size_t a = 0; a < ARRAY_LEN(addresses); a++)
				bad |= run_case(b, &forms[f], &patterns[p], &addresses[a], turns);
			if (!CHECK_EQ(bad, 0))
				printf("# %s, %s, level %s\n", forms[f].name, patterns[p].name,
				       level);
		}
}

/* Kernel against a thread of the host, as role says: 1 the kernel writes, 2 it reads. */
static u32 against_host(const struct bench *b, const struct form *f, const struct pattern *slot,
			u32 role, u32 turns)
{
	struct host h = {.mem = b->mem, .writes = role == 2};
	struct ptxloom_module *mod;
	pthread_t thread;
	u32 bad = UINT32_MAX;

	make_kernel(f, slot, &addresses[0]);
	if (ptxloom_module_load(b->dev, text, strlen(text), &mod))
		return bad;
	for (u32 s = 0; s < SLOTS; s++)
		piece_store(b->mem + 16 * s, value_of(s));
	*b->bad = 0;
	if (!pthread_create(&thread, NULL, run_host, &h)) {
		bool ok = start(b, ptxloom_module_kernel(mod, "k"), turns, role);

		__atomic_store_n(&h.stop, 1, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		bad = ok ? *b->bad + h.bad : UINT32_MAX;
	}
	ptxloom_module_unload(mod);
	return bad;
}

static void test_host(const struct bench *b, u32 turns, const char *level)
{
	static const char *const names[] = {"v4.b32", "v4.b32, weak"};

	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (size_t p = 0; p < ARRAY_LEN(patterns); p++)
			for (u32 role = 1; role <= 2; role++) {
				if (strcmp(forms[f].name, names[0]) &&
				    strcmp(forms[f].name, names[1]))
					continue;
				if (!CHECK_EQ(against_host(b, &forms[f], &patterns[p], role, turns),
					      0))
					printf("# host, %s, %s, role %u, level %s\n", forms[f].name,
					       patterns[p].name, role, level);
			}
}

static void test_level(const char *level, bool locked, u32 turns)
{
	struct ptxloom_options o = {
		.size = sizeof(o), .device = "h100", .workers = 2, .timeout_ms = 120000};
	struct bench b;

	setenv("PTXLOOM_HOST_ISA", level, 1);
	if (ptxloom_device_open(&o, &b.dev)) {
		printf("# this host has no level %s\n", level);
		return;
	}
	if (locked)
		piece_locked = true;
	b.mem = ptxloom_alloc(b.dev, SLOTS * SLOT_BYTES);
	b.bad = ptxloom_alloc(b.dev, 4);
	test_ctas(&b, turns, level);
	test_host(&b, turns, level);
	ptxloom_free(b.dev, b.bad);
	ptxloom_free(b.dev, b.mem);
	ptxloom_device_close(b.dev);
}

int main(int argc, char **argv)
{
	u32 turns = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 20;
	static const char *const levels[] = {"v4", "v3", "v2", "base"};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		test_level(levels[i], false, turns);
	/* As where the host has no AVX. */
	test_level("base", true, turns);
	return check_done();
}
