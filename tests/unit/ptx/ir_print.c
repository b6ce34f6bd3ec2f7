/*
 * Printing, dumping and comparing modules: the exact text of every kind of operand and directive,
 * and that the comparison notices each difference (the round trips elsewhere would pass with a
 * comparison that notices none).
 */
#include "tests/unit/ptx/ptx_text.h"

static const struct {
	const char *text, *printed; /* NULL: the same */
} cases[] = {
	{"add.s32 r1, r2, 5;", NULL},
	{"add.s32 \t r1,r2 ,-5;", "add.s32 r1, r2, -5;"},
	{"@p add.s32 r1, r2, r3;", NULL},
	{"@!p mov.b32 r1, 0xffffffffffffffff;", "@!p mov.b32 r1, 18446744073709551615U;"},
	{"mov.b32 r1, 7U;", NULL},
	{"mov.b32 r1, -9223372036854775808;", NULL},
	{"mov.b32 r1, 3 + 4 * 2;", "mov.b32 r1, 11;"},
	{"mov.f32 f, 0f3F800000;", NULL},
	{"mov.f32 f, 0F3f800000;", "mov.f32 f, 0f3F800000;"},
	{"mov.f64 g, 1.5;", NULL},
	{"mov.f64 g, 1;", ""},
	{"mov.f64 g, 1e3;", "mov.f64 g, 1000.0;"},
	{"mov.f64 g, 0.1;", NULL},
	{"mov.f64 g, -1e300;", "mov.f64 g, -1e+300;"},
	{"mov.f64 g, 0d3FF0000000000000;", NULL},
	{"mov.f64 g, 0.30000000000000004;", NULL},
	{"mov.f64 g, -0.0;", NULL},
	{"mov.u32 r1, %tid.x;", NULL},
	{"mov.u32 r1, %laneid;", NULL},
	{"ld.global.u32 r1, [rd];", NULL},
	{"ld.u32.global r1, [rd+-4];", "ld.global.u32 r1, [rd+-4];"},
	{"ld.global.u32 r1, [rd+4+4];", "ld.global.u32 r1, [rd+8];"},
	{"ld.global.u32 r1, [arr+8];", NULL},
	{"ld.global.u32 r1, arr[2];", "ld.global.u32 r1, [arr+8];"},
	{"mov.u64 rd, arr;", NULL},
	{"mov.u64 rd, arr+12;", NULL},
	{"mov.u64 rd, arr[1];", "mov.u64 rd, arr+4;"},
	{"ld.local.u32 r1, [16];", NULL},
	{"ld.global.v4.u32 {r1, r2, r3, r4}, [rd];", NULL},
	{"ld.global.v4.f32 v, [rd];", NULL},
	{"mov.f32 f, v.y;", NULL},
	{"mov.f32 f, v.a;", "mov.f32 f, v.w;"},
	{"mov.b64 {r1, _}, rd;", NULL},
	{"mov.b64 rd, {r1, r2};", NULL},
	{"setp.lt.s32 p|q, r1, r2;", NULL},
	{"setp.lt.and.s32 p, r1, r2, !q;", NULL},
	{"ret;", NULL},
	{"bra.uni end;", NULL},
	{"vadd.s32.s32.s32 r1, r2.b1, r3.h1;", NULL},
	{"vmad.s32.s32.s32 r1, -r2, r3, r4;", NULL},
	{"call fun, (a1);", NULL},
	{"call (r1), fun2, (5, r2);", NULL},
	{"call.uni nothing;", NULL},
	{"call (_), fun2, (1, 2);", NULL},
	{"call (r1), rd, (1, 2), proto;", NULL},
	{"fma.rn.ftz.f32 f, f, f, 0f00000000;", "fma.rn.ftz.f32 f, f, f, 0f00000000;"},
	{"fma.ftz.rn.f32 f, f, f, f;", "fma.rn.ftz.f32 f, f, f, f;"},
	{"tex.2d.v4.f32.f32 {f, f, f, f}, [t2, {f, f}];", NULL},
	{"prmt.b32.f4e r1, r2, r3, r4;", NULL},
	{"ld.global.f32 f, [arrf].unified;", NULL},
	{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f,f,f,f}, {r1,r2}, {r3}, {f,f,f,f};",
	 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f, f, f, f}, {r1, r2}, {r3}, {f, f, f, f};"},
};

