/* Clusters from the launch to the CTA: shapes, ranks, shared memory of others, what is refused,
 * faults, occupancy; and PTXLOOM_ASYNC. */
#include "tests/check.h"
#include "src/api/api_int.h"

#include <stdlib.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define REGS ".reg .pred %p<4>; .reg .b32 %r<24>; .reg .b64 %rd<12>;\n"
/* clang-format off */
/* %r20 = number of the CTA in the grid, %rd9 = out + bytes * %r20 */
#define NUMBER(bytes)                                                                              \
	"ld.param.u64 %rd0, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z;\n" \
	"mov.u32 %r3, %nctaid.x; mov.u32 %r4, %nctaid.y; mad.lo.u32 %r20, %r2, %r4, %r1;\n"        \
	"mad.lo.u32 %r20, %r20, %r3, %r0; mul.wide.u32 %rd9, %r20, " #bytes                        \
	"; add.s64 %rd9, %rd0, %rd9;\n"

static const char kernels[] = HEAD
	"// what each CTA knows of its cluster: 16 words\n"
	".visible .entry ranks(.param .u64 out)\n{\n" REGS NUMBER(64)
	"mov.u32 %r5, %cluster_ctaid.x; mov.u32 %r6, %cluster_ctaid.y; mov.u32 %r7, %cluster_ctaid.z;\n"
	"mov.u32 %r8, %clusterid.x; mov.u32 %r9, %clusterid.y; mov.u32 %r10, %clusterid.z;\n"
	"mov.u32 %r11, %nclusterid.x; mov.u32 %r12, %nclusterid.y; mov.u32 %r13, %nclusterid.z;\n"
	"mov.u32 %r14, %cluster_nctaid.x; mov.u32 %r15, %cluster_ctarank; mov.u32 %r16, %cluster_nctarank;\n"
	"mov.pred %p1, %is_explicit_cluster;\n"
	"selp.u32 %r17, 1, 0, %p1;\n"
	"st.global.v4.u32 [%rd9], {%r5, %r6, %r7, %r8}; st.global.v4.u32 [%rd9+16], {%r9, %r10, %r11, %r12};\n"
	"st.global.v4.u32 [%rd9+32], {%r13, %r14, %r15, %r16}; st.global.u32 [%rd9+48], %r17;\n"
	"ld.global.u32 %r18, [%rd9+52]; add.u32 %r18, %r18, 1; st.global.u32 [%rd9+52], %r18; ret;\n}\n"
	"// the sum of what all CTAs of the cluster have in shared memory\n"
	".visible .entry sum(.param .u64 out)\n{\n" REGS
	".shared .align 4 .u32 mine;\n" NUMBER(4)
	"st.shared.u32 [mine], %r20; barrier.cluster.arrive; barrier.cluster.wait;\n"
	"mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, %cluster_nctarank; mov.u32 %r8, mine;\n"
	"L: mapa.shared::cluster.u32 %r9, %r8, %r5; ld.shared::cluster.u32 %r10, [%r9];\n"
	"add.u32 %r6, %r6, %r10; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r7; @%p1 bra L;\n"
	"barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd9], %r6; ret;\n}\n"
	"// 100 rounds: add to the next one's word, then meet\n"
	".visible .entry rounds(.param .u64 out)\n{\n" REGS
	".shared .align 4 .u32 mine;\n" NUMBER(4)
	"mov.u32 %r5, 0; st.shared.u32 [mine], %r5; mov.u32 %r7, %cluster_nctarank;\n"
	"mov.u32 %r8, %cluster_ctarank; add.u32 %r8, %r8, 1; rem.u32 %r8, %r8, %r7; mov.u32 %r9, mine;\n"
	"mapa.shared::cluster.u32 %r9, %r9, %r8; barrier.cluster.arrive; barrier.cluster.wait;\n"
	"L: red.shared::cluster.add.u32 [%r9], 1; barrier.cluster.arrive; barrier.cluster.wait;\n"
	"ld.shared.u32 %r10, [mine]; add.u32 %r5, %r5, 1; mov.u32 %r11, %ntid.x; mul.lo.u32 %r11, %r11, %r5;\n"
	"setp.ne.u32 %p1, %r10, %r11; @%p1 trap; barrier.cluster.arrive; barrier.cluster.wait;\n"
	"setp.lt.u32 %p1, %r5, 100; @%p1 bra L; st.global.u32 [%rd9], %r10; ret;\n}\n"
	".visible .entry traps(.param .u64 out)\n{\n" REGS NUMBER(4)
	"setp.ne.u32 %p1, %r20, 7; @%p1 bra E; trap; E: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n"
	"// rank 1 waits for threads of its CTA that wait for the cluster\n"
	".visible .entry stuck(.param .u64 out)\n{\n" REGS NUMBER(4)
	"mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %tid.x; setp.lt.u32 %p1, %r6, 32;\n"
	"setp.eq.and.u32 %p2, %r5, 1, %p1; @%p2 bra B; barrier.cluster.arrive; barrier.cluster.wait; ret;\n"
	"B: bar.sync 3; barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n"
	".visible .entry forever(.param .u64 out)\n{\n" REGS
	"L: barrier.cluster.arrive; barrier.cluster.wait; bra L; ret;\n}\n"
	".visible .entry demands(.param .u64 out) .reqnctapercluster 2, 2, 1\n{\n" REGS NUMBER(4)
	"mov.u32 %r5, %cluster_nctarank; st.global.u32 [%rd9], %r5; ret;\n}\n"
	".visible .entry insists(.param .u64 out) .explicitcluster\n{\n" REGS NUMBER(4)
	"mov.u32 %r5, %cluster_nctarank; st.global.u32 [%rd9], %r5; ret;\n}\n"
	".visible .entry limits(.param .u64 out) .maxclusterrank 4\n{\n" REGS NUMBER(4)
	"mov.u32 %r5, %cluster_nctarank; st.global.u32 [%rd9], %r5; ret;\n}\n"
	".visible .entry counts(.param .u64 out) .reqntid 32 .reqnctapercluster 2 .blocksareclusters\n{\n"
	REGS NUMBER(4)
	"mov.u32 %r5, %nctaid.x; st.global.u32 [%rd9], %r5; ret;\n}\n";
