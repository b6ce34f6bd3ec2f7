/*
 * The two ways to multiply floating-point matrices, in vectors and in doubles, must agree to the
 * bit, and the vectors must be the way that ordinary numbers take. Random fragments of every type,
 * block length and rounding, dense and sparse, with zeros, subnormals and exponents far apart.
 * Built once for each host level.
 */
#ifdef __SANITIZE_ADDRESS__
/* All of this in one unit takes minutes to compile if it is checked and optimised. */
#pragma GCC optimize("O0")
#endif
#define EXEC_NAME(x) x##_test
#include "src/mma/block.c"
#include "src/mma/plane_dense.c"
#include "src/mma/plane_sparse.c"
#include "src/mma/product.c"
#include "src/mma/product_double.c"
#include "src/mma/product_int.c"
#include "src/mma/product_scaled.c"
#include "src/mma/tile_decode.c"
#include "src/mma/tile_sum.c"
#include "tests/check.h"
#include "tests/skip.h"

#define TILES 300u

static u64 state = 0x9e3779b97f4a7c15u;

static u32 next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (u32)(state >> 32);
}

/* How factors are spread: ordinary; with zeros; any finite bits; all bits. */
enum kind { ORDINARY, ZEROS, FINITE, ANY, KINDS };

static const char *const kind_names[KINDS] = {"ordinary numbers", "many zeros",
					      "any finite numbers", "any bits"};

/* One number of a type with so many mantissa and exponent bits. */
static u32 number(enum kind kind, u32 mantissa, u32 exponents)
{
	u32 bits = next() & ((2u << (mantissa + exponents)) - 1), top = (1u << exponents) - 1;
	u32 sign = bits >> (mantissa + exponents), low = bits & ((1u << mantissa) - 1),
	    field = bits >> mantissa & top;

	if (kind == ANY)
		return bits;
	if (kind == ZEROS && next() % 3)
		return sign << (mantissa + exponents);
	if (kind != FINITE)
		field = top / 2 + next() % 5 - 3 + (exponents > 4 ? 0 : 1);
	else if (field == top)
		field--;
	return sign << (mantissa + exponents) | field << mantissa | low;
}

static u32 word(u32 type, enum kind kind)
{
	u32 w = 0;

	switch (type) {
	case MMA_F16:
		return number(kind, 10, 5) | number(kind, 10, 5) << 16;
	case MMA_BF16:
		return number(kind, 7, 8) | number(kind, 7, 8) << 16;
	case MMA_TF32:
	case MMA_F32:
		return number(kind, 23, 8);
	case MMA_E5M2:
		for (u32 i = 0; i < 32; i += 8)
			w |= number(kind, 2, 5) << i;
		return w;
	default:
		for (u32 i = 0; i < 32; i += 8)
			w |= number(kind, 3, 4) << i;
		return w;
	}
}

/*
 * Metadata of 16-bit and 8-bit numbers: two different places of four; of tf32: 4 or 14 of each four
 * bits.
 */
static u32 metadata(u32 type)
{
	static const u8 two[6] = {4, 8, 12, 9, 13, 14};
	u32 m = 0;

	for (u32 i = 0; i < 32; i += 4)
		m |= (u32)(type == MMA_TF32 ? (next() & 1 ? 4 : 14) : two[next() % 6]) << i;
	return m;
}

struct data {
	u32 a[2][4][32], b[4][32], c[4][32], meta[32];
};

static void fill(struct mma_product *x, struct data *d, enum kind kind)
{
	u32 *all[] = {d->a[0][0], d->b[0], d->c[0], d->meta};

	for (u32 i = 0; i < 256; i++)
		all[0][i] = word(x->form.a, kind);
	for (u32 i = 0; i < 128; i++)
		all[1][i] = word(x->form.b, kind);
	for (u32 i = 0; i < 128; i++)
		all[2][i] = word(x->form.c, kind);
	for (u32 i = 0; i < 32; i++)
		all[3][i] = metadata(x->form.a);
	for (u32 q = 0; q < 4; q++) {
		x->a[0][q] = d->a[0][q];
		x->a[1][q] = d->a[1][q];
		x->b[0][q] = d->b[q];
		x->c[q] = d->c[q];
	}
	x->meta = d->meta;
}

