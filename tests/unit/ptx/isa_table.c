/* src/isa: rows compile, words, matching of opcode texts, targets, special registers. */
#include "src/isa/isa.h"
#include "tests/check.h"

static const struct isa_form *match(struct arena *a, const char *s)
{
	return isa_match(a, s, strlen(s));
}

static void test_match(struct arena *a)
{
	const struct isa_form *f = match(a, "add.s32");
	struct isa_complaint why;

	CHECK(f && f->row->row == I_add_int && f->types == 1 && f->type[0] == T_s32 && !f->next);
	f = match(a, "add.sat.s32");
	CHECK(f && f->row->row == I_add_int_sat);
	CHECK(match(a, "add.s32.sat") && match(a, "add.s32.sat")->row == f->row);
	CHECK(!match(a, "sub.sat.u32") && !match(a, "add") && !match(a, "add.s32.s32") &&
	      !match(a, "add.") && !match(a, ""));
	f = match(a, "mul.wide.u16");
	CHECK(f && isa_operand_type(f, &f->row->operand[0]) == T_u32 &&
	      f->row->operand[0].role == ISA_WRITE);
	CHECK(isa_operand_type(f, &f->row->operand[1]) == T_u16 &&
	      isa_operand_count(f, &f->row->operand[1]) == 1);
	CHECK(!match(a, "mul.u16.wide") && !match(a, "mul.wide.u64"));
	CHECK_STR(isa_row(I_add_int_sat)->hint, "add.sat.s32 d, a, b");
	CHECK_STR(isa_row(I_mul_wide_int)->hint, "mul.wide.{u16|u32|s16|s32} d, a, b");
	isa_explain("add.foo.s32", 11, &why);
	CHECK_STR(why.text.at, "unknown modifier '.foo' on 'add'");
	CHECK(why.begin == 3 && why.end == 7);
	isa_complaint_fini(&why);
	isa_explain("frob.s32", 8, &why);
	CHECK(!strncmp(why.text.at, "unknown instruction 'frob'", 26) && !why.row);
	isa_complaint_fini(&why);
	isa_explain("add.sat.u16", 11, &why);
	CHECK(why.row != NULL);
	CHECK_STR(why.text.at, "illegal modifier '.sat' on 'add.u16'");
	isa_complaint_fini(&why);
}

/*
 * A row with an opcode that is not in opcodes.def does not compile: only those without a row are to
 * be found.
 */
static void test_opcodes(void)
{
	static const char *const text[] = {
#define OPCODE(ident, text) text,
#include "src/isa/opcodes.def"
#undef OPCODE
	};
	bool used[ISA_OPCODES] = {0};

	for (u32 r = 0; r < ISA_ROWS; r++)
		for (u32 i = 0; i < isa_row(r)->names; i++)
			used[isa_row(r)->opcode[i]] = true;
	for (u32 i = 0; i < ISA_OPCODES; i++)
		CHECK_MSG(used[i], text[i]);
}

static void test_targets(struct arena *a)
{
	struct isa_target t;
	const struct isa_form *f = match(a, "add.u16x2");

	CHECK(isa_target_find("sm_90a", 6, &t) && t.sm == 90 && t.variant == 'a' &&
	      isa_target_ptx(t) == 80);
	CHECK(isa_form_on_target(f, t));
	CHECK(isa_target_find("compute_75", 10, &t) && t.sm == 75 && !t.variant);
	CHECK(!isa_form_on_target(f, t) && f->ptx == 80);
	CHECK(!isa_target_find("sm_99", 5, &t) && !isa_target_find("sm_", 3, &t) &&
	      !isa_target_find("sm_80x", 6, &t));
	CHECK(isa_version_known(90) && isa_version_known(51) && !isa_version_known(54) &&
	      isa_version_known(93) && !isa_version_known(94) && !isa_version_known(0));
}

static void test_words(void)
{
	CHECK(isa_word_find("L2::cache_hint", 14) == M_L2_cache_hint &&
	      isa_word_kind(M_L2_cache_hint) == ISA_K_HINT);
	CHECK_STR(isa_word_text(M_L2_cache_hint), "L2::cache_hint");
	CHECK(isa_word_find("f16x2", 5) == T_f16x2 && isa_type_bits(T_f16x2) == 32 &&
	      isa_type_class(T_f16x2) == ISA_FLOAT);
	CHECK(isa_sreg_find("%tid", 4) == isa_sreg(SR_tid) && isa_sreg(SR_tid)->components == 4 &&
	      !isa_sreg_find("%tie", 4));
}

/* Legacy forms end with a version; types keep their order where other modifiers do not. */
static void test_legacy_and_order(struct arena *a)
{
	struct isa_target old = {13, 0}, fermi = {20, 0};
	const struct isa_form *f = match(a, "div.f32");

	CHECK(f && !isa_form_gone(f, old, 13) && isa_form_gone(f, old, 14));
	f = match(a, "mad.f32");
	CHECK(f && !isa_form_gone(f, old, 32) && !isa_form_gone(f, fermi, 31) &&
	      isa_form_gone(f, fermi, 32));
	f = match(a, "mad.rn.f32");
	CHECK(f && !isa_form_gone(f, fermi, 90) && f->sm == 20);
	CHECK(match(a, "cvt.sat.u8.s16") && match(a, "cvt.u8.s16.sat") &&
	      !match(a, "cvt.sat.s16.u8"));
	CHECK(match(a, "shf.l.clamp.b32") && !match(a, "shf.clamp.l.b32"));
	f = match(a, "vadd.s32.u32.s32.sat");
	CHECK(f && f->next && f->row->operands == 3 && f->next->row->operands == 4);
	CHECK(f && f->row->operand[1].select == ISA_SEL_SUBWORD &&
	      f->next->row->operand[0].select == ISA_SEL_SUBWORD);
	CHECK(isa_row(I_vmad)->operand[1].minus && !isa_row(I_vmad_po)->operand[1].minus);
	CHECK(isa_row(I_cvt_x4_f32)->operand[2].bits_only &&
	      isa_row(I_cvt_f32_f64)->operand[0].wider);
}

/* No two rows may have the same text, and every row's operands name their registers. */
static void test_rows(void)
{
	bool unique = true, named = true;

	for (u32 i = 0; i < ISA_ROWS; i++) {
		const struct isa_row *r = isa_row(i);

		for (u32 k = 0; k < i; k++)
			if (!strcmp(r->syntax, isa_row(k)->syntax)) {
				printf("# %s and %s are equal\n", r->id, isa_row(k)->id);
				unique = false;
			}
		for (u32 k = 0; k < r->operands; k++)
			named &= r->operand[k].name[0] != 0;
	}
	CHECK_MSG(unique, "no two rows have the same syntax line");
	CHECK(named);
}

int main(void)
{
	struct arena a = {0};

	test_match(&a);
	test_targets(&a);
	test_legacy_and_order(&a);
	test_words();
	test_opcodes();
	test_rows();
	arena_fini(&a);
	return check_done();
}
