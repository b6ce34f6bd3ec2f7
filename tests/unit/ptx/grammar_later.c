/*
 * Modules whose bodies are read later: which are, that each is then the same as in the module read
 * whole, and where errors in them are reported.
 */
#include "tests/check.h"

#include "grammar/parse.h"
#include "src/base/file.h"

#include <dirent.h>
#include <stdlib.h>

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

struct both {
	struct ir_module *whole, *parts;
	struct ptx_later *later;
	struct diag d;
	struct text log;
};

static bool open_both(struct both *b, const char *name, const char *text, size_t size)
{
	struct diag_source source = {name, text, size};

	*b = (struct both){0};
	diag_init(&b->d, diag_collect, &b->log);
	b->whole = ptx_parse(&source, NULL, &b->d);
	b->parts = ptx_parse_later(&source, NULL, &b->later);
	return b->parts != NULL;
}

static void close_both(struct both *b)
{
	ptx_later_free(b->later);
	ir_module_free(b->parts);
	ir_module_free(b->whole);
	diag_fini(&b->d);
	text_fini(&b->log);
}

/* ---- the same ---- */

static void print_insns(const struct ir_module *m, const struct ir_func *f, struct text *out)
{
	for (size_t i = 0; i < f->insns.len; i++) {
		const struct ir_insn *in = &f->insns.at[i];

		ir_print_insn(m, f, in, out);
		text_printf(out, " at %u\n", in->begin);
	}
	for (size_t i = 0; i < f->vars.len; i++)
		text_printf(out, "%s\n", m->vars.at[f->vars.at[i]]->name->text);
}

static bool is_same(const struct both *b, const struct ir_func *f, const struct ir_func *g)
{
	struct text x = {0}, y = {0};
	bool same;

	print_insns(b->whole, f, &x);
	print_insns(b->parts, g, &y);
	same = f->insns.len == g->insns.len && f->regs.len == g->regs.len &&
	       f->labels.len == g->labels.len && f->scopes.len == g->scopes.len &&
	       f->linkage == g->linkage && f->index == g->index && f->name->len == g->name->len &&
	       f->params_len == g->params_len && x.len == y.len &&
	       (!x.len || !memcmp(x.at, y.at, x.len));
	text_fini(&x);
	text_fini(&y);
	return same;
}

/* The last first, as no compiler would have them. */
static bool read_all(struct both *b)
{
	bool ok = true;

	for (size_t i = b->parts->funcs.len; i-- > 0;) {
		struct ir_func *f = b->parts->funcs.at[i];

		ok = ok && (!f->later || ptx_read_body(b->later, f, &b->d)) && !f->later &&
		     b->parts->funcs.at[i] == f;
	}
	return ok && !ptx_later_bytes(b->later);
}

static bool all_same(struct both *b)
{
	bool same = b->whole && b->whole->funcs.len == b->parts->funcs.len && read_all(b);

	for (size_t i = 0; same && i < b->whole->funcs.len; i++)
		same = is_same(b, b->whole->funcs.at[i], b->parts->funcs.at[i]);
	return same && b->whole->locs.len == b->parts->locs.len;
}

static u32 count_later(const struct ir_module *m)
{
	u32 n = 0;

	for (size_t i = 0; m && i < m->funcs.len; i++)
		n += m->funcs.at[i]->later != 0;
	return n;
}

/* Modules of the samples and of tests. */
static void test_folder(const char *folder, u32 parts_min)
{
	const char *root = getenv("srcdir");
	struct dirent *entry;
	char path[8192];
	u32 parts = 0, same = 0;
	DIR *dir;

	root = root ? root : ".";
	snprintf(path, sizeof(path), "%s/%s", root, folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct both b;
		struct file f;

		if (!strstr(entry->d_name, ".ptx"))
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", root, folder, entry->d_name);
		if (!file_open(&f, path))
			continue;
		if (open_both(&b, entry->d_name, (const char *)f.data, f.size) && b.whole) {
			parts++;
			same += all_same(&b);
		}
		close_both(&b);
		file_close(&f);
	}
	if (dir)
		closedir(dir);
	CHECK_MSG(parts >= parts_min, folder);
	CHECK_EQ(same, parts);
}

static const char tricky[] = HEAD
	".file 1 \"a{b.cu\"\n"
	"/* .entry none() { */\n"
	".extern .shared .align 16 .b8 dynamic[];\n"
	".visible .func (.param .b32 r) twice(.param .b32 a);\n"
	".global .align 8 .u64 table[2] = {twice, twice};\n"
	".func (.param .b32 r) again(.param .b32 a)\n"
	".weak // {\n"
	".func (.param .b32 r) twice(.param .b32 a)\n"
	"{ .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.s32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }\n"
	".alias again, twice;\n"
	".visible .entry kernel(.param .u64 p, .param .align 4 .b8 s[8]) .maxntid 32, 1, 1\n"
	"{\n\t.loc 1 3 1\n\t.reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .pred %p<2>;\n"
	"\t.shared .align 4 .b8 x[4], y[4]; // }\n"
	"\t{ /* } */ .param .b32 a; .param .b32 r;\n"
	"\tst.param.b32 [a], 4;\n\tcall.uni (r), twice, (a);\n\tld.param.b32 %r1, [r]; }\n"
	"\t.loc 1 4 1\n\tmov.b64 %rd1, {%r1, %r1};\n"
	"\t@!%p1 bra L;\n\t.pragma \"nounroll\";\nL:\tst.shared.b32 [y], %r1;\n\tret;\n}\n"
	".entry after() .pragma \"nounroll\"; { ret; }\n"
	".entry with_global() { .global .u32 g; .reg .b32 %r<2>; ld.global.b32 %r1, [g]; ret; }\n"
	".entry by_table(.param .u64 f) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
	"\tld.param.u64 %rd1, [f];\n{ .param .b32 a; .param .b32 r;\n"
	"proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
	"call (r), %rd1, (a), proto; } ret; }\n";