/* clang-format on */

struct env {
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	unsigned *out;
};

#define OUT_WORDS (1u << 16)

static bool env_open(struct env *e, unsigned workers, uint64_t seed)
{
	struct ptxloom_options o = {.size = sizeof(o),
				    .device = "h100",
				    .workers = workers,
				    .seed = seed,
				    .timeout_ms = 20000};
	char text[2000];

	*e = (struct env){0};
	if (ptxloom_device_open(&o, &e->dev) ||
	    ptxloom_module_load(e->dev, kernels, sizeof(kernels) - 1, &e->mod)) {
		if (e->dev && ptxloom_message(e->dev, text, sizeof(text)))
			printf("# %s\n", text);
		return CHECK(false);
	}
	e->out = ptxloom_alloc(e->dev, OUT_WORDS * 4);
	return CHECK(e->out != NULL);
}

static int run(struct env *e, const char *kernel, struct ptxloom_config c)
{
	void *out = e->out;

	memset(e->out, 0, OUT_WORDS * 4);
	return ptxloom_launch(ptxloom_module_kernel(e->mod, kernel), &c, (void *[]){&out});
}

static bool ranks_are_right(const unsigned *o, const unsigned *n, const unsigned *d)
{
	bool good = true;

	for (unsigned i = 0; i < n[0] * n[1] * n[2]; i++) {
		unsigned id[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]}, in[3];
		const unsigned *x = o + 16 * i;

		for (unsigned k = 0; k < 3; k++) {
			in[k] = id[k] % d[k];
			good &= x[k] == in[k] && x[3 + k] == id[k] / d[k] &&
				x[6 + k] == n[k] / d[k];
		}
		good &= x[9] == d[0] && x[10] == in[0] + d[0] * (in[1] + d[1] * in[2]);
		good &= x[11] == d[0] * d[1] * d[2] && x[12] == 1 && x[13] == 1;
	}
	return good;
}

