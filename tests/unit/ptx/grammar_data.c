/*
 * Initial values as bytes and relocations, sizes and alignments, debugging sections, positions.
 */
#include "tests/unit/ptx/ptx_text.h"

/* "0102030405": the initial bytes of a variable, zeros at the end left out. */
static void hex_of(const struct ir_var *v, struct text *out)
{
	u64 n = v->data_len;

	while (n && !v->data[n - 1])
		n--;
	text_puts(out, "");
	for (u64 i = 0; i < n; i++)
		text_printf(out, "%02x", v->data[i]);
}

static void check_bytes(void)
{
	static const struct {
		const char *text;
		u64 size;
		u32 align;
		const char *bytes;
	} cases[] = {
		{".global .u32 x = 0x01020304", 4, 4, "04030201"},
		{".global .s8 x = -2", 1, 1, "fe"},
		{".global .u16 x = 70000", 2, 2, "7011"},
		{".global .align 16 .b8 x[16] = {1, 2, 0xff, 4}", 16, 16, "0102ff04"},
		{".global .u16 x[2][3] = {{1, 2, 3}, {4}}", 12, 2, "01000200030004"},
		{".global .u8 x[2][2][2] = {{{1, 2}, {3}}, {{4}}}", 8, 1, "0102030004"},
		{".global .u8 x[] = {1, 2, 3, 0}", 4, 1, "010203"},
		{".global .s32 x[][2] = {{-1, 0}, {0, -1}, {1, 0}}", 24, 4,
		 "ffffffff0000000000000000ffffffff01"},
		{".global .v2 .u16 x = {1, 2}", 4, 4, "010002"},
		{".global .v2 .u16 x[2] = {{1, 2}, {3, 4}}", 8, 4, "01000200030004"},
		{".global .v4 .f32 x", 16, 16, ""},
		{".global .f32 x = 1.5", 4, 4, "0000c03f"},
		{".global .f32 x = 0.1", 4, 4, "cdcccc3d"},
		{".global .f64 x = 1.5", 8, 8, "000000000000f83f"},
		{".global .f32 x = 0d3FF8000000000000", 4, 4, "0000c03f"},
		{".global .f64 x = 0f3FC00000", 8, 8, "000000000000f83f"},
		{".const .u64 x = 0xfabc123400000001", 8, 8, "010000003412bcfa"},
		{".global .u8 x[2] = {0xFF(1000 + 546), 0xFF00(131187)}", 2, 1, "0a"},
		{".global .u32 x[3] = {}", 12, 4, ""},
		{".global .b8 x[549755813888]", 1ull << 39, 1, ""},
		{".global .b8 x[549755813888] = {1, 2}", 1ull << 39, 1, "0102"},
		{".global .b8 x[2][274877906944] = {{7}}", 1ull << 39, 1, "07"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text body = {0}, out = {0};
		struct ptx_text t;

		text_printf(&body, "%s;\n", cases[i].text);
		t = ptx_text_module(body.at);
		if (ptx_text_good(&t, cases[i].text)) {
			const struct ir_var *v = ir_find_var(t.m, "x");

			CHECK_EQ(v->size_bytes, cases[i].size);
			CHECK_EQ(v->align, cases[i].align);
			hex_of(v, &out);
			CHECK_STR(out.at, cases[i].bytes);
			CHECK_MSG(t.m->arena.used_bytes < 1 << 20, "little memory is used");
		}
		text_fini(&out);
		text_fini(&body);
		ptx_text_fini(&t);
	}
}

static void check_refused(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{".global .u32 x = 1.5;", "takes integer"},
		{".global .f32 x = 1;", "takes floating-point"},
		{".global .u8 x[2] = {1, 2, 3};", "more initial values"},
		{".global .u8 x[2][2] = {{1, 2, 3}};", "more initial values"},
		{".global .u8 x[2][2] = {1, 2};", "braces are missing"},
		{".global .u8 x = {{1}};", "more braces"},
		{".shared .u32 x = 1;", "no initial value"},
		{".extern .global .u32 x = 1;", "no initial value"},
		{".global .f16 x = 1;", "use .b16"},
		{".global .u32 x[];", "is missing"},
		{".global .u32 x[2][] = {{1}};", "first dimension"},
		{".global .u32 x[0];", "positive"},
		{".global .u32 x[-1];", "unexpected"},
		{".global .u8 x[1][1][1][1][1][1][1][1][1];", "dimensions"},
		{".global .align 3 .u32 x;", "power of two"},
		{".global .u64 x = y;", "not defined"},
		{".global .u16 y; .global .u16 x = y;", "does not fit"},
		{".global .u8 x = 0x10(y);", "not defined"},
		{".global .u8 y; .global .u8 x = 0xf0(y);", "byte mask"},
		{".global .b8 x[2199023255552];", "larger than"},
		{".global .b8 x[1048576][2097152];", "larger than"},
		{".global .b64 x[9223372036854775807][9223372036854775807] = {{1}};",
		 "larger than"},
		{".global .b64 x[4294967296][4294967296][4294967296] = {{{1}}, {{2}}};",
		 "larger than"},
		{".const .u32 x = y;", "not defined"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct ptx_text t = ptx_text_module(bad[i].text);

		ptx_text_bad(&t, bad[i].message, bad[i].text);
		ptx_text_fini(&t);
	}
}

static void check_relocs(void)
{
	struct ptx_text t = ptx_text_module(
		".func f() { ret; }\n.global .u32 a[4];\n.const .u64 c = 5;\n"
		".global .u64 x[6] = {a, a+4, generic(a), generic(c)+16, f, 7};\n.global .u32 y = a;\n"
		".global .u8 z[3] = {0xff(generic(a)+300), 0xff00(a), 0xff00000000000000(f)};\n");
	const struct ir_var *x, *y, *z;

	if (ptx_text_good(&t, "addresses in initial values")) {
		x = ir_find_var(t.m, "x");
		y = ir_find_var(t.m, "y");
		z = ir_find_var(t.m, "z");
		CHECK_EQ(x->relocs_len, 5);
		CHECK_EQ(x->relocs[1].at, 8);
		CHECK_EQ(x->relocs[1].size, 8);
		CHECK_EQ(x->relocs[1].addend, 4);
		CHECK(!x->relocs[1].generic && !x->relocs[1].is_func && !x->relocs[1].masked);
		CHECK(x->relocs[2].generic);
		CHECK_EQ(x->relocs[3].addend, 16);
		CHECK_STR(t.m->vars.at[x->relocs[3].index]->name->text, "c");
		CHECK(x->relocs[4].is_func);
		CHECK_EQ(x->data[40], 7);
		CHECK_EQ(y->relocs[0].size, 4);
		CHECK_EQ(z->relocs_len, 3);
		CHECK_EQ(z->relocs[0].shift, 0);
		CHECK(z->relocs[0].masked && z->relocs[0].generic);
		CHECK_EQ(z->relocs[0].addend, 300);
		CHECK_EQ(z->relocs[1].shift, 8);
		CHECK_EQ(z->relocs[2].shift, 56);
	}
	ptx_text_fini(&t);
}

static void check_opaque(void)
{
	struct ptx_text t = ptx_text_module(
		".global .samplerref s = {addr_mode_0 = wrap, filter_mode = linear, force_unnormalized_coords = 1};\n"
		".global .texref t;\n");
	const struct ir_var *s;

	/*
	 * Samplers stand for themselves in independent mode only, which is not this test's
	 * business.
	 */
	if (t.m) {
		s = ir_find_var(t.m, "s");
		CHECK_EQ(s->sampler_len, 3);
		CHECK_STR(s->sampler_fields[1]->text, "wrap");
		CHECK_EQ(s->sampler_values[2], 1);
		CHECK_EQ(ir_find_var(t.m, "t")->size_bytes, 8);
	}
	ptx_text_fini(&t);
}

static void check_sections(void)
{
	struct ptx_text t = ptx_text_parse(
		PTX_HEADER ".file 1 \"a.cu\"\n.file 2 \"b.cuh\", 1700000000, 4242\n"
			   ".file 3 \"caf\\303\\251\\\\8\\999\\012\"\n",
		"",
		".section .debug_x\n{\n.b8 1, 2, -1\nmid:\n.b16 0x304\n.b32 mid, mid+8, 5\n.b64 end-mid\nend:\n}\n"
		".section .debug_str { name: .b8 102, 0 }\n",
		true);
	const struct ir_section *s;

	if (ptx_text_good(&t, "sections")) {
		s = t.m->sections.at[0];
		CHECK_EQ(s->bytes.len, 25);
		CHECK_EQ(s->bytes.at[2], 0xff);
		CHECK_EQ(s->bytes.at[3], 4);
		CHECK_EQ(s->labels.len, 2);
		CHECK_EQ(s->labels.at[0].insn, 3);
		CHECK_EQ(s->labels.at[1].insn, 25);
		CHECK_EQ(s->relocs.len, 3);
		CHECK_EQ(s->relocs.at[1].addend, 8);
		CHECK_STR(s->relocs.at[2].minus->text, "mid");
		CHECK_EQ(s->relocs.at[2].size, 8);
		CHECK_EQ(t.m->files.at[1].mtime, 1700000000);
		CHECK_STR(t.m->files.at[2].path, "caf\303\251\\8\\999\\012");
	}
	ptx_text_fini(&t);
}

static void check_positions(void)
{
	struct ptx_text t = ptx_text_parse(
		PTX_HEADER ".file 1 \"a.cu\"\n.visible .entry k()\n{\n.reg .b32 a;\n",
		"mov.b32 a, 0;\n.loc 1 10 2\nmov.b32 a, 1;\nmov.b32 a, 2;\n"
		".loc 1 20 3, function_name name, inlined_at 1 10 2\nmov.b32 a, 3;\n"
		".loc 1 30 4, function_name name+4, inlined_at 1 20 3\n{ mov.b32 a, 4; }\n"
		".loc 1 10 2\n.loc 1 40 1, function_name name, inlined_at 1 10 2\nret;\n",
		"}\n.section .debug_str { name: .b8 102, 0 }\n", true);
	const struct ir_func *f;

	if (ptx_text_good(&t, "positions and inlining")) {
		f = ir_find_func(t.m, "k");
		CHECK_EQ(f->insns.at[0].loc, IR_NONE);
		CHECK_EQ(f->insns.at[2].loc, 0);
		CHECK_EQ(f->insns.at[3].loc, 1);
		CHECK_EQ(t.m->locs.at[1].inlined_at, 0);
		CHECK_EQ(t.m->locs.at[2].inlined_at, 1);
		CHECK_EQ(t.m->locs.at[2].function_offset, 4);
		CHECK_EQ(t.m->locs.at[4].inlined_at, 3);
		CHECK_EQ(f->insns.at[5].loc, 4);
	}
	ptx_text_fini(&t);
	t = ptx_text_kernel(".loc 1 5 5, function_name f, inlined_at 1 5 5\nret;\n");
	ptx_text_bad(&t, "appears in no .loc before", "a position inlined at itself");
	ptx_text_fini(&t);
}

int main(void)
{
	check_bytes();
	check_refused();
	check_relocs();
	check_opaque();
	check_sections();
	check_positions();
	return check_done();
}