/* PRODUCT_NEED names what the processor must have to run a build for more than the baseline. */
static bool host_runs_this(void)
{
#ifdef PRODUCT_NEED
	__builtin_cpu_init();
	return __builtin_cpu_supports(PRODUCT_NEED);
#else
	return true;
#endif
}

static void test_form(const struct mma_form *f, const struct mma_rule *rule, const char *name)
{
	static struct mma_product x, y;
	static struct data d;
	u32 taken = 0, wrong = 0;
	char what[160];

	if (!host_runs_this()) {
		check_skip(name, "the processor lacks the instructions of this build");
		return;
	}
	memset(&x, 0, sizeof(x));
	x.form = *f;
	x.rule = *rule;
	x.rows = 2;
	x.columns = 1;
	for (u32 kind = 0; kind < KINDS; kind++)
		for (u32 i = 0; i < TILES; i++) {
			fill(&x, &d, (enum kind)kind);
			y = x;
			if (!EXEC_NAME(mma_multiply_vectors)(&x))
				continue;
			taken += kind == ORDINARY;
			EXEC_NAME(mma_multiply_doubles)(&y);
			if (memcmp(x.d, y.d, sizeof(x.d[0]) * 4)) {
				if (!wrong++)
					printf("# %s: first difference among %s\n", name,
					       kind_names[kind]);
			}
		}
	snprintf(what, sizeof(what), "%s: %u differ", name, wrong);
	CHECK_MSG(wrong == 0, what);
	snprintf(what, sizeof(what), "%s: %u of %u in vectors", name, taken, TILES);
	CHECK_MSG(taken == TILES, what);
}

static const char *const type_names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2"};

static void test_type(u32 type)
{
	u32 per = 32 / mma_bits(type);
	bool fp8 = type >= MMA_E4M3;
	char name[80];

	for (u32 words = 4; words <= 8; words += 4)
		for (u32 half = 0; half < 2; half++)
			for (u32 sparse = 0; sparse < 2; sparse++)
				for (u32 divide = 1; divide <= 2; divide++) {
					struct mma_form f = {
						.a = (u8)type,
						.b = (u8)type,
						.rows = 2,
						.columns = 1,
						.c = half ? MMA_F16 : MMA_F32,
						.d = half ? MMA_F16 : MMA_F32,
						.words = (u8)words,
						.flags = sparse ? MMA_SPARSE : 0,
					};
					struct mma_rule r = {
						.sum = fp8 ? MMA_CUT : MMA_FUSED,
						.fraction = fp8           ? 13
							    : divide == 2 ? 24
									  : 25,
						.below = divide == 2 ? 6 : 7,
						.block = (u8)((words * per << sparse) / divide),
					};

					if ((half && (type == MMA_BF16 || type == MMA_TF32)) ||
					    (divide == 2 && (fp8 || words == 4)))
						continue;
					snprintf(name, sizeof(name),
						 "%s k%u to %s in blocks of %u%s", type_names[type],
						 words * per << sparse, half ? "f16" : "f32",
						 r.block, sparse ? ", sparse" : "");
					test_form(&f, &r, name);
				}
}

static void test_halves(u32 type)
{
	for (u32 i = 0; i < 4; i++) {
		u32 words = 4 + i / 2 * 4, sparse = i % 2;
		struct mma_form f = {.a = (u8)type,
				     .b = (u8)(MMA_E4M3 + MMA_E5M2 - type),
				     .c = MMA_F32,
				     .d = MMA_F32,
				     .rows = 2,
				     .columns = 1,
				     .words = (u8)words,
				     .flags = sparse ? MMA_SPARSE : 0};
		struct mma_rule r = {.sum = MMA_HALVES, .fraction = 25, .below = 7, .block = 16};
		char name[80];

		snprintf(name, sizeof(name), "%s k%u by halves%s", type_names[type],
			 4 * words << sparse, sparse ? ", sparse" : "");
		test_form(&f, &r, name);
	}
}

int main(void)
{
	for (u32 type = MMA_F16; type <= MMA_E5M2; type++)
		test_type(type);
	test_halves(MMA_E4M3);
	test_halves(MMA_E5M2);
	return check_done();
}