static void test_shapes(struct env *e)
{
	static const unsigned shapes[][6] = {
		{4, 6, 2, 2, 3, 1}, {8, 1, 1, 8, 1, 1},  {5, 3, 3, 1, 3, 1}, {16, 2, 1, 16, 1, 1},
		{9, 9, 9, 1, 1, 3}, {64, 4, 2, 2, 2, 2}, {3, 2, 1, 1, 1, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		const unsigned *s = shapes[i];
		struct ptxloom_config c = {
			.grid = {s[0], s[1], s[2]}, .block = {1}, .cluster = {s[3], s[4], s[5]}};

		CHECK_EQ(run(e, "ranks", c), 0);
		CHECK(ranks_are_right(e->out, s, s + 3));
	}
	CHECK_EQ(run(e, "ranks", (struct ptxloom_config){.grid = {3}, .block = {1}}), 0);
	CHECK(e->out[12] == 0 && e->out[11] == 1 && e->out[16 + 10] == 0);
}

static void test_together(struct env *e)
{
	bool good = true;

	CHECK_EQ(run(e, "sum",
		     (struct ptxloom_config){.grid = {600}, .block = {96}, .cluster = {6}}),
		 0);
	for (unsigned i = 0; i < 600; i++)
		good &= e->out[i] == 6 * (i / 6 * 6) + 15;
	CHECK(good);
	for (int cooperative = 0; cooperative < 2; cooperative++) {
		CHECK_EQ(run(e, "rounds",
			     (struct ptxloom_config){.grid = {32},
						     .block = {300},
						     .cluster = {8},
						     .cooperative = cooperative}),
			 0);
		good = true;
		for (unsigned i = 0; i < 32; i++)
			good &= e->out[i] == 100 * 300;
		CHECK(good);
	}
}

static void test_refusals(struct env *e)
{
	struct ptxloom_config c = {.grid = {32, 2}, .block = {32}, .cluster = {17}};

	CHECK_EQ(run(e, "ranks", c), PTXLOOM_INVALID_CLUSTER_SIZE);
	c.cluster[0] = 3;
	CHECK_EQ(run(e, "ranks", c), PTXLOOM_INVALID_CLUSTER_SIZE);
	c.cluster[0] = 2;
	CHECK_EQ(run(e, "demands", c), PTXLOOM_INVALID_CLUSTER_SIZE);
	c.cluster[1] = 2;
	CHECK_EQ(run(e, "demands", c), 0);
	CHECK_EQ(e->out[63], 4);
	CHECK_EQ(run(e, "demands", (struct ptxloom_config){.grid = {4, 2}, .block = {1}}), 0);
	CHECK_EQ(e->out[7], 4);
	CHECK_EQ(run(e, "demands", (struct ptxloom_config){.grid = {4, 3}, .block = {1}}),
		 PTXLOOM_INVALID_CLUSTER_SIZE);
	CHECK_EQ(run(e, "insists", (struct ptxloom_config){.grid = {4}, .block = {1}}),
		 PTXLOOM_INVALID_CLUSTER_SIZE);
	CHECK_EQ(run(e, "insists",
		     (struct ptxloom_config){.grid = {4}, .block = {1}, .cluster = {1}}),
		 0);
	CHECK_EQ(run(e, "limits",
		     (struct ptxloom_config){.grid = {8}, .block = {1}, .cluster = {8}}),
		 PTXLOOM_INVALID_CLUSTER_SIZE);
	CHECK_EQ(run(e, "limits",
		     (struct ptxloom_config){.grid = {8}, .block = {1}, .cluster = {4}}),
		 0);
	CHECK_EQ(run(e, "counts", (struct ptxloom_config){.grid = {3}, .block = {32}}), 0);
	CHECK(e->out[5] == 6 && e->out[6] == 0);
	/* As compilers pass it. */
	CHECK_EQ(run(e, "counts", (struct ptxloom_config){.grid = {2}, .block = {1}}), 0);
	CHECK(e->out[3] == 4 && e->out[4] == 0);
}

/* Devices without clusters know those of one CTA. */
static void test_old_device(void)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "a100"};
	static const char empty[] =
		".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n";
	struct ptxloom_config c = {.grid = {4}, .block = {1}, .cluster = {2}};
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct ptxloom_kernel *k;
	unsigned n = 9;

	CHECK_EQ(ptxloom_device_open(&o, &dev), 0);
	CHECK_EQ(ptxloom_module_load(dev, empty, sizeof(empty) - 1, &mod), 0);
	k = ptxloom_module_kernel(mod, "k");
	CHECK_EQ(ptxloom_launch(k, &c, NULL), PTXLOOM_INVALID_CLUSTER_SIZE);
	c.cluster[0] = 1;
	CHECK_EQ(ptxloom_launch(k, &c, NULL), 0);
	CHECK_EQ(device_kernel_max_cluster(k->k, (u32[]){32, 1, 1}, 0, &n), STATUS_NOT_SUPPORTED);
	ptxloom_device_close(dev);
}

static void test_faults(struct env *e)
{
	struct ptxloom_config c = {.grid = {12}, .block = {64}, .cluster = {4}};
	struct ptxloom_fault f;

	CHECK_EQ(run(e, "traps", c), PTXLOOM_LAUNCH_FAILED);
	CHECK_EQ(ptxloom_last_fault(e->dev, &f), 0);
	CHECK_EQ(f.cta[0], 7);
	CHECK_EQ(run(e, "stuck", c), PTXLOOM_LAUNCH_TIMEOUT);
	CHECK_EQ(ptxloom_last_fault(e->dev, &f), 0);
	CHECK(!strcmp(f.kind, "Deadlock"));
	CHECK(strstr(f.message, "barrier 3") && strstr(f.message, "cluster"));
	/* The next launch finds everything in order. */
	CHECK_EQ(run(e, "sum", c), 0);
	CHECK_EQ(e->out[11], 38);
}

