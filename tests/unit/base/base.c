/* src/base: arena, vector, map, interned strings, text, files, located messages. */
#include "src/base/demangle.h"
#include "src/base/diag.h"
#include "src/base/file.h"
#include "src/base/intern.h"
#include "src/base/map.h"
#include "src/base/nearest.h"
#include "src/base/setting.h"
#include "src/base/size.h"
#include "src/base/vec.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void test_arena(void)
{
	struct arena a;
	u8 *p;

	arena_init(&a, 1 << 20);
	p = arena_alloc(&a, 100);
	CHECK(p && !((uintptr_t)p & 15) && p[0] == 0 && p[99] == 0);
	CHECK(arena_alloc(&a, 2 << 20) == NULL);
	CHECK(arena_alloc(&a, SIZE_MAX) == NULL);
	CHECK_STR(arena_strdup(&a, "abcdef", 3), "abc");
	arena_fini(&a);
	CHECK(a.chunks == NULL && a.limit_bytes == 1 << 20);
}

static void test_vec(void)
{
	VEC(u32) v = {0};
	bool good = true;

	for (u32 i = 0; i < 1000; i++)
		good &= VEC_PUSH(&v, i);
	for (u32 i = 0; i < 1000; i++)
		good &= v.at[i] == i;
	CHECK(good && v.len == 1000 && v.cap >= 1000);
	CHECK(!VEC_RESERVE(&v, SIZE_MAX - 500) && v.len == 1000);
	CHECK(!VEC_RESERVE(&v, SIZE_MAX / 2) && v.len == 1000 && v.at[999] == 999);
	CHECK(VEC_RESERVE(&v, 5000) && v.cap >= 6000);
	VEC_FREE(&v);
	CHECK(!v.at && !v.len && !v.cap);
}

static void test_map(void)
{
	struct map m = {0};
	bool good = true;

	CHECK(map_get(&m, 1) == NULL);
	for (u64 i = 1; i <= 10000; i++)
		good &= map_set(&m, i << 12, i);
	for (u64 i = 1; i <= 10000; i++)
		good &= map_get(&m, i << 12) && *map_get(&m, i << 12) == i;
	CHECK(good);
	CHECK(map_get(&m, 10001 << 12) == NULL);
	CHECK(map_set(&m, 1 << 12, 7) && *map_get(&m, 1 << 12) == 7 && m.len == 10000);
	/* Those that were pushed on by the removed ones are still found. */
	for (u64 i = 1; i <= 10000; i += 3)
		map_remove(&m, i << 12);
	map_remove(&m, 10001 << 12);
	good = true;
	for (u64 i = 2; i <= 10000; i++)
		good &= (i % 3 == 1) == !map_get(&m, i << 12) &&
			(i % 3 == 1 || *map_get(&m, i << 12) == i);
	CHECK(good && m.len == 10000 - 3334);
	map_fini(&m);
}

static void test_intern(void)
{
	struct arena a = {0};
	struct intern t;
	bool good = true;
	char name[32];

	intern_init(&t, &a);
	CHECK(intern_find(&t, "x", 1) == NULL);
	for (int i = 0; i < 5000; i++) {
		size_t n = (size_t)snprintf(name, sizeof(name), "%%r%d", i);
		const struct str *s = intern_get(&t, name, n);

		good &= s && s == intern_get(&t, name, n) && s == intern_find(&t, name, n) &&
			s->len == n;
	}
	CHECK(good && t.len == 5000);
	CHECK(intern_get(&t, "", 0) == intern_get(&t, "abc", 0));
	intern_fini(&t);
	arena_fini(&a);
}

