/*
 * Launches what the lines of a table such as tests/counters/caches.tsv describe, by the driver API
 * of whatever libcuda it is given, so that a profiler's counters can be put beside them
 * (caches_cross.sh does) or compared with them (tests/profile/caches.sh does).
 *
 * usage: caches_cross LIBCUDA TABLE [FIRST LAST]     of its launches, counted from 0
 *
 * A line begins with a description, up to the first tab: words key=value. `ops` are instructions
 * separated by semicolons, each of which every lane of `lanes` executes, `reps` times in `passes`,
 * at its own address: `off` of the instruction + place of the thread + turn * `step`. See
 * launch_keys.
 */
#include "src/base/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define OPS_MAX 8u
#define BUFFER_BYTES ((size_t)512 << 20)

typedef int call();

static struct driver {
	call *init, *retain, *current, *load, *unload, *function, *attribute, *alloc, *launch,
		*wait;
	call *limit;
} cu;

/* clang-format off */
/* Numbers of a description, and what they are where it does not say. */
#define LAUNCH_KEYS(X)                                                                             \
	X(grid, 1)                                                                                 \
	X(block, 32)                                                                               \
	X(dyn, 0)                        /* CTAs, threads, bytes of shared memory */               \
		X(carve, -1)             /* preferred percentage of shared memory */               \
		X(lanes, -1)             /* of each warp */                                        \
		X(stride, 4)             /* bytes from thread to thread */                         \
		X(hash, 0)               /* not 0: threads lie scattered over hash + 1 bytes */    \
		X(own, 0)                /* 1: threads of all CTAs have the same places */         \
		X(reps, 1) X(step, 0)    /* turns, and bytes from one to the next */               \
		X(passes, 1) X(shift, 0) /* rounds of turns; CTA n has n + shift's places next */  \
		X(sstride, 4)            /* the same in shared and local memory */                 \
		X(bytes, 0)              /* of bulk copies */                                      \
		X(fetch, 64)             /* limit of the second cache's fetch granularity */
/* clang-format on */

enum launch_key {
#define X(name, value) KEY_##name,
	LAUNCH_KEYS(X)
#undef X
		KEYS
};

static const struct {
	const char *name;
	s64 value;
} launch_keys[KEYS] = {
#define X(name, value) {#name, value},
	LAUNCH_KEYS(X)
#undef X
};

struct launch {
	char *op[OPS_MAX];
	u32 ops;
	u64 off[OPS_MAX];
	s64 key[KEYS];
};

