/*
 * Fuzzer of expressions: what users and editors type, changed word by word, is parsed, typed,
 * evaluated at some place of a program, and shown. Nothing may crash, hang or leak; what fails says
 * so in one line, and what is dry writes nothing.
 *   fuzz_expr                       the same changes each run
 *   fuzz_expr --long [N [FIRST]]    N of them
 *   fuzz_expr FILE ..               expressions, one a line, that were found elsewhere
 */
#include "tests/fuzz/mutate.h"
#include "tests/unit/dbg/fake.h"

#define ROUNDS 20000
#define CHANGES_MAX 5

static const char *const seeds[] = {
	"local",
	"local.at.x + 1",
	"head->next->value",
	"nodes[1].color",
	"*this",
	"this->slot",
	"ring.items[2]",
	"stats::hits",
	"(Color)5",
	"BLUE | 2",
	"*(Node *)16",
	"tile[1]@4",
	"*square@3",
	"half + 1",
	"&square",
	"Node::slot",
	"&Node::value",
	"local.*&Point::x",
	"(&local)->*&Point::x",
	"local.Base::x",
	"sizeof(N) * 2",
	"sizeof local.at",
	"alignof(Node)",
	"(T)1",
	"'hits'",
	"'shapes.cu'::tile",
	"shapes.cu::tile[0]",
	"{int} 16",
	"{Node} &nodes[0]",
	"static_cast<int>(half)",
	"reinterpret_cast<Node *>(&nodes[0])->value",
	"const_cast<int *>(square)",
	"int(1.5)",
	"float(7) / 2",
	"(int (*)[3])tile",
	"(@shared int *)0x20",
	"$a = 5",
	"$a++ + ++$a",
	"$s = local",
	"$s.at",
	"$",
	"$$",
	"$$2",
	"$1",
	"$r1",
	"%r1 + %tid.x",
	"%laneid",
	"$pc",
	"threadIdx.x * blockDim.x",
	"1 ? 2 : 3",
	"1 && 0 || !1",
	"x = y = 3",
	"x += 4",
	"x <<= 2",
	"-5 % 3",
	"7 / 0",
	"1.0 / 0",
	"~0u >> 3",
	"0x7fffffffffffffff + 1",
	"18446744073709551615",
	"1e308 * 10",
	"'a' + '\\n'",
	"\"text\"[2]",
	"\"a\\x41\\101\"",
	"(1, 2)",
	"a[b[c[d[0]]]]",
	"((((((1))))))",
	"- - - ! ~ + 1",
	"f(1, local, &tile[0])",
	"Ring<int, 3>::sum(&r)",
	"Ring<Ring<int, 3>, 2>",
	"ns::f<int>::x",
	"unsigned long long",
	"const volatile struct Node *",
	"int *(*)[4]",
	"void",
	"(void)1",
	"(char)65",
	"nodes[0] == nodes[1]",
	"local @ 3",
	"tile[100000000]",
	"tile[-1]",
	"*0",
	"*(char *)0",
	"&*&*local",
	"&&local",
	"p->",
	"a.",
	"::g",
	"@global int *",
};

static const char *const words[] = {
	"(",
	")",
	"[",
	"]",
	"{",
	"}",
	"<",
	">",
	",",
	".",
	"->",
	".*",
	"->*",
	"::",
	"@",
	"@shared",
	"*",
	"&",
	"++",
	"--",
	"=",
	"+=",
	"<<",
	">>=",
	"?",
	":",
	"sizeof",
	"alignof",
	"static_cast<",
	"reinterpret_cast<int>(",
	"int",
	"unsigned",
	"long",
	"struct",
	"const",
	"Node",
	"local",
	"tile",
	"this",
	"$",
	"$$9999999999",
	"%",
	"%r",
	"0",
	"-1",
	"9223372036854775808",
	"0xffffffffffffffff",
	"1e999",
	"1.",
	".5",
	"0b",
	"0x",
	"08",
	"'",
	"''",
	"'\\",
	"\"",
	"\"\\",
	"\\",
	"`",
	"#",
	"\x01",
	"\xff",
	"((((((((((((((((((((((((((((((((((((((((",
	"- - - - - - - - - - - - - - - - - - - - - - - -",
	"[[[[[[[[[[[[[[[[[[[[",
	"<<<<<<<<<<<<<<<<<<",
};

static struct fake programs[2];
static u64 shown_bytes, evaluated, parsed;

/* Mostly somewhere in a function, else where only types and variables of the module are. */
static void go_somewhere(struct fake *x, u64 *state)
{
	const struct ir_func *f = x->m->funcs.at[mutate_next(state) % x->m->funcs.len];

	x->c.place = (struct dbg_place){0};
	x->c.inlined = 0;
	if (f->insns.len && mutate_next(state) % 4) {
		x->c.place = (struct dbg_place){f, (u32)(mutate_next(state) % f->insns.len)};
		x->c.inlined = mutate_next(state) % 4 == 0;
	}
}