static void test_text(void)
{
	struct text t = {0};

	text_json_string(&t, "a\"\\\n\x01\xc3\xa9\xff");
	CHECK_STR(t.at, "\"a\\\"\\\\\\u000a\\u0001\xc3\xa9\\ufffd\"");
	text_fini(&t);
	/* Overlong, surrogate, past U+10FFFF, cut short: one replacement for each byte. */
	text_json_string(&t, "\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
	CHECK_STR(t.at, "\"\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
			"\\ufffd\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\"");
	text_fini(&t);
}

static void test_file(void)
{
	char path[] = "base-test-XXXXXX";
	int fd = mkstemp(path);
	struct file f;

	CHECK(fd >= 0 && write(fd, "hello", 5) == 5);
	CHECK(file_open(&f, path) && f.mapped && f.size == 5 && !memcmp(f.data, "hello", 5));
	file_close(&f);
	CHECK(!f.data && !f.size);
	CHECK(ftruncate(fd, 0) == 0 && file_open(&f, path) && f.size == 0 && f.data[0] == 0);
	file_close(&f);
	close(fd);
	unlink(path);
	CHECK(!file_open(&f, path) && errno == ENOENT && !f.data);
	CHECK(!file_open(&f, ".") && errno == EISDIR);
	CHECK(file_open(&f, "/dev/null") && f.size == 0);
	file_close(&f);
	CHECK(file_put(path, "one", 3) && file_put(path, "four", 4));
	CHECK(file_open(&f, path) && f.size == 4 && !memcmp(f.data, "four", 4));
	file_close(&f);
	CHECK(file_put(path, NULL, 0) && file_open(&f, path) && f.size == 0);
	file_close(&f);
	CHECK(!unlink(path) && file_put(path, "new", 3) && !access(path, R_OK));
	CHECK(!file_put("/dev/full", "x", 1) && errno == ENOSPC);
	CHECK(file_put("/dev/null", "x", 1));
	CHECK(!file_put("/nonexistent/file", "x", 1) && errno == ENOENT);
	CHECK(!file_put(".", "x", 1) && errno == EISDIR);
	CHECK(!unlink(path));
}

/* The mark stands below what it marks: tabs are eight columns, a UTF-8 sequence is one. */
static void test_diag_marks(void)
{
	static const char utf8[] = "\xc3\xa9 = \xc3\xa4\xc3\xb6;";
	struct diag_source src = {"u.ptx", utf8, sizeof(utf8) - 1};
	struct text out = {0}, line = {0};
	struct diag d;

	diag_init(&d, diag_collect, &out);
	diag_at(&d, DIAG_WARNING, &src, (struct diag_span){5, 9}, NULL, "w");
	CHECK_STR(out.at, "u.ptx:1:6: warning: w\n"
			  "     1 | \xc3\xa9 = \xc3\xa4\xc3\xb6;\n"
			  "       |     ^~\n");
	text_fini(&out);
	/* A long line shows a window around the mark. */
	for (int i = 0; i < 1000; i++)
		text_puts(&line, i == 500 ? "X" : "-");
	src = (struct diag_source){"long.ptx", line.at, line.len};
	diag_fini(&d);
	diag_init(&d, diag_collect, &out);
	diag_at(&d, DIAG_NOTE, &src, (struct diag_span){500, 501}, NULL, "n");
	CHECK(out.at && strstr(out.at, "long.ptx:1:501: note: n\n") == out.at);
	CHECK(out.len < 500 && strstr(out.at, "...") && strchr(out.at, 'X') && strchr(out.at, '^'));
	CHECK_EQ(strchr(out.at, 'X') - strstr(out.at, "     1 |"),
		 strchr(out.at, '^') - strstr(out.at, "       |"));
	diag_fini(&d);
	text_fini(&out);
	text_fini(&line);
}

static void test_diag(void)
{
	static const char ptx[] = ".version 7.0\n\tadd.s32 %r1, %f2;\r\nlast";
	struct diag_source src = {"k.ptx", ptx, sizeof(ptx) - 1};
	struct text out = {0};
	struct diag d;
	u32 line, column;

	diag_init(&d, diag_collect, &out);
	d.error_limit = 2;
	diag_at(&d, DIAG_ERROR, &src, (struct diag_span){27, 30}, "add.type d, a, b",
		"operand %d is %s", 2, ".f32");
	CHECK_STR(out.at, "k.ptx:2:15: error: operand 2 is .f32\n"
			  "     2 |         add.s32 %r1, %f2;\n"
			  "       |                      ^~~\n"
			  "hint: add.type d, a, b\n");
	CHECK_STR(d.first_error.at, "k.ptx:2:15: error: operand 2 is .f32");
	CHECK(!diag_full(&d));
	diag_at(&d, DIAG_ERROR, &src, (struct diag_span){0, 1}, NULL, "first line");
	CHECK(diag_full(&d) && strstr(out.at, "k.ptx:1:1: error: first line\n") != NULL);
	diag_at(&d, DIAG_ERROR, &src, (struct diag_span){0, 1}, NULL, "hidden");
	CHECK(d.errors == 3 && !strstr(out.at, "hidden"));
	diag_locate(&src, 35, &line, &column);
	CHECK(line == 3 && column == 3);
	diag_fini(&d);
	text_fini(&out);
}

static void test_demangle(void)
{
	struct text t = {0};

	demangle("_Z5scalePfi", &t);
	CHECK_STR(t.at, "_Z5scalePfi");
	demangle_prepare();
	text_puts(&t, " ");
	demangle("_Z5scalePfi", &t);
	text_puts(&t, " ");
	demangle("__nv_static_42__1234_7_file_cu_scale__Z5scalePfi", &t);
	text_puts(&t, " ");
	demangle("_Znonsense", &t);
	text_puts(&t, " ");
	demangle("_Z5scaleB2v1B3abcPfi", &t);
	text_puts(&t, " ");
	demangle("saxpy", &t);
	/* Without a C++ library names stay as they are. */
	if (strstr(t.at, "scale(float*, int)"))
		CHECK_STR(t.at, "_Z5scalePfi scale(float*, int) scale(float*, int) _Znonsense "
				"scale(float*, int) saxpy");
	CHECK(demangle_wants("_Z5scalePfi") && !demangle_wants("saxpy"));
	text_fini(&t);
}

/* What is not a mangled name stands for a demangled one; @ is a part of 200 letters. */
static void test_demangle_short(void)
{
	char part[200];
	static const char *const names[][2] = {
		{"f(int)", "f(int)"},
		{"void (anonymous namespace)::outer<inner<@>, (Kind)1>(inner<@>*, int)",
		 "void (anonymous namespace)::outer<inner<...>, (Kind)1>(inner<...>*, int)"},
		{"void f<@>(decltype(a->b), @) const", "void f<...>(...) const"},
		{"f<leaf<@, ((1)<(2))>>(S<@>)", "f<leaf<...>>(S<...>)"},
		{"S::operator()(@)::{lambda(A<int>)#1}::operator()(A<int>) const",
		 "S::operator()(...)::{lambda(A<int>)#1}::operator()(A<int>) const"},
		{"S& operator<<(S&, V<@>)", "S& operator<<(S&, V<...>)"},
	};

	memset(part, 'x', sizeof(part));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct text name = {0}, t = {0};

		for (const char *at = names[i][0]; *at; at++)
			text_printf(&name, "%.*s", *at == '@' ? 200 : 1, *at == '@' ? part : at);
		demangle_short(name.at, &t);
		CHECK_STR(t.at, names[i][1]);
		text_fini(&t);
		text_fini(&name);
	}
}