static bool open_driver(const char *path)
{
	static const char *const names[] = {
		"cuInit",
		"cuDevicePrimaryCtxRetain",
		"cuCtxSetCurrent",
		"cuModuleLoadData",
		"cuModuleUnload",
		"cuModuleGetFunction",
		"cuFuncSetAttribute",
		"cuMemAlloc_v2",
		"cuLaunchKernel",
		"cuCtxSynchronize",
		"cuCtxSetLimit",
	};
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *context = NULL;

	_Static_assert(sizeof(cu) == ARRAY_LEN(names) * sizeof(void *), "one name for each call");
	if (!lib) {
		fprintf(stderr, "caches_cross: %s\n", dlerror());
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

/* ---- descriptions ---- */

/* Cuts `text` at its semicolons or commas. */
static void read_list(struct launch *l, char *text, bool is_ops)
{
	u32 n = 0;

	for (char *word = strtok(text, ";,"); word && n < OPS_MAX; word = strtok(NULL, ";,"), n++)
		if (is_ops)
			l->op[l->ops++] = word;
		else
			l->off[n] = strtoull(word, NULL, 0);
}

static bool read_word(struct launch *l, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(word, "ops") || !strcmp(word, "off")) {
		read_list(l, value, word[1] == 'p');
		return true;
	}
	for (u32 k = 0; k < KEYS; k++)
		if (!strcmp(word, launch_keys[k].name)) {
			l->key[k] = (s64)strtoull(value, NULL, 0);
			return true;
		}
	return false;
}

/* Writes into the line. */
static bool read_launch(struct launch *l, char *line)
{
	char *word = line, *end;

	*l = (struct launch){0};
	for (u32 k = 0; k < KEYS; k++)
		l->key[k] = launch_keys[k].value;
	line[strcspn(line, "\t\n")] = 0;
	for (; *word; word = end) {
		end = word + strcspn(word, " ");
		end += *end && (*end = 0, true);
		if (!read_word(l, word))
			return false;
	}
	return l->ops != 0;
}

/* ---- kernels ---- */

static bool has(const char *op, const char *part)
{
	return strstr(op, part) != NULL;
}

/* Registers of the value that the operation's type needs. */
static const char *value_of(const char *op)
{
	if (has(op, ".v4"))
		return "{%v0, %v1, %v2, %v3}";
	if (has(op, ".v2"))
		return "{%v0, %v1}";
	if (has(op, "64"))
		return "%w0";
	return has(op, "f32") ? "%f0" : "%v0";
}

static const char *address_of(const char *op)
{
	if (has(op, "shared") || has(op, "matrix"))
		return "%s0";
	if (has(op, "const"))
		return "%c0";
	return has(op, "local") ? "%l0" : "%a0";
}

static void put_bulk(struct text *t, const char *op)
{
	text_puts(t, "setp.ne.u32 %p3, %me, 0; @%p3 bra BULK;\n");
	if (has(op, "prefetch"))
		text_printf(t, "cp.async.bulk.prefetch.L2.global [%%a0], %%bytes;\n");
	else if (has(op, "load"))
		text_puts(
			t,
			"mbarrier.init.shared.b64 [m], 1; fence.proxy.async;\n"
			"mbarrier.arrive.expect_tx.shared.b64 %w1, [m], %bytes;\n"
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
			"[%s0], [%a0], %bytes, [m];\n"
			"WAIT: mbarrier.try_wait.parity.shared.b64 %p4, [m], 0; @!%p4 bra WAIT;\n");
	else
		text_printf(t,
			    "fence.proxy.async;\ncp%s.async.bulk.global.shared::cta.bulk_group%s "
			    "[%%a0], [%%s0], %%bytes;\n"
			    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
			    has(op, "reduce") ? ".reduce" : "",
			    has(op, "reduce") ? ".add.u32" : "");
	text_puts(t, "BULK:\n");
}

static void put_op(struct text *t, const char *op)
{
	const char *v = value_of(op), *a = address_of(op);

	if (!strncmp(op, "bulk", 4))
		put_bulk(t, op);
	else if (!strncmp(op, "cp.async", 8))
		text_printf(t, "@%%p1 cp.async.%.2s.shared.global [%%s0], [%%a0], %s;\n", op + 9,
			    op + 12);
	else if (!strncmp(op, "ldmatrix", 8))
		text_printf(t, "%s %s, [%s];\n", op,
			    has(op, ".x4")   ? "{%v0, %v1, %v2, %v3}"
			    : has(op, ".x2") ? "{%v0, %v1}"
					     : "{%v0}",
			    a);
	else if (!strncmp(op, "stmatrix", 8))
		text_printf(t, "%s [%s], %s;\n", op, a,
			    has(op, ".x4")   ? "{%v0, %v1, %v2, %v3}"
			    : has(op, ".x2") ? "{%v0, %v1}"
					     : "{%v0}");
	else if (!strncmp(op, "ld", 2))
		text_printf(t, "@%%p1 %s %s, [%s];\n", op, v, a);
	else if (!strncmp(op, "st", 2) || !strncmp(op, "red", 3))
		text_printf(t, "@%%p1 %s [%s], %s;\n", op, a, v);
	else if (!strncmp(op, "atom", 4))
		text_printf(t, "@%%p1 %s %s, [%s], %s%s;\n", op, v, a, v,
			    !has(op, "cas") ? ""
			    : has(op, "64") ? ", %w1"
					    : ", %acc");
	else if (!strncmp(op, "prefetch", 8) || !strncmp(op, "discard", 7))
		text_printf(t, "@%%p1 %s [%s]%s;\n", op, a, has(op, "discard") ? ", 128" : "");
	else
		text_printf(t, "%s;\n", op);
}

static void put_gather(struct text *t, const char *op)
{
	if (strncmp(op, "ld", 2) && strncmp(op, "atom", 4))
		return;
	text_puts(t, "mov.b64 {%v4, %v5}, %w0; mov.b32 %v6, %f0;\n"
		     "xor.b32 %acc, %acc, %v4; xor.b32 %acc, %acc, %v5; xor.b32 %acc, %acc, %v6;\n"
		     "xor.b32 %acc, %acc, %v0; xor.b32 %acc, %acc, %v1; xor.b32 %acc, %acc, %v2;\n"
		     "xor.b32 %acc, %acc, %v3;\n");
}

static void put_head(struct text *t, const struct launch *l)
{
	text_puts(t, ".version 8.5\n.target sm_90\n.address_size 64\n"
		     ".const .align 64 .b8 k[65536];\n.extern .shared .align 128 .b8 s[];\n"
		     ".visible .entry kernel(.param .u64 p");
	for (u32 i = 0; i < KEYS; i++)
		text_printf(t, ", .param .u64 %s_", launch_keys[i].name);
	for (u32 i = 0; i < l->ops; i++)
		text_printf(t, ", .param .u64 off%u", i);
	text_puts(t, ")\n{\n.reg .pred %p<8>; .reg .b32 %v<8>, %acc, %me, %s<4>, %l<4>, %c<4>;\n"
		     ".reg .b32 %r<32>, %bytes, %lane; .reg .f32 %f<2>;\n"
		     ".reg .b64 %w<4>, %a<4>, %d<32>, %off<8>;\n"
		     ".shared .align 8 .b64 m;\n");
	for (u32 i = 0; i < l->ops; i++)
		if (has(l->op[i], "local")) {
			text_puts(t, ".local .align 16 .b8 v[1024];\n");
			break;
		}
}

/* Loads the parameters and makes what does not change between turns. */
static void put_begin(struct text *t, const struct launch *l)
{
	static const char *const loads =
		"ld.param.u64 %d0, [p]; ld.param.u64 %d1, [stride_]; ld.param.u64 %d2, [hash_];\n"
		"ld.param.u64 %d3, [step_]; ld.param.u64 %d4, [sstride_];\n"
		"ld.param.u32 %r1, [own_]; ld.param.u32 %r2, [reps_]; ld.param.u32 %r3, [passes_];\n"
		"ld.param.u32 %r4, [shift_]; ld.param.u32 %r5, [lanes_]; ld.param.u32 %bytes, [bytes_];\n"
		"mov.u32 %me, %tid.x; mov.u32 %r6, %ntid.x; mov.u32 %r7, %ctaid.x; mov.u32 %r8, %nctaid.x;\n"
		"and.b32 %lane, %me, 31; shr.u32 %r5, %r5, %lane; and.b32 %r5, %r5, 1;\n"
		"setp.ne.u32 %p1, %r5, 0; mov.u32 %acc, 0; mov.f32 %f0, 0f00000000; mov.u64 %w0, 0;\n"
		"mov.u64 %w1, 5; mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0; mov.u32 %v3, 0;\n"
		"setp.ne.u64 %p5, %d2, 0; cvt.u32.u64 %r20, %d4; cvt.u32.u64 %r21, %d2;\n"
		"mul.lo.u32 %r22, %me, %r20; mul.lo.u32 %r23, %me, 0x9e3779b1; shr.u32 %r23, %r23, 7;\n"
		"and.b32 %r23, %r23, %r21; selp.b32 %r22, %r23, %r22, %p5;\n";

	text_puts(t, loads);
	for (u32 i = 0; i < l->ops; i++)
		text_printf(t, "ld.param.u64 %%off%u, [off%u];\n", i, i);
}

static void put_address(struct text *t, const char *op, u32 i)
{
	text_printf(t, "add.u64 %%a0, %%d9, %%off%u; cvt.u32.u64 %%r24, %%off%u;\n", i, i);
	if (*address_of(op) && address_of(op)[1] == 's')
		text_puts(t, "mov.u32 %s0, s; add.u32 %s0, %s0, %r24; add.u32 %s0, %s0, %r26;\n");
	if (!strncmp(op, "cp.async", 8) || !strncmp(op, "bulk", 4))
		text_puts(t, "mov.u32 %s0, s; add.u32 %s0, %s0, %r22;\n");
	if (address_of(op)[1] == 'c')
		text_puts(t,
			  "add.u32 %r24, %r24, %r26; and.b32 %r24, %r24, 65535; mov.u32 %c0, k;\n"
			  "add.u32 %c0, %c0, %r24;\n");
	if (address_of(op)[1] == 'l')
		text_puts(t, "add.u32 %r24, %r24, %r26; and.b32 %r24, %r24, 1023; mov.u32 %l0, v;\n"
			     "add.u32 %l0, %l0, %r24;\n");
}

static void put_kernel(struct text *t, const struct launch *l)
{
	bool copies = false;

	put_head(t, l);
	put_begin(t, l);
	text_puts(t,
		  "mov.u32 %r10, 0;\nPASS:\n"
		  "mul.lo.u32 %r11, %r10, %r4; add.u32 %r11, %r11, %r7; rem.u32 %r11, %r11, %r8;\n"
		  "mad.lo.u32 %r11, %r11, %r6, %me; setp.ne.u32 %p2, %r1, 0;\n"
		  "selp.b32 %r11, %me, %r11, %p2; mul.lo.u32 %r12, %r11, 0x9e3779b1;\n"
		  "shr.u32 %r12, %r12, 7; and.b32 %r12, %r12, %r21; cvt.u64.u32 %d5, %r12;\n"
		  "cvt.u64.u32 %d6, %r11; mul.lo.u64 %d6, %d6, %d1; selp.b64 %d6, %d5, %d6, %p5;\n"
		  "add.u64 %d9, %d0, %d6; mov.u32 %r13, 0; mov.u32 %r26, %r22;\n"
		  "cvt.u32.u64 %r27, %d3;\nTURN:\n");
	for (u32 i = 0; i < l->ops; i++) {
		put_address(t, l->op[i], i);
		put_op(t, l->op[i]);
		put_gather(t, l->op[i]);
		copies |= !strncmp(l->op[i], "cp.async", 8);
	}
	text_puts(t, "add.u64 %d9, %d9, %d3; add.u32 %r26, %r26, %r27; add.u32 %r13, %r13, 1;\n"
		     "setp.lt.u32 %p6, %r13, %r2; @%p6 bra TURN;\n"
		     "add.u32 %r10, %r10, 1; setp.lt.u32 %p6, %r10, %r3; @%p6 bra PASS;\n");
	if (copies)
		text_puts(t, "cp.async.wait_all;\n");
	text_puts(t, "setp.eq.u32 %p7, %acc, 0x5bd1e995; @%p7 trap;\nret;\n}\n");
}

/* ---- launching ---- */

static int launch(struct launch *l, u64 buffer)
{
	void *module = NULL, *function = NULL, *args[1 + KEYS + OPS_MAX];
	struct text text = {0};
	int bad;

	put_kernel(&text, l);
	args[0] = &buffer;
	for (u32 i = 0; i < KEYS; i++)
		args[1 + i] = &l->key[i];
	for (u32 i = 0; i < l->ops; i++)
		args[1 + KEYS + i] = &l->off[i];
	bad = text.failed || cu.load(&module, text.at) || cu.function(&function, module, "kernel");
	if (!bad && l->key[KEY_dyn] > 48 << 10)
		bad = cu.attribute(function, 8, (int)l->key[KEY_dyn]);
	if (!bad && l->key[KEY_carve] >= 0)
		bad = cu.attribute(function, 9, (int)l->key[KEY_carve]);
	if (!bad)
		bad = cu.limit(5, (size_t)l->key[KEY_fetch]);
	bad = bad ? bad
		  : cu.launch(function, (u32)l->key[KEY_grid], 1u, 1u, (u32)l->key[KEY_block], 1u,
			      1u, (u32)l->key[KEY_dyn], NULL, args, NULL);
	bad = bad ? bad : cu.wait();
	if (bad)
		fprintf(stderr, "%s", text.at ? text.at : "");
	if (module)
		cu.unload(module);
	text_fini(&text);
	return bad;
}

static int run(FILE *table, u64 first, u64 last)
{
	u64 buffer = 0, n = 0;
	char *line = NULL;
	size_t size = 0;
	int bad = cu.alloc(&buffer, BUFFER_BYTES);

	while (!bad && getline(&line, &size, table) > 0) {
		struct launch l;

		if (*line == '#' || *line == '@')
			continue;
		if (n >= first && n <= last) {
			line[strcspn(line, "\t\n")] = 0;
			printf("%llu\t%s\n", (unsigned long long)n, line);
			bad = !read_launch(&l, line) || launch(&l, buffer);
		}
		n++;
	}
	free(line);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	FILE *table = argc > 2 ? fopen(argv[2], "re") : NULL;
	u64 first = argc > 4 ? strtoull(argv[3], NULL, 10) : 0;
	u64 last = argc > 4 ? strtoull(argv[4], NULL, 10) : UINT64_MAX;
	int status;

	if (!table) {
		fprintf(stderr, "usage: caches_cross LIBCUDA TABLE [FIRST LAST]\n");
		return 2;
	}
	if (!open_driver(argv[1])) {
		fprintf(stderr, "caches_cross: no device\n");
		return 77;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	status = run(table, first, last);
	fclose(table);
	return status;
}
