/* src/arch: the built-in profiles, against the sources' numbers and against their own rules. */
#include "src/arch/arch.h"
#include "src/base/diag.h"
#include "tests/check.h"

#include <stdlib.h>

#define KIB 1024

static bool list_is(const struct arch_list *list, u32 n, const s32 *want)
{
	return list->len == n && !memcmp(list->at, want, n * sizeof(*want));
}

#define LIST_IS(list, ...)                                                                         \
	list_is(&(list), sizeof((s32[]){__VA_ARGS__}) / sizeof(s32), (s32[]){__VA_ARGS__})

static bool field_is(const char *profile, enum arch_field f, const char *want)
{
	struct text t = {0};
	bool ok;

	arch_format(&t, arch_find(profile), f);
	ok = !strcmp(t.at ? t.at : "", want);
	if (!ok)
		printf("# %s %s: got \"%s\"\n", profile, arch_field_info(f)->name,
		       t.at ? t.at : "");
	text_fini(&t);
	return ok;
}

static void test_names(void)
{
	static const char *const pairs[][2] = {
		{"p100", "gp100"},     {"gtx1080", "gp104"}, {"v100", "gv100"}, {"t4", "tu104"},
		{"titanrtx", "tu102"}, {"a100", "ga100"},    {"a40", "ga102"},  {"h200", "gh100"},
		{"H100", "h100"},      {"A100", "GA100"},
	};
	static const s32 cc[] = {60, 61, 70, 75, 75, 80, 86, 90, 90, 120};
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_LEN(pairs); i++)
		CHECK(arch_find(pairs[i][0]) && arch_find(pairs[i][0]) == arch_find(pairs[i][1]));
	CHECK(arch_default() == arch_find("a100"));
	CHECK(!arch_find("") && !arch_find("b300") && !arch_find("base") &&
	      !arch_find("a100 ga100") && !arch_find("a10"));
	for (; arch_nth(n); n++) {
		const struct arch *a = arch_nth(n);

		CHECK_EQ(a->sm, n < ARRAY_LEN(cc) ? cc[n] : 0);
		CHECK(arch_find(a->id) == a && a->parent);
	}
	CHECK_EQ(n, ARRAY_LEN(cc));
}

/* Every value is in range, fits the others, and has a source; unknown members are empty. */
static void test_rules(void)
{
	bool somewhere[ARCH_FIELD_COUNT] = {0};
	static const struct arch nothing;
	struct text out = {0};
	const struct arch *a;
	struct diag d;

	diag_init(&d, diag_collect, &out);
	for (u32 i = 0; (a = arch_nth(i)); i++) {
		CHECK(arch_check(a, NULL, &d));
		for (u32 f = 0; f < ARCH_FIELD_COUNT; f++) {
			const char *source = arch_source(a, (enum arch_field)f);

			somewhere[f] |= arch_is_known(a, (enum arch_field)f);
			if (arch_is_known(a, (enum arch_field)f) != (source != NULL) ||
			    (source && strlen(source) < 4))
				CHECK_MSG(false, arch_field_info((enum arch_field)f)->name);
		}
	}
	if (out.at)
		printf("# %s", out.at);
	for (u32 f = 0; f < ARCH_FIELD_COUNT; f++) {
		const struct arch_field_info *info = arch_field_info((enum arch_field)f);

		if (!somewhere[f] || !*info->meaning || info->min > info->max ||
		    arch_field_find(info->name, strlen(info->name)) != f)
			CHECK_MSG(false, info->name);
	}
	CHECK(arch_field_find("sm", 1) == ARCH_FIELD_COUNT &&
	      arch_field_find("sms", 3) == ARCH_FIELD_sms);
	CHECK(!arch_is_known(&nothing, ARCH_FIELD_sms));
	diag_fini(&d);
	text_fini(&out);
}