static void check_instructions(void)
{
	static const char head[] =
		".version 8.0\n.target sm_90\n.address_size 64\n"
		".global .u32 arr[8];\n.global .attribute(.unified(1U, 2U)) .f32 arrf;\n"
		".global .texref t2;\n.func fun(.param .b32 a) { ret; }\n"
		".func (.reg .b32 r) fun2(.reg .b32 a, .reg .b32 b) { mov.b32 r, a; ret; }\n"
		".func nothing() { ret; }\n"
		".visible .entry k()\n{\n.reg .b32 r1, r2, r3, r4;\n.reg .f32 f;\n.reg .f64 g;\n"
		".reg .b64 rd;\n.reg .pred p, q;\n.reg .v4 .f32 v;\n"
		".param .b32 a1;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n";

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ptx_text t = ptx_text_parse(head, cases[i].text, "\nend: ret;\n}\n", true);
		const char *expected = cases[i].printed ? cases[i].printed : cases[i].text;
		const struct ir_func *f = t.m ? ir_find_func(t.m, "k") : NULL;
		struct text out = {0};

		if (!*expected) {
			CHECK_MSG(!f, cases[i].text);
		} else if (ptx_text_good(&t, cases[i].text)) {
			ir_print_insn(t.m, f, &f->insns.at[0], &out);
			CHECK_STR(out.at, expected);
		}
		text_fini(&out);
		ptx_text_fini(&t);
	}
}

/* A module in the form that printing gives. */
static const char canonical[] =
	".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n"
	".file 2 \"b.h\", 17U, 18U\n.pragma \"nounroll\";\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
	".extern .shared .align 16 .b8 dyn[];\n"
	".extern .global .u32 late;\n"
	".visible .global .align 4 .b8 bytes[5] = {1, 2, 3};\n"
	".const .v2 .f32 pair[2] = {{0f3F800000, 0f40000000}, {0fBF800000}};\n"
	".global .attribute(.managed) .u32 managed;\n"
	".weak .global .u64 where[3] = {bytes, generic(bytes)+4, vprintf};\n"
	".global .u8 parts[2] = {0xff(bytes), 0xff00(generic(bytes)+2)};\n"
	".visible .global .u32 late = 5;\n"
	".func helper();\n"
	".func (.reg .b32 r) twice(.reg .b32 x, .param .align 8 .b8 rest[]);\n"
	".func stop() .noreturn .abi_preserve 8;\n"
	".visible .entry k(.param .u64 .ptr .global .align 8 p, "
	".param .align 8 .b8 s[24]) .maxntid 32, 4, 1 .minnctapersm 2\n"
	"\t.pragma \"nounroll\";\n"
	"{\n"
	"\t.reg .pred p1;\n"
	"\t.reg .b32 %r<10>;\n"
	"\t.reg .v2 .b32 v;\n"
	"\t.shared .align 8 .b8 buffer[64];\n"
	"\t.loc 1 3 4\n"
	"\tld.param.u32 %r1, [s+4];\n"
	"table: \t.branchtargets one, two;\n"
	"\t.loc 1 5 6, function_name name+2, inlined_at 1 3 4\n"
	"\tsetp.eq.s32 p1, %r1, 0;\n"
	"one:\n"
	"two:\n"
	"\t{\n"
	"\t\t.param .b64 param0;\n"
	"\t\t.pragma \"nounroll\";\n"
	"\t\t@p1 bra two;\n"
	"\tproto: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
	"\t}\n"
	"\tret;\n"
	"end:\n"
	"}\n"
	".func helper()\n{\n\tret;\n}\n"
	".section .debug_str {\nname:\n\t.b8 102, 0\n}\n"
	".section .debug_info {\n\t.b8 1, 2\n\t.b32 name+1\nmid:\n\t.b64 mid-name\n}\n";