static void one_line(const struct text *why, bool good, const char *text)
{
	if (!good && (!why->len || strchr(why->at, '\n'))) {
		printf("# %s: %s\n", text, why->at ? why->at : "no message");
		CHECK_MSG(false, "what fails says so in one line");
	}
}

static void show(struct fake *x, struct dbg_expr *e, const struct dbg_value *v, const char *text,
		 u64 *state)
{
	static const char letters[] = "\0\0\0xduotzfcsa";
	struct dbg_format f = {.letter = letters[mutate_next(state) % (sizeof(letters) - 1)],
			       .pretty = mutate_next(state) % 4 == 0};
	struct text out = {0}, why = {0};
	u32 number;
	bool good = dbg_value_print(&x->c, v, &f, &out, &why);

	one_line(&why, good, text);
	dbg_type_describe(v->type, mutate_next(state) % 2, &out);
	if (good && mutate_next(state) % 8 == 0)
		dbg_session_keep(x->c.session, &x->c, v, &number, &why);
	shown_bytes += out.len;
	text_fini(&out);
	text_fini(&why);
	(void)e;
}

static void run_expression(struct fake *x, const char *text, u64 *state)
{
	struct text why = {0};
	struct dbg_expr *e = dbg_expr_parse(&x->c, text, &why);
	struct dbg_value v;
	u32 writes = x->writes;
	bool good;

	one_line(&why, e != NULL, text);
	parsed += e != NULL;
	if (e && !dbg_expr_type(e)) {
		x->c.dry = true;
		text_fini(&why);
		good = dbg_expr_eval(e, &x->c, &v, &why);
		one_line(&why, good, text);
		if (x->writes != writes)
			CHECK_MSG(false, "what is dry writes nothing");
		x->c.dry = false;
		text_fini(&why);
		good = dbg_expr_eval(e, &x->c, &v, &why);
		one_line(&why, good, text);
		evaluated += good;
		if (good)
			show(x, e, &v, text, state);
	} else if (e) {
		dbg_type_describe(dbg_expr_type(e), mutate_next(state) % 2, &why);
		shown_bytes += why.len;
	}
	dbg_expr_free(e);
	text_fini(&why);
}

static void change(struct text *t, u64 *state)
{
	const char *other = seeds[mutate_next(state) % ARRAY_LEN(seeds)];
	const char *word = words[mutate_next(state) % ARRAY_LEN(words)];
	size_t size = 0, at = t->len ? mutate_token(t, mutate_next(state) % t->len, &size) : 0;

	switch (mutate_next(state) % 6) {
	case 0:
		mutate_replace(t, at, size, other, strlen(other));
		break;
	case 1:
		mutate_replace(t, at, 0, other, strlen(other));
		break;
	case 2:
		mutate_replace(t, at, mutate_next(state) % 2 ? size : 0, word, strlen(word));
		break;
	case 3:
		mutate_replace(t, at, size, "", 0);
		break;
	case 4:
		text_puts(t, word);
		break;
	default:
		if (t->len)
			t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u64 state = mutate_state(size);
	struct text t = {0};

	for (size_t at = 0; at < size; at += t.len + 1) {
		const char *s = (const char *)data + at, *end = memchr(s, '\n', size - at);

		t.len = 0;
		text_add(&t, s, end ? (size_t)(end - s) : size - at);
		for (u32 k = 0; k < 2 && t.at; k++) {
			go_somewhere(&programs[k], &state);
			run_expression(&programs[k], t.at, &state);
		}
	}
	text_fini(&t);
	return 0;
}

int main(int argc, char **argv)
{
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);

	if (!fake_open_file(&programs[0], "shapes.nvcc.ptx") ||
	    !fake_open_file(&programs[1], "shapes.clang.ptx"))
		return 1;
	if (!mutate_makes(argc, argv))
		return mutate_files(argc - 1, argv + 1);
	for (u64 i = r.first; i < r.first + r.n; i++) {
		struct fake *x = &programs[i % 2];
		u64 state = mutate_state(i);
		const char *seed = seeds[mutate_next(&state) % ARRAY_LEN(seeds)];
		struct text t = {0};

		text_puts(&t, seed);
		for (u64 n = mutate_next(&state) % (CHANGES_MAX + 1); n; n--)
			change(&t, &state);
		go_somewhere(x, &state);
		if (t.at)
			run_expression(x, t.at, &state);
		text_fini(&t);
	}
	printf("# %llu changed, %llu parsed, %llu evaluated, %llu bytes shown\n",
	       (unsigned long long)r.n, (unsigned long long)parsed, (unsigned long long)evaluated,
	       (unsigned long long)shown_bytes);
	CHECK_MSG(evaluated > r.n / 20, "changed expressions do no harm");
	fake_close(&programs[0]);
	fake_close(&programs[1]);
	return check_done();
}
