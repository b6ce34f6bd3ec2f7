/*
 * Broken and hostile texts: several errors of one text are shown, memory and nesting stay within
 * their limits.
 */
#include "tests/unit/ptx/ptx_text.h"

static u32 count_of(const struct text *log, const char *word)
{
	u32 n = 0;

	for (const char *s = log->at; s && (s = strstr(s, word)); s += strlen(word))
		n++;
	return n;
}

static void check_recovery(void)
{
	static const struct {
		const char *what, *body;
		u32 errors;
	} cases[] = {
		{"statements",
		 ".reg .b32 a;\nfoo a;\nmov.b32 a;\nadd.s32 a, a, ;\nmov.b32 a, b;\nmov.b32 a 1;\nret;\n",
		 5},
		{"blocks", "{ { foo; } .reg .b32; } bar x;\n", 3},
		{"declarations",
		 ".reg .pred p[2];\n.local .b8 l[];\n.global .u32 g = 1.5;\n.reg .b32 a<-1>;\n", 4},
		{"unknown names once each", "mov.b32 a, b;\nbra c;\n@p bra c;\n", 3},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ptx_text t = ptx_text_kernel(cases[i].body);

		CHECK(!t.m);
		if (!CHECK_EQ(count_of(&t.log, "error:"), cases[i].errors))
			printf("# %s: %s\n", cases[i].what, t.log.at);
		ptx_text_fini(&t);
	}
}

static void check_error_limit(void)
{
	struct diag_source source = {.name = "test.ptx"};
	struct text body = {0}, log = {0};
	struct diag d;

	text_puts(&body, PTX_KERNEL);
	for (u32 i = 0; i < 1000; i++)
		text_puts(&body, "foo;\n");
	text_puts(&body, "}\n");
	source.text = body.at;
	source.size = body.len;
	diag_init(&d, diag_collect, &log);
	d.error_limit = 7;
	CHECK(!ptx_parse(&source, &(struct ptx_options){.lint = true}, &d));
	CHECK_EQ(count_of(&log, "error:"), 7);
	diag_fini(&d);
	text_fini(&log);
	diag_init(&d, NULL, NULL);
	CHECK(!ptx_parse(&source, &(struct ptx_options){.lint = true}, &d));
	CHECK_EQ(d.errors, 1000);
	diag_fini(&d);
	text_fini(&body);
}

/*
 * A text parsed with 16 MiB and blocks 20 deep: refused with a message, or accepted with little
 * memory.
 */
static void check_hostile(const char *what, const struct text *body, const char *message)
{
	struct ptx_options options = {.memory_limit = 16 << 20, .nesting_limit = 20};
	struct text log = {0};
	struct ir_module *m = exercise_parse("test.ptx", body->at, body->len, &options, &log);

	if (!CHECK_MSG(message ? !m && log.at && strstr(log.at, message)
			       : m && m->arena.used_bytes <= options.memory_limit,
		       what))
		printf("# %.300s\n", log.at ? log.at : "(accepted)");
	ir_module_free(m);
	text_fini(&log);
}