static void test_inheritance(void)
{
	const struct arch *gp100 = arch_find("gp100"), *gp104 = arch_find("gp104"),
			  *t4 = arch_find("t4");
	const struct arch *h100 = arch_find("h100"), *h200 = arch_find("h200");

	CHECK_STR(gp104->parent, "gp100");
	CHECK_STR(gp100->parent, "base");
	/* Inherited with its source, overridden, and made unknown. */
	CHECK_EQ(gp104->ctas_per_sm_max, gp100->ctas_per_sm_max);
	CHECK(gp104->source[ARCH_FIELD_ctas_per_sm_max] ==
	      gp100->source[ARCH_FIELD_ctas_per_sm_max]);
	CHECK(gp104->smem_per_sm_bytes != gp100->smem_per_sm_bytes);
	CHECK(arch_is_known(gp100, ARCH_FIELD_hbm_controllers_per_stack));
	CHECK(!arch_is_known(gp104, ARCH_FIELD_hbm_controllers_per_stack));
	CHECK(field_is("gp104", ARCH_FIELD_hbm_controllers_per_stack, "unknown"));
	CHECK_STR(t4->parent, "tu102");
	CHECK_EQ(t4->warps_per_sm_max, 32);
	CHECK_EQ(h100->smem_per_sm_bytes, h200->smem_per_sm_bytes);
	CHECK(h100->l2_bytes == 50 * KIB * KIB && h200->l2_bytes == 60 * KIB * KIB);
	CHECK(!arch_is_known(h100, ARCH_FIELD_l2_resident_bytes));
}

/* Unknown is visible in both forms, and never the same as a zero that is known. */
static void test_unknown(void)
{
	const struct arch *a = arch_find("a100"), *v = arch_find("v100"), *a40 = arch_find("a40");
	struct text t = {0};

	CHECK(!arch_is_known(a40, ARCH_FIELD_l2_persisting_max_bytes) &&
	      !arch_source(a40, ARCH_FIELD_l2_persisting_max_bytes));
	CHECK(arch_is_known(v, ARCH_FIELD_l2_persisting_max_bytes) &&
	      v->l2_persisting_max_bytes == 0);
	CHECK(field_is("a40", ARCH_FIELD_l2_persisting_max_bytes, "unknown"));
	CHECK(field_is("v100", ARCH_FIELD_l2_persisting_max_bytes, "0"));
	arch_format_json(&t, a40, ARCH_FIELD_l2_persisting_max_bytes);
	text_puts(&t, " ");
	arch_format_json(&t, a, ARCH_FIELD_smem_carveouts_kib);
	text_puts(&t, " ");
	arch_format_json(&t, a, ARCH_FIELD_mma_f16_shapes);
	text_puts(&t, " ");
	arch_format_json(&t, a, ARCH_FIELD_mma_fp8_shapes);
	text_puts(&t, " ");
	arch_format_json(&t, a, ARCH_FIELD_has_its);
	text_puts(&t, " ");
	arch_format_json(&t, a, ARCH_FIELD_name);
	text_puts(&t, " ");
	arch_format_json(&t, a, ARCH_FIELD_memory_bytes);
	CHECK_STR(t.at,
		  "null [0, 8, 16, 32, 64, 100, 132, 164] [\"m16n8k8\", \"m16n8k16\"] [] true "
		  "\"NVIDIA A100-SXM4-40GB\" 42405855232");
	text_fini(&t);
}

/* ---- The guides' numbers ---- */

static void test_pascal(void)
{
	const struct arch *p = arch_find("p100"), *g = arch_find("gtx1080");

	CHECK(p->sms == 56 && p->sms_full_chip == 60 && g->sms_full_chip == 20);
	CHECK(p->warp_schedulers_per_sm == 2 && p->fp32_cores_per_sm == 64 &&
	      p->fp64_cores_per_sm == 32);
	CHECK(g->warp_schedulers_per_sm == 4 && g->fp32_cores_per_sm == 128 &&
	      g->fp64_cores_per_sm == 4);
	CHECK(p->warps_per_sm_max == 64 && g->warps_per_sm_max == 64 && p->ctas_per_sm_max == 32 &&
	      g->ctas_per_sm_max == 32);
	CHECK(p->registers_per_sm == 64 * KIB && p->registers_per_thread_max == 255);
	CHECK(p->smem_per_sm_bytes == 64 * KIB && g->smem_per_sm_bytes == 96 * KIB &&
	      p->smem_per_cta_optin_bytes == 48 * KIB);
	CHECK(p->smem_recommended_per_cta_bytes == 32 * KIB && p->smem_bank_bytes == 4);
	CHECK(p->fp16_per_clock == 2 * p->fp32_per_clock &&
	      g->fp16_per_clock * 64 == g->fp32_per_clock);
	CHECK(!p->has_dp4a && g->has_dp4a && g->dp4a_per_clock == g->fp32_per_clock);
	CHECK(p->memory_bus_bits == 4096 && p->memory_gbps == 732 &&
	      p->memory_clock_khz == 715000 && p->hbm_stacks == 4);
	CHECK(p->hbm_stacks * p->hbm_controllers_per_stack * p->hbm_controller_bits ==
	      p->memory_bus_bits);
	CHECK(p->global_loads_cached_in_l1 && !g->global_loads_cached_in_l1 && g->has_global_l1 &&
	      g->has_local_l1);
	CHECK(p->global_load_bytes == 32 && p->sector_bytes == 32);
	CHECK(p->nvlink_links == 4 && p->nvlink_link_mbps == 40000 && g->nvlink_links == 0);
	CHECK(p->has_peer_atomics && !g->has_peer_atomics && p->has_fp64_atomics &&
	      p->has_f32_atomic_flush);
	CHECK(p->virtual_address_bits == 49 && p->has_compute_preemption && p->has_dual_issue);
	CHECK(!p->has_its && !g->has_its && p->fma_latency_cycles == 6 &&
	      !p->has_concurrent_int_fp);
}