static const char *near(const char *word)
{
	static const char *const words[] = {"CHECK", "CLANG", "ASYNC", "LOG"};
	struct nearest n;

	nearest_init(&n, word, strlen(word));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		nearest_offer(&n, words[i], strlen(words[i]));
	return n.best ? n.best : "none";
}

static void test_nearest(void)
{
	char lengthy[100];

	CHECK_STR(near("CHEK"), "CHECK");
	CHECK_STR(near("CHCEK"), "CHECK");
	CHECK_STR(near("ASINK"), "ASYNC");
	CHECK_STR(near("LGO"), "LOG");
	CHECK_STR(near("WORKERS"), "none");
	CHECK_STR(near(""), "none");
	memset(lengthy, 'A', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = 0;
	CHECK_STR(near(lengthy), "none");
}

static u64 parsed(enum setting s, const char *value)
{
	struct text why = {0};
	u64 v = 12345;
	bool ok = setting_parse(s, "--it", value, &v, &why);

	CHECK(ok == !why.at && (ok || !strncmp(why.at, "--it takes ", 11)));
	text_fini(&why);
	return v;
}

static void test_setting(void)
{
	struct text why = {0};

	CHECK_EQ(parsed(SETTING_TIMEOUT, "5000"), 5000);
	CHECK_EQ(parsed(SETTING_TIMEOUT, "7ms"), 7);
	CHECK_EQ(parsed(SETTING_TIMEOUT, "5s"), 5000);
	CHECK_EQ(parsed(SETTING_TIMEOUT, "2min"), 120000);
	CHECK_EQ(parsed(SETTING_TIMEOUT, "1h"), 3600000);
	CHECK_EQ(parsed(SETTING_TIMEOUT, "18446744073709551615h"), 12345);
	CHECK_EQ(parsed(SETTING_SEED, "0x10"), 16);
	CHECK_EQ(parsed(SETTING_SEED, "18446744073709551616"), 12345);
	CHECK_EQ(parsed(SETTING_ASYNC, "eager"), 1);
	CHECK_EQ(parsed(SETTING_ASYNC, ""), 12345);
	CHECK_EQ(parsed(SETTING_PROGRESS, "never"), 2);
	CHECK_EQ(parsed(SETTING_PROGRESS, "10s"), SETTING_SECONDS | 10);
	CHECK_EQ(parsed(SETTING_PROGRESS, "0"), SETTING_SECONDS);
	CHECK_EQ(parsed(SETTING_PROGRESS, "10m"), 12345);
	CHECK_EQ(parsed(SETTING_PROGRESS, "18446744073709551615"), 12345);
	CHECK_EQ(parsed(SETTING_CHECK, "mem"), 1);
	CHECK_EQ(parsed(SETTING_HOST_ACCESS, "01"), 12345);
	CHECK_EQ(parsed(SETTING_DEVICE, "h100"), 12345);
	setenv("PTXLOOM_SEED", "", 1);
	CHECK_EQ(setting_number(SETTING_SEED, 3), 3);
	setenv("PTXLOOM_SEED", "nine", 1);
	CHECK_EQ(setting_number(SETTING_SEED, 3), 3);
	CHECK(!settings_check(&why) && strstr(why.at, "PTXLOOM_SEED takes a number"));
	setenv("PTXLOOM_SEED", "9", 1);
	CHECK_EQ(setting_number(SETTING_SEED, 3), 9);
	unsetenv("PTXLOOM_SEED");
	text_fini(&why);
}

/* What does not fit is refused: sums, products and ranges at the edge of 64 bits. */
static void test_size(void)
{
	u64 n;

	CHECK(size_add(UINT64_MAX - 1, 1, &n) && n == UINT64_MAX);
	CHECK(!size_add(UINT64_MAX, 1, &n));
	CHECK(size_mul((u64)1 << 32, ((u64)1 << 32) - 1, &n) && n == UINT64_MAX - UINT32_MAX);
	CHECK(!size_mul((u64)1 << 32, (u64)1 << 32, &n));
	CHECK(size_mul_add(3, 4, 5, &n) && n == 17);
	CHECK(!size_mul_add((u64)1 << 60, 15, (u64)1 << 60, &n));
	CHECK(size_align_up(513, 512, &n) && n == 1024);
	CHECK(size_align_up(UINT64_MAX - 511, 512, &n) && n == UINT64_MAX - 511);
	CHECK(!size_align_up(UINT64_MAX - 510, 512, &n));
	CHECK(size_inside(4, 4, 0, 8) && !size_inside(4, 5, 0, 8) && size_inside(8, 0, 0, 8));
	CHECK(!size_inside(3, 1, 4, 8) && !size_inside(4, UINT64_MAX, 4, 8));
	CHECK(size_inside(UINT64_MAX, 1, UINT64_MAX - 7, 8) && !size_inside(1, UINT64_MAX, 0, 8));
	CHECK(size_is_range(UINT64_MAX, 0) && !size_is_range(UINT64_MAX, 1));
	CHECK(size_offset(1, 2, 10, 3, 100, &n) && n == 321);
	/* The row of 2^30 bytes that begins at (2^34) * 2^30. */
	CHECK(!size_offset(4, (u64)1 << 34, (u64)1 << 30, 0, 0, &n));
	CHECK(!size_offset(0, 0, 0, (u64)1 << 33, (u64)1 << 33, &n));
	CHECK(!size_offset(UINT64_MAX, 1, 1, 0, 0, &n));
}

int main(void)
{
	test_size();
	test_arena();
	test_vec();
	test_map();
	test_intern();
	test_text();
	test_file();
	test_diag();
	test_diag_marks();
	test_demangle();
	test_demangle_short();
	test_nearest();
	test_setting();
	return check_done();
}