static void check_limits(void)
{
	struct text t = {0};

	text_puts(&t, PTX_KERNEL);
	for (u32 i = 0; i < 21; i++)
		text_puts(&t, "{");
	check_hostile("deep blocks", &t, "nested more than 20 deep");
	t.len = 0;
	text_puts(&t, PTX_KERNEL
		  ".reg .b32 r<16777216>;\nmov.b32 r16777215, 1;\nmov.b32 r0, r8388608;\n}\n");
	check_hostile("few members of a giant family", &t, NULL);
	t.len = 0;
	text_puts(&t, PTX_KERNEL);
	for (u32 i = 0; i < 15; i++)
		text_puts(&t, "{ .reg .b32 r<16777216>;\nmov.b32 r16777215, 1;\n");
	for (u32 i = 0; i < 16; i++)
		text_puts(&t, "}\n");
	check_hostile("giant families in each other", &t, NULL);
	t.len = 0;
	text_puts(&t, PTX_KERNEL);
	for (u32 i = 0; i < 1000; i++)
		text_printf(&t, "t%u: .branchtargets L<65536>;\n", i);
	text_puts(&t, "}\n");
	check_hostile("many ranges of labels", &t, "more memory than allowed");
	t.len = 0;
	text_puts(
		&t, PTX_HEADER
		".global .b8 a[549755813888];\n.global .b8 b[549755813888] = {1};\n.shared .b8 c[1099511627776];\n");
	check_hostile("giant variables", &t, NULL);
	t.len = 0;
	text_puts(&t, PTX_HEADER ".global .b8 a[2][549755813888] = {{1}, {2}};\n");
	check_hostile("a value far away", &t, "more memory than allowed");
	t.len = 0;
	text_puts(&t, PTX_HEADER ".global .u8 x = ");
	for (u32 i = 0; i < 1000000; i++)
		text_puts(&t, "{");
	check_hostile("deep braces", &t, "error");
	t.len = 0;
	text_puts(&t, PTX_HEADER);
	for (u32 i = 0; i < 200000; i++)
		text_printf(&t, ".global .u32 some_long_name_number_%u;\n", i);
	check_hostile("many variables", &t, "more memory than allowed");
	t.len = 0;
	text_puts(&t, PTX_KERNEL "foo {");
	for (u32 i = 0; i < 70000; i++)
		text_puts(&t, "1, ");
	text_puts(&t, "1};\n}\n");
	check_hostile("a long vector", &t, NULL);
	t.len = 0;
	text_puts(&t, PTX_KERNEL "foo 1");
	for (u32 i = 0; i < 70000; i++)
		text_puts(&t, ", 1");
	text_puts(&t, ";\n}\n");
	check_hostile("many operands", &t, "too many operands");
	text_fini(&t);
}

static void check_odd_texts(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "not a PTX module"},
		{"\n\n", "not a PTX module"},
		{".version 8.0", "no .target"},
		{"/* ", "unterminated comment"},
		{".version 8.0\n.target sm_80\n.entry k() { ret;", "expected '}' before the end"},
		{".version 99.0\n.target sm_80\n", "not known"},
		{".version 8.0\n.target sm_80\n\x01", "stray byte"},
		{".version 8.0\n.target sm_80\n\xff\xfe", "stray byte"},
		{".version 8.0\n.target sm_80\n.func \"x\n", "unterminated string"},
		{".version 8.0\n.target sm_80\n@@DWAR x", "3:1: error: unexpected '@'"},
		{".version 8.0\n.target sm_80\n.entry k() { add.:; x:: @@D y; foo.a::b:; 0x; }",
		 "3:17: error: stray '.'"},
	};
	struct ptx_text t;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		t = ptx_text_parse(cases[i].text, "", "", true);
		ptx_text_bad(&t, cases[i].message, cases[i].message);
		ptx_text_fini(&t);
	}
	t = ptx_text_parse(".version 8.0 .target sm_80 .entry k(){ret;}", "", "", true);
	ptx_text_good(&t, "one line without an end");
	ptx_text_fini(&t);
}

/* A module to be run keeps what is not known, and says so when it is reached. */
static void check_poison(void)
{
	struct ptx_text t = ptx_text_parse(
		PTX_KERNEL,
		".reg .b32 a;\n.reg .pred p;\n@!p frob.x32 a,\n  /* odd */ {a, a}, [a+4], nothing;\nret;\n",
		"}\n", false);
	struct ptx_options options = {.lint = false};
	struct text why = {0};
	const struct ir_func *f;

	CHECK(t.m != NULL);
	if (t.m) {
		f = ir_find_func(t.m, "k");
		CHECK_EQ(f->poisons.len, 1);
		CHECK_STR(f->poisons.at[0].text,
			  "@!p frob.x32 a,\n  /* odd */ {a, a}, [a+4], nothing");
		CHECK(strstr(f->poisons.at[0].reason, "unknown instruction 'frob"));
		CHECK(!f->insns.at[0].form);
		if (!CHECK(exercise_round_trip(t.m, &options, &why)))
			printf("# %s\n", why.at);
	}
	text_fini(&why);
	ptx_text_fini(&t);
}

int main(void)
{
	check_recovery();
	check_error_limit();
	check_limits();
	check_odd_texts();
	check_poison();
	return check_done();
}