static void test_volta_turing(void)
{
	const struct arch *v = arch_find("v100"), *t = arch_find("titanrtx");

	CHECK(v->sms == 80 && v->sms_full_chip == 84 && v->has_its && t->has_its);
	CHECK(v->fma_latency_cycles == 4 && v->instruction_cycles == 2 &&
	      v->warps_to_hide_fma_ilp4 == 4);
	CHECK(v->fp32_cores_per_sm == 64 && v->fp64_cores_per_sm == 32 &&
	      v->int32_cores_per_sm == 64);
	CHECK(v->tensor_cores_per_sm == 8 && v->warps_per_sm_max == 64 && v->ctas_per_sm_max == 32);
	CHECK(v->smem_per_sm_bytes == 96 * KIB && v->smem_per_cta_optin_bytes == 96 * KIB &&
	      v->smem_static_max_bytes == 48 * KIB);
	CHECK(LIST_IS(v->smem_carveouts_kib, 0, 8, 16, 32, 64, 96));
	CHECK(v->l1_smem_bytes == 128 * KIB && v->l2_bytes == 6 * KIB * KIB &&
	      v->l2_read_gbps == 2500 && v->l2_write_gbps == 1600);
	CHECK(v->memory_gbps == 900 && v->smem_bandwidth_gbps == 14000 &&
	      v->smem_bytes_per_clock == 128);
	CHECK(v->const_bytes == 64 * KIB && v->const_bytes_per_clock == 4 &&
	      v->line_bytes == 4 * v->sector_bytes);
	CHECK(v->smem_phases_8_byte == 2 && v->smem_phases_16_byte == 4 && v->smem_banks == 32);
	CHECK(v->mps_clients_max == 48 && v->nvlink_links == 6 && v->nvlink_mbps == 300000);
	CHECK(t->warps_per_sm_max == 32 && t->ctas_per_sm_max == 16 &&
	      t->smem_per_sm_bytes == 64 * KIB);
	CHECK(t->l1_smem_bytes == 96 * KIB && LIST_IS(t->smem_carveouts_kib, 32, 64) &&
	      t->smem_per_cta_optin_bytes == 64 * KIB);
	CHECK(t->fp64_cores_per_sm == 2 && t->warps_to_hide_fma == 16 && t->l1_caches_writes &&
	      t->tensor_cores_per_sm == 8);
	CHECK(field_is("titanrtx", ARCH_FIELD_wmma_f16_shapes, "m16n16k16 m32n8k16 m8n32k16"));
	CHECK(field_is("titanrtx", ARCH_FIELD_wmma_s4_shapes, "m8n8k32"));
	CHECK(field_is("titanrtx", ARCH_FIELD_wmma_b1_shapes, "m8n8k128"));
}

static void test_ampere(void)
{
	const struct arch *a = arch_find("a100"), *b = arch_find("a40");

	CHECK(a->warps_per_sm_max == 64 && b->warps_per_sm_max == 48 && a->ctas_per_sm_max == 32 &&
	      b->ctas_per_sm_max == 16);
	CHECK(a->smem_per_sm_bytes == 164 * KIB && b->smem_per_sm_bytes == 100 * KIB);
	CHECK(a->smem_per_cta_optin_bytes == 163 * KIB && b->smem_per_cta_optin_bytes == 99 * KIB);
	CHECK(a->smem_reserved_per_cta_bytes == KIB && b->smem_reserved_per_cta_bytes == KIB);
	CHECK(LIST_IS(a->smem_carveouts_kib, 0, 8, 16, 32, 64, 100, 132, 164));
	CHECK(LIST_IS(b->smem_carveouts_kib, 0, 8, 16, 32, 64, 100));
	CHECK(a->l1_smem_bytes == 192 * KIB && b->l1_smem_bytes == 128 * KIB &&
	      a->l2_bytes == 40 * KIB * KIB);
	CHECK(a->has_cp_async && a->has_mbarrier && a->has_redux && a->has_l2_residency &&
	      b->has_cp_async);
	CHECK(!arch_find("v100")->has_cp_async && !arch_find("t4")->has_redux &&
	      !arch_find("t4")->has_l2_residency);
	CHECK(b->fp32_per_clock == 2 * a->fp32_per_clock && a->memory_gbps == 1550);
	CHECK(a->nvlink_links == 12 && a->nvlink_link_mbps == 50000 && a->nvlink_mbps == 600000);
	CHECK(a->nvlink_tlb_reach_bytes == (u64)64 << 30);
}

