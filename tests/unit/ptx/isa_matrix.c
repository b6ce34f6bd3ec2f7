/*
 * src/isa: matrix instructions. Fragment sizes against the formula of the manual, legal spellings,
 * and illegal neighbours of legal forms, which no row may match.
 */
#include "src/isa/isa.h"
#include "tests/check.h"

static const struct isa_form *match(struct arena *a, const char *s)
{
	return isa_match(a, s, strlen(s));
}

/* R rows x C columns of elements: registers of `bits` each per thread of a warp. */
static u32 fragment(u32 rows, u32 columns, u32 bits_of_type, u32 bits)
{
	return rows * columns * bits_of_type / 32 / bits;
}

struct mma_case {
	const char *opcode;
	u32 m, n, k, d_bits, ab_bits, sparse, reg; /* reg: bits of a register */
};

static void test_fragments(struct arena *a)
{
	static const struct mma_case cases[] = {
		{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, 16, 16, 1, 32},
		{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 32, 16, 1, 32},
		{"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, 32, 32, 1, 32},
		{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, 32, 8, 1, 32},
		{"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, 64, 64, 1, 64},
		{"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", 8, 8, 16, 32, 8, 1, 32},
		{"mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 16, 8, 64, 32, 4, 1, 32},
		{"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 8, 256, 32, 1, 1,
		 32},
		{"mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", 16, 8, 32, 16, 16, 2, 32},
		{"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.u4.s32", 16, 8,
		 128, 32, 4, 2, 32},
		{"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
		 16, 8, 64, 32, 4, 1, 32},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct mma_case *c = &cases[i];
		const struct isa_form *f = match(a, c->opcode);

		if (!CHECK(f != NULL))
			continue;
		CHECK_EQ(isa_operand_count(f, &f->row->operand[0]),
			 fragment(c->m, c->n, c->d_bits, c->reg));
		CHECK_EQ(isa_operand_count(f, &f->row->operand[1]),
			 fragment(c->m, c->k / c->sparse, c->ab_bits, c->reg));
		CHECK_EQ(isa_operand_count(f, &f->row->operand[2]),
			 fragment(c->k, c->n, c->ab_bits, c->reg));
		CHECK_EQ(isa_operand_count(f, &f->row->operand[3]),
			 fragment(c->m, c->n, c->d_bits, c->reg));
	}
}

static void test_counts(struct arena *a)
{
	const struct isa_form *f = match(a, "wgmma.mma_async.sync.aligned.m64n104k16.f32.f16.f16");

	CHECK(f && isa_operand_count(f, &f->row->operand[0]) == 52 && f->number == 104);
	f = match(a, "tcgen05.ld.sync.aligned.16x256b.x32.b32");
	CHECK(f && isa_operand_count(f, &f->row->operand[0]) == 128 &&
	      f->row->operand[1].kind == ISA_OP_TMEM);
	f = match(a, "ldmatrix.sync.aligned.m16n16.x2.trans.b8");
	CHECK(f && isa_operand_count(f, &f->row->operand[0]) == 4);
	f = match(a, "tcgen05.mma.cta_group::2.kind::f16");
	while (f && f->row->row != I_tcgen05_mma_desc_lanes)
		f = f->next;
	CHECK(f && isa_operand_count(f, &f->row->operand[5]) == 8 &&
	      !strcmp(f->row->operand[5].name, "l"));
}

/* Allowed constants: of an operand, and of the elements of a pair. */
static void test_constants(struct arena *a)
{
	const struct isa_form *f = match(a, "tcgen05.alloc.cta_group::1.sync.aligned.b32");
	const struct isa_operand *o;

	CHECK(f && f->row->operand[1].kind == ISA_OP_VALUE && f->row->operand[1].ranges == 5);
	CHECK(f && isa_ranges(f->row->operand[1].first_range)[4].hi == 512);
	f = match(
		a,
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0");
	if (!CHECK(f != NULL))
		return;
	o = &f->row->operand[7];
	CHECK(o->ranges == 2 && o->rest_ranges == 1 && isa_ranges(o->first_range)[1].lo == 2);
	CHECK(isa_ranges(o->rest_range)[0].lo == 0 && isa_ranges(o->rest_range)[0].hi == 3);
	f = match(a, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc");
	CHECK(f && f->ptx == 70 && f->types == 4 && f->type[1] == T_b1);
	f = match(a, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc");
	CHECK(f && f->ptx == 71 && f->sm == 80);
}

/* Modifiers may be swapped, but not two of one kind; legacy forms end with a version. */
static void test_spelling(struct arena *a)
{
	const struct isa_target sm70 = {70, 0};
	const struct isa_form *f;

	CHECK(match(a, "mma.aligned.sync.f32.f16.f16.f32.row.col.m16n8k16") != NULL);
	CHECK(match(a, "mma.sync.aligned.sp.m16n8k32.row.col.f32.f16.f16.f32") != NULL);
	CHECK(match(a, "wgmma.mma_async.sync.m64n8k8.f32.tf32.tf32") != NULL);
	f = match(a, "wmma.load.a.sync.row.m16n16k16.f16");
	CHECK(f && f->ptx == 60 && !isa_form_gone(f, sm70, 62) && isa_form_gone(f, sm70, 63));
	f = match(a, "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite");
	CHECK(f && f->ptx == 63 && !isa_form_gone(f, sm70, 64) && isa_form_gone(f, sm70, 65));
}

static void test_illegal(struct arena *a)
{
	static const char *const opcodes[] = {
		"mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
		"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
		"mma.sync.aligned.m8n8k16.row.col.s32.u8.u4.s32",
		"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
		"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.xor",
		"mma.sync.m16n8k8.row.col.f16.f16.f16.f16",
		"mma.sync.aligned.m8n8k128.row.col.satfinite.s32.b1.b1.s32.xor.popc",
		"mma.sync.aligned.m8n8k128.row.col.s32.b1.s32.b1.xor.popc",
		"mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
		"wmma.load.a.sync.aligned.col.m8n8k32.s4",
		"wmma.load.d.sync.aligned.row.m16n16k16.f16",
		"wmma.load.c.sync.aligned.row.m16n16k8.f16",
		"wmma.load.a.sync.aligned.row.m16n16k16.local.f16",
		"wmma.mma.sync.aligned.row.row.m16n16k16.s32.s8.u8.s32",
		"wmma.mma.sync.aligned.row.row.m16n16k16.s32.s4.s4.s32",
		"ldmatrix.sync.aligned.m8n16.x1.trans.b8x16.b6x16_p32",
		"ldmatrix.sync.aligned.m16n16.x4.trans.b8",
		"ldmatrix.sync.aligned.m8n8.x2.global.b16",
		"stmatrix.sync.aligned.m16n8.x1.b8",
		"movmatrix.sync.aligned.m8n8.b16",
		"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
		"wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16",
		"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8",
		"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16",
		"wgmma.fence",
		"tcgen05.ld.sync.aligned.16x128b.x128.b32",
		"tcgen05.ld.red.sync.aligned.32x32b.x1.min.f32",
		"tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32",
		"tcgen05.alloc.cta_group::1.sync.aligned.shared.b32",
		"tcgen05.cp.cta_group::1.64x128b.warpx4",
		"tcgen05.cp.cta_group::1.128x256b.b8x16",
		"tcgen05.shift.cta_group::1.up",
		"tcgen05.mma.ws.cta_group::2.kind::f16",
		"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale",
		"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill",
		"tcgen05.mma.kind::f16",
	};

	for (size_t i = 0; i < ARRAY_LEN(opcodes); i++)
		if (!CHECK(!match(a, opcodes[i])))
			printf("# %s\n", opcodes[i]);
}

int main(void)
{
	struct arena a = {0};

	test_fragments(&a);
	test_counts(&a);
	test_constants(&a);
	test_spelling(&a);
	test_illegal(&a);
	arena_fini(&a);
	return check_done();
}