static void test_tricky(void)
{
	struct both b;
	bool ok = open_both(&b, "tricky", tricky, sizeof(tricky) - 1);

	CHECK_MSG(ok, "it can be read in parts");
	/* Not the one behind a pragma, and not the one with a variable that has an address. */
	CHECK_EQ(count_later(b.parts), 3);
	CHECK_MSG(ok && b.whole && all_same(&b), "all functions are the same");
	if (b.log.len)
		printf("# %s\n", b.log.at);
	close_both(&b);
}

/* What reading a body adds is known before: nothing moves. */
static void test_room(void)
{
	struct text t = {0};
	struct both b;
	const void *vars, *locs;
	bool ok;

	text_puts(&t,
		  HEAD ".file 1 \"a.cu\"\n.entry k(.param .u64 p, .param .u64 q) {\n.local .b32 a");
	for (u32 i = 0; i < 1000; i++)
		text_printf(&t, " /* ; { */, // ;\n a%u", i);
	text_puts(&t, ";\n");
	for (u32 i = 0; i < 1000; i++)
		text_printf(&t, ".loc 1 %u 1\n{ .reg .b32 r; mov.u32 r, a; }\n", i + 1);
	text_puts(&t, "ret; }\n");
	ok = open_both(&b, "room", t.at, t.len);
	CHECK_MSG(ok && b.whole, "it can be read in parts");
	vars = ok ? b.parts->vars.at : NULL;
	locs = ok ? b.parts->locs.at : NULL;
	CHECK_MSG(ok && all_same(&b), "many variables and lines");
	CHECK_MSG(ok && b.parts->vars.at == vars && b.parts->locs.at == locs, "nothing has moved");
	close_both(&b);
	text_fini(&t);
}

/* ---- what is wrong ---- */

#define KERNEL(name, body) ".entry " name "() {\n.reg .b32 %r<3>;\n" body "\nret;\n}\n"

/* The texts of these errors are the same as of the module read whole. */
static void check_wrong(const char *what, const char *text)
{
	struct text whole = {0};
	struct both b;
	bool ok = open_both(&b, "wrong", text, strlen(text));

	CHECK_MSG(ok && !b.whole, what);
	text_puts(&whole, b.log.at ? b.log.at : "");
	b.log.len = 0;
	for (size_t i = 0; ok && i < b.parts->funcs.len; i++) {
		struct ir_func *f = b.parts->funcs.at[i];
		bool bad = !strcmp(f->name->text, "bad");

		ok = CHECK_EQ(ptx_read_body(b.later, f, &b.d), !bad) && (f->later != 0) == bad &&
		     b.parts->funcs.at[i] == f;
	}
	CHECK_STR(b.log.at ? b.log.at : "", whole.at);
	for (size_t i = 0; ok && i < b.parts->funcs.len; i++)
		if (b.parts->funcs.at[i]->later)
			CHECK_MSG(!ptx_read_body(b.later, b.parts->funcs.at[i], &b.d) &&
					  b.log.len == whole.len,
				  "it stays wrong, and that is said once");
	text_fini(&whole);
	close_both(&b);
}

static void test_wrong(void)
{
	check_wrong("an instruction",
		    HEAD KERNEL("a", "") KERNEL("bad", "add.s32 %r1, %r2;") KERNEL("c", ""));
	check_wrong("an unknown name", HEAD KERNEL("a", "") KERNEL("bad", "mov.b32 %r1, nothing;")
					       KERNEL("c", "mov.b32 %r1, 1;"));
	check_wrong("a label", HEAD KERNEL("bad", "{ bra no; }") KERNEL("c", "no: bra no;"));
	check_wrong("a statement", HEAD KERNEL("bad", "{ add.s32 ( ; }") KERNEL("c", ""));
	check_wrong("a name twice",
		    HEAD KERNEL("bad", ".shared .b32 x; .shared .b32 x;") KERNEL("c", ""));
}

static void check_refused(const char *what, const char *text)
{
	struct both b;

	CHECK_MSG(!open_both(&b, "refused", text, strlen(text)) && !b.later, what);
	close_both(&b);
}

static void test_refused(void)
{
	check_refused("a brace that stays open", HEAD ".entry a() { ret; { }\n");
	check_refused("one too many", HEAD ".entry a() { ret; } }\n");
	check_refused("a function twice", HEAD KERNEL("a", "") KERNEL("a", ""));
	check_refused("an error in a head", HEAD ".entry a(.param .u33 x) { ret; }\n");
	check_refused("an error outside", HEAD ".global .u33 x;" KERNEL("a", ""));
	check_refused("a comment that stays open", HEAD ".entry a() { ret; /* }\n");
	check_refused("a string that stays open", HEAD ".entry a() { .pragma \"x; ret; }\n");
	check_refused("the mark of bodies", HEAD ".entry a() { ret; }\n.entry b() \1\n");
	check_refused("no body", HEAD ".global .u32 x;\n");
	check_refused("no text", "");
}

int main(void)
{
	test_folder("samples", 3);
	test_folder("tests/forms/legal", 20);
	test_tricky();
	test_room();
	test_wrong();
	test_refused();
	return check_done();
}