static void test_timeout(void)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "h100", .timeout_ms = 100};
	struct ptxloom_config c = {.grid = {16}, .block = {64}, .cluster = {16}};
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	void *out = NULL;

	CHECK_EQ(ptxloom_device_open(&o, &dev), 0);
	CHECK_EQ(ptxloom_module_load(dev, kernels, sizeof(kernels) - 1, &mod), 0);
	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(mod, "forever"), &c, (void *[]){&out}),
		 PTXLOOM_LAUNCH_TIMEOUT);
	ptxloom_device_close(dev);
}

static void test_occupancy(struct env *e)
{
	struct device_kernel *k = ptxloom_module_kernel(e->mod, "ranks")->k,
			     *limited = ptxloom_module_kernel(e->mod, "limits")->k;
	struct device_launch l = {.kernel = k, .grid = {64, 1, 1}, .block = {1024, 1, 1}};
	static const u32 full[3] = {1024, 1, 1}, wrapping[3] = {(1u << 31) + 16, 2, 1},
			 zero[3] = {1u << 16, 1u << 16, 1u << 16};
	u32 n;

	CHECK_EQ(device_kernel_max_cluster(k, full, 0, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 16);
	/* The number of threads does not wrap. */
	CHECK_EQ(device_kernel_max_cluster(k, wrapping, 0, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 0);
	CHECK_EQ(device_kernel_max_cluster(k, zero, 0, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 0);
	k->nonportable_cluster = false;
	CHECK_EQ(device_kernel_max_cluster(k, full, 0, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 8);
	l.cluster[0] = 16;
	CHECK_EQ(device_kernel_active_clusters(&l, &n), STATUS_INVALID_CLUSTER_SIZE);
	k->nonportable_cluster = true;
	CHECK_EQ(device_kernel_active_clusters(&l, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 2 * 132 / 16);
	CHECK_EQ(device_kernel_max_cluster(limited, full, 0, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 4);
	/* An attribute of the kernel demands as a directive does. */
	k->cluster_required[0] = 4;
	CHECK_EQ(device_kernel_active_clusters(&l, &n), STATUS_INVALID_CLUSTER_SIZE);
	l.cluster[0] = 4;
	CHECK_EQ(device_kernel_active_clusters(&l, &n), STATUS_SUCCESS);
	CHECK_EQ(n, 66);
	k->cluster_required[0] = 0;
}

/* What is copied does not arrive before a thread waits for it, unless copies are eager. */
static void test_async(const char *mode, unsigned want)
{
	static const char early[] =
		".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
		".shared .align 4 .u32 s; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
		"ld.param.u64 %rd0, [p]; mov.u32 %r0, 5; st.shared.u32 [s], %r0;\n"
		"cp.async.ca.shared.global [s], [%rd0], 4; ld.shared.u32 %r1, [s]; st.global.u32 [%rd0+4], %r1;\n"
		"cp.async.wait_all; ld.shared.u32 %r1, [s]; st.global.u32 [%rd0+8], %r1; ret;\n}\n";
	struct ptxloom_config c = {.grid = {1}, .block = {1}};
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	unsigned *p;

	setenv("PTXLOOM_ASYNC", mode, 1);
	CHECK_EQ(ptxloom_device_open(NULL, &dev), 0);
	CHECK_EQ(ptxloom_module_load(dev, early, sizeof(early) - 1, &mod), 0);
	p = ptxloom_alloc(dev, 12);
	p[0] = 8;
	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(mod, "k"), &c, (void *[]){&p}), 0);
	CHECK(p[1] == want && p[2] == 8);
	ptxloom_device_close(dev);
	unsetenv("PTXLOOM_ASYNC");
}

int main(void)
{
	static const unsigned workers[] = {1, 2, 5};
	struct ptxloom_device *dev;
	struct env e;

	for (size_t i = 0; i < ARRAY_LEN(workers); i++)
		for (uint64_t seed = 0; seed < 30; seed += 10) {
			if (!env_open(&e, workers[i], seed))
				return check_done();
			test_shapes(&e);
			test_together(&e);
			test_faults(&e);
			if (!seed) {
				test_refusals(&e);
				test_occupancy(&e);
			}
			ptxloom_device_close(e.dev);
		}
	test_old_device();
	test_timeout();
	test_async("late", 5);
	test_async("eager", 8);
	setenv("PTXLOOM_ASYNC", "soon", 1);
	CHECK_EQ(ptxloom_device_open(NULL, &dev), PTXLOOM_INVALID_VALUE);
	return check_done();
}