static void check_module(void)
{
	struct ptx_text t = ptx_text_parse(canonical, "", "", true);
	struct text out = {0}, dump = {0};

	if (ptx_text_good(&t, "a module with everything")) {
		const char *a, *b;

		ir_print_module(t.m, &out);
		/* Indentation aside: compare word by word. */
		for (a = canonical, b = out.at; *a && *b; a++, b++) {
			while (*a == ' ' || *a == '\t' || *a == '\n')
				a++;
			while (*b == ' ' || *b == '\t' || *b == '\n')
				b++;
			if (*a != *b || !*a)
				break;
		}
		if (!CHECK_MSG(!*a && !*b, "the print is the text"))
			printf("# at: %.60s\n# and: %.60s\n", a, b);
		ir_dump_module(t.m, &dump);
		CHECK(strstr(dump.at, ": .entry k\n"));
		CHECK(strstr(dump.at, "d=write.u32 %r1, a=address.param [s+4]\n"));
		CHECK(strstr(dump.at, "p=write.pred p1, a=read.s32 %r1, b=read.s32 0\n"));
		CHECK(strstr(dump.at, "@p1 bra  target=label two\n"));
	}
	text_fini(&out);
	text_fini(&dump);
	ptx_text_fini(&t);
}

/* Each change of the text makes another module. */
static void check_differences(void)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{".target sm_90", ".target sm_80"},
		{"\"a.cu\"", "\"b.cu\""},
		{"17U", "16U"},
		{".pragma \"nounroll\"", ".pragma \"nounroll\", \"nounroll\""},
		{"dyn[]", "din[]"},
		{".align 16", ".align 32"},
		{"{1, 2, 3}", "{1, 2, 4}"},
		{"{1, 2, 3}", "{1, 2, 3, 1}"},
		{".visible .global .align 4", ".weak .global .align 4"},
		{"0fBF800000", "0f3F800000"},
		{".attribute(.managed)", ""},
		{"+4, vprintf", "+5, vprintf"},
		{"generic(bytes)+4", "bytes+4"},
		{"0xff00(", "0xff0000("},
		{"late = 5", "late = 6"},
		{"stop() .noreturn", "stop()"},
		{".abi_preserve 8", ".abi_preserve 9"},
		{".ptr .global .align 8", ".ptr .global .align 16"},
		{".ptr .global", ".ptr .shared"},
		{"s[24]", "s[32]"},
		{"32, 4, 1", "32, 4, 2"},
		{"%r<10>", "%r<11>"},
		{".v2 .b32 v", ".v4 .b32 v"},
		{"buffer[64]", "buffer[65]"},
		{".loc 1 3 4\n\tld", ".loc 1 3 4\n\t.loc 1 3 4\n\tld"},
		{"name+2", "name+3"},
		{"[s+4]", "[s+8]"},
		{"one, two", "two, two"},
		{"%r1, 0;", "%r1, 1;"},
		{"setp.eq", "setp.ne"},
		{"%r1, 0;", "%r2, 0;"},
		{"@p1 bra", "@!p1 bra"},
		{"bra two", "bra one"},
		{".b64 param0", ".b32 param0"},
		{"(.param .b64 _);", "(.param .b32 _);"},
		{"end:\n", "last:\n"},
		{"102, 0", "103, 0"},
		{"name+1", "name+2"},
		{"mid-name", "mid-mid"},
		{"\tret;\nend", "\texit;\nend"},
		{"ld.param.u32", "ld.param.s32"},
		{"helper()\n{\n", "helper()\n{\n.reg .b32 a;\n"},
		{"two:\n", "two:\n{}\n"},
	};
	struct ptx_text a = ptx_text_parse(canonical, "", "", true);

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		const char *at = strstr(canonical, changes[i].from);
		struct text changed = {0}, why = {0};
		struct ptx_text b;

		text_add(&changed, canonical, (size_t)(at - canonical));
		text_printf(&changed, "%s%s", changes[i].to, at + strlen(changes[i].from));
		b = ptx_text_parse(changed.at, "", "", true);
		if (!CHECK_MSG(a.m && b.m && !ir_equal(a.m, b.m, &why) && why.len, changes[i].from))
			printf("# %s\n", b.log.at ? b.log.at : "no difference seen");
		text_fini(&why);
		text_fini(&changed);
		ptx_text_fini(&b);
	}
	ptx_text_fini(&a);
}

int main(void)
{
	check_instructions();
	check_module();
	check_differences();
	return check_done();
}