/*
 * The table of matrix instruction sizes: Ampere tuning guide, "4.1.5 Improved Tensor Core
 * Operations".
 */
static void test_matrix_table(void)
{
	static const struct {
		const char *instruction;
		enum arch_field field;
		const char *volta, *turing, *ampere;
	} rows[] = {
		{"HMMA f16", ARCH_FIELD_mma_f16_shapes, "m8n8k4", "m8n8k4 m16n8k8 m16n8k16",
		 "m16n8k8 m16n8k16"},
		{"HMMA bf16", ARCH_FIELD_mma_bf16_shapes, "", "", "m16n8k8 m16n8k16"},
		/* The guide has m16n8k4 alone; the ISA has m16n8k8 as well. */
		{"HMMA tf32", ARCH_FIELD_mma_tf32_shapes, "", "", "m16n8k4 m16n8k8"},
		{"IMMA 8-bit", ARCH_FIELD_mma_s8_shapes, "", "m8n8k16",
		 "m8n8k16 m16n8k16 m16n8k32"},
		{"IMMA 4-bit", ARCH_FIELD_mma_s4_shapes, "", "m8n8k32",
		 "m8n8k32 m16n8k32 m16n8k64"},
		{"BMMA", ARCH_FIELD_mma_b1_shapes, "", "m8n8k128", "m8n8k128 m16n8k128 m16n8k256"},
		{"DMMA", ARCH_FIELD_mma_f64_shapes, "", "", "m8n8k4"},
	};

	for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_MSG(field_is("v100", rows[i].field, rows[i].volta), rows[i].instruction);
		CHECK_MSG(field_is("t4", rows[i].field, rows[i].turing), rows[i].instruction);
		CHECK_MSG(field_is("a100", rows[i].field, rows[i].ampere), rows[i].instruction);
		CHECK_MSG(field_is("a40", rows[i].field, rows[i].ampere), rows[i].instruction);
	}
	CHECK(field_is("t4", ARCH_FIELD_mma_b1_ops, "xor") &&
	      field_is("a100", ARCH_FIELD_mma_b1_ops, "and xor"));
	CHECK(!arch_is_known(arch_find("p100"), ARCH_FIELD_mma_f16_shapes) &&
	      !arch_find("p100")->tensor_cores_per_sm);
	CHECK(arch_find("v100")->mma_fraction_bits == 23 &&
	      arch_find("t4")->mma_fraction_bits == 24 &&
	      arch_find("a100")->mma_fraction_bits == 24 &&
	      arch_find("h200")->mma_fraction_bits == 25);
}

static void test_hopper(void)
{
	const struct arch *h = arch_find("h200");

	CHECK(h->sms == 132 && h->memory_bytes == 150109880320 && h->memory_bus_bits == 6016 &&
	      h->clock_khz == 1980000);
	CHECK(h->cluster_ctas_portable == 8 && h->cluster_ctas_max == 16 && h->has_cluster &&
	      h->has_tma && h->has_wgmma);
	CHECK(h->nvlink_links == 18 && h->stack_default_bytes == 1024 &&
	      h->printf_fifo_default_bytes == 8650752);
	CHECK(h->stream_priority_least == 0 && h->stream_priority_greatest == -5);
	CHECK(h->l1_resident_bytes == 216 * KIB && h->l2_resident_bytes == 32 * KIB * KIB &&
	      h->const_line_bytes == 64);
	CHECK(LIST_IS(h->smem_carveouts_kib, 0, 8, 16, 32, 64, 100, 132, 164, 196, 228));
	CHECK(!strncmp(arch_source(h, ARCH_FIELD_l2_bytes), "measured on an H200", 19));
}

int main(void)
{
	test_names();
	test_rules();
	test_inheritance();
	test_unknown();
	test_pascal();
	test_volta_turing();
	test_ampere();
	test_matrix_table();
	test_hopper();
	return check_done();
}
