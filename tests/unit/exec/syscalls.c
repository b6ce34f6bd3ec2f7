/*
 * Functions outside the modules: vprintf, malloc and free, __assertfail, functions of the host, and
 * those that do not exist.
 */
#include "tests/check.h"
#include "src/lower/lower.h"
#include "tests/unit/exec_harness.h"

#include "src/host/syscall.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
/* clang-format off */
#define DECLARE \
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" \
	".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n" \
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 s);\n"
#define KERNEL \
	".visible .entry k(.param .u64 out)\n{\n" \
	".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f64 %d<4>; .local .align 8 .b8 buf[512];\n" \
	"ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %rd0, %r0, 8, %rd0; " \
	"mov.u64 %rd7, buf; cvta.local.u64 %rd8, %rd7;\n"
#define PRINT \
	"{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; " \
	"st.param.b64 [a], %rd8; call.uni (r), vprintf, (f, a);\n" \
	"ld.param.b32 %r1, [r]; }\ncvt.s64.s32 %rd2, %r1; st.global.u64 [%rd0], %rd2;\n"
/* clang-format on */
#define DONE "ret;\n}\n"

static void collect(void *user, const char *text, size_t len)
{
	text_add(user, text, len);
}

struct machine {
	struct harness h;
	struct text printed;
	struct exec_syscalls calls;
	u64 out;
};

static bool start(struct machine *m, const char *ptx, u64 heap_bytes)
{
	memset(m, 0, sizeof(*m));
	if (!CHECK(harness_open(&m->h, ptx)))
		return false;
	harness_place_vars(&m->h);
	m->calls = (struct exec_syscalls){.print = collect, .user = &m->printed};
	if (heap_bytes)
		m->calls.heap = exec_heap_new(&m->h.mem, heap_bytes);
	m->h.syscalls = &m->calls;
	m->out = mem_alloc(&m->h.mem, 8192, 0, MEM_KIND_DEVICE);
	return true;
}

static void stop(struct machine *m)
{
	exec_heap_free(m->calls.heap);
	text_fini(&m->printed);
	harness_close(&m->h);
}

static u64 result(const struct machine *m, u32 i)
{
	return ((const u64 *)(uintptr_t)m->out)[i];
}

/* ---- printf ---- */

/* `data`: statements that fill buf; one thread prints. */
static void expect_print(const char *format_bytes, const char *data, const char *want, s64 count)
{
	struct text ptx = {NULL, 0, 0, false};
	struct machine m;

	text_puts(&ptx, HEAD DECLARE ".global .align 1 .b8 fmt[] = {");
	text_puts(&ptx, format_bytes);
	text_puts(&ptx, "};\n.global .align 1 .b8 word[] = {119, 111, 114, 100, 0};\n" KERNEL);
	text_puts(&ptx, data);
	text_puts(&ptx, "mov.u64 %rd1, fmt;\n" PRINT DONE);
	if (!start(&m, ptx.at, 0))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 1, &m.out, NULL), STOP_DONE);
	if (!CHECK(m.printed.at ? !strcmp(m.printed.at, want) : !*want))
		printf("# printed '%s', want '%s'\n", m.printed.at ? m.printed.at : "", want);
	CHECK_EQ((s64)result(&m, 0), count);
	stop(&m);
	text_fini(&ptx);
}

/* A text as the bytes of an initialiser. */
static const char *bytes_of(const char *s)
{
	static _Thread_local char out[1000];
	size_t n = 0;

	for (; *s; s++)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%d, ", *s);
	snprintf(out + n, sizeof(out) - n, "0");
	return out;
}

static void test_print(void)
{
	expect_print(bytes_of("hello\n"), "", "hello\n", 0);
	expect_print(bytes_of("%d|%u|%x|%X|%o|%c|%i"),
		     "st.local.u32 [buf], -5; st.local.u32 [buf+4], 7; st.local.u32 [buf+8], 255; "
		     "st.local.u32 [buf+12], 255; st.local.u32 [buf+16], 8;"
		     "st.local.u32 [buf+20], 65; st.local.u32 [buf+24], 2147483647;",
		     "-5|7|ff|FF|10|A|2147483647", 7);
	expect_print(
		bytes_of("%lld %llu %ld %lx %li"),
		"st.local.u64 [buf], -5; st.local.u64 [buf+8], -1; "
		"st.local.u64 [buf+16], 123456789012; st.local.u64 [buf+24], 74565; st.local.u64 [buf+32], 9;",
		"-5 18446744073709551615 123456789012 12345 9", 5);
	/* Small integers come as int, a 64-bit value behind an int is aligned. */
	expect_print(
		bytes_of("%hd %hu|%lld"),
		"st.local.u32 [buf], 65535; st.local.u32 [buf+4], 65537; st.local.u64 [buf+8], 3;",
		"-1 1|3", 3);
	expect_print(
		bytes_of("%f %.2f %e %g %8.3f|%-8.1f| %a %F %G"),
		"mov.f64 %d1, 0d3ff8000000000000; st.local.f64 [buf], %d1; "
		"st.local.f64 [buf+8], %d1; st.local.f64 [buf+16], %d1; st.local.f64 [buf+24], %d1;"
		"st.local.f64 [buf+32], %d1; st.local.f64 [buf+40], %d1; "
		"st.local.f64 [buf+48], %d1; mov.f64 %d2, 0d7ff0000000000000; st.local.f64 [buf+56], %d2;"
		"mov.f64 %d2, 0dfff8000000000000; st.local.f64 [buf+64], %d2;",
		"1.500000 1.50 1.500000e+00 1.5    1.500|1.5     | 0x1.8p+0 INF -NAN", 9);
	expect_print(bytes_of("%5d|%-5d|%05d|%+d|% d|%#x|%.3d"),
		     "st.local.u32 [buf], 42; st.local.u32 [buf+4], 42; st.local.u32 [buf+8], 42; "
		     "st.local.u32 [buf+12], 42; st.local.u32 [buf+16], 42;"
		     "st.local.u32 [buf+20], 42; st.local.u32 [buf+24], 42;",
		     "   42|42   |00042|+42| 42|0x2a|042", 7);
	expect_print(
		bytes_of("[%*d] [%-*d] [%*d] [%.1f]"),
		"st.local.u32 [buf], 6; st.local.u32 [buf+4], 1; st.local.u32 [buf+8], 4; "
		"st.local.u32 [buf+12], 2; st.local.u32 [buf+16], -4;"
		"st.local.u32 [buf+20], 3; mov.f64 %d1, 0d3ff8000000000000; st.local.f64 [buf+24], %d1;",
		"[     1] [2   ] [3   ] [1.5]", 7);
	expect_print(
		bytes_of("%s and %6s%-6s|%.2s|%s %p %p"),
		"mov.u64 %rd1, word; st.local.u64 [buf], %rd1; st.local.u64 [buf+8], %rd1; "
		"st.local.u64 [buf+16], %rd1; st.local.u64 [buf+24], %rd1;"
		"st.local.u64 [buf+32], 0; st.local.u64 [buf+40], 4660; st.local.u64 [buf+48], 0;",
		"word and   wordword  |wo|(null) 0x1234 (nil)", 7);
	expect_print(bytes_of("100%% %y %"), "", "100% %y %", 0);
}

/*
 * Widths and precisions beyond all reason are cut; beyond int they print nothing, nor does what is
 * before them.
 */
static void test_print_wide(void)
{
	static const char *const formats[] = {
		"%65536d|", "%2147483647d|", "%.2147483647d|", "%-1000000d|", "%0065536d|",
	};
	struct text want = {NULL, 0, 0, false};

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		bool left = formats[i][1] == '-', zeros = strchr(".0", formats[i][1]) != NULL;

		want.len = 0;
		text_puts(&want, left ? "7" : "");
		for (u32 n = 1; n < 65535; n++)
			text_puts(&want, zeros ? "0" : " ");
		text_puts(&want, left ? "|" : "7|");
		expect_print(bytes_of(formats[i]), "st.local.u32 [buf], 7;", want.at, 1);
	}
	expect_print(
		bytes_of(
			"%99999999999d|%2147483648d|%.18446744073709551617d|%-9999999999999999999999s|%d|"),
		"st.local.u32 [buf+24], 7;", "|7|", 5);
	want.len = 0;
	text_puts(&want, "7");
	for (u32 n = 1; n < 65535; n++)
		text_puts(&want, " ");
	text_puts(&want, "|1|");
	expect_print(
		bytes_of("%*d|%d|"),
		"st.local.u32 [buf], -2147483648; st.local.u32 [buf+4], 7; st.local.u32 [buf+8], 1;",
		want.at, 3);
	text_fini(&want);
}

/* A format in memory that is filled here, and arguments of every kind behind each other. */
static const char random_format[] =
	HEAD DECLARE ".global .align 8 .b8 fmt[64]; .global .align 8 .b8 args[512];\n" KERNEL
		     "mov.u64 %rd1, fmt; mov.u64 %rd8, args;\n" PRINT DONE;

static void *variable(const struct machine *m, const char *name)
{
	const struct ir_module *unit = m->h.m;

	for (size_t i = 0; i < unit->vars.len; i++)
		if (!strcmp(unit->vars.at[i]->name->text, name))
			return (void *)(uintptr_t)m->h.var_address[i];
	return NULL;
}

static u64 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

/*
 * Whatever the format and the arguments are, printing ends, within a bound, and reads no memory
 * that is not there.
 */
static void test_print_random(void)
{
	static const char alphabet[] =
		"%%%%%%%%%%%%ddiuoxXcsfFeEgGaAphlLjztqn*....1234567890-+ #'$yk|\n\377";
	u64 seed = 88172645463325252u;
	struct machine m;
	u32 sound = 0;

	if (!start(&m, random_format, 0))
		return;
	for (u32 round = 0; round < 1000; round++) {
		u8 *fmt = variable(&m, "fmt");
		u64 *args = variable(&m, "args");
		u32 len = (u32)(next_random(&seed) % 63);
		bool ends = false;
		s64 got;

		for (u32 i = 0; i < len; i++)
			fmt[i] = (u8)alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
		fmt[len] = 0;
		for (u32 i = 0; i < 64; i++)
			args[i] = next_random(&seed) >> next_random(&seed) % 64;
		m.printed.len = 0;
		((u64 *)(uintptr_t)m.out)[0] = 99;
		if (harness_run(&m.h, "k", 1, 1, &m.out, NULL) != STOP_DONE)
			ends = m.h.fault.kind == FAULT_ILLEGAL_ADDRESS &&
			       strstr(m.h.fault.text, "vprintf");
		got = (s64)result(&m, 0);
		sound += (got == 99 ? ends : got >= 0 && got <= 32) && m.printed.len < 40 * 66000;
	}
	CHECK_EQ(sound, 1000);
	stop(&m);
}

static const char no_format[] = HEAD DECLARE KERNEL "mov.u64 %rd1, 0;\n" PRINT DONE;
static const char bad_format[] = HEAD DECLARE KERNEL "mov.u64 %rd1, 64;\n" PRINT DONE;
/* clang-format off */
/* Every second thread of two warps; in the order of threads. The format in shared memory. */
static const char many[] = HEAD DECLARE
	".shared .align 4 .b8 f[8];\n" KERNEL
	"mov.u32 %r2, f; st.shared.u32 [%r2], 2122789; bar.sync 0; cvt.u64.u32 %rd1, %r2; "
	"cvta.shared.u64 %rd1, %rd1; st.local.u32 [buf], %r0;\n"
	"and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra E;\n" PRINT "E: " DONE;
/* clang-format on */

static void test_print_more(void)
{
	struct text want = {NULL, 0, 0, false};
	struct machine m;

	if (!start(&m, no_format, 0))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 1, &m.out, NULL), STOP_DONE);
	CHECK_EQ((s64)result(&m, 0), -1);
	stop(&m);
	if (!start(&m, bad_format, 0))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 1, &m.out, NULL), STOP_FAULT);
	CHECK_EQ(m.h.fault.kind, FAULT_ILLEGAL_ADDRESS);
	CHECK(strstr(m.h.fault.text, "vprintf"));
	stop(&m);
	if (!start(&m, many, 0))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 64, &m.out, NULL), STOP_DONE);
	for (u32 t = 1; t < 64; t += 2)
		text_printf(&want, "%u ", t);
	if (!CHECK(m.printed.at && !strcmp(m.printed.at, want.at)))
		printf("# %s\n", m.printed.at);
	text_fini(&want);
	stop(&m);
}

/* ---- heap ---- */

/* clang-format off */
#define MALLOC(bytes, to) \
	"{ .param .b64 n; .param .b64 r; st.param.b64 [n], " bytes \
	"; call (r), malloc, (n); ld.param.b64 " to ", [r]; }\n"
/* clang-format on */
#define FREE(p) "{ .param .b64 q; st.param.b64 [q], " p "; call free, (q); }\n"

/* clang-format off */
static const char heap[] = HEAD DECLARE KERNEL MALLOC(
	"40",
	"%rd1") "st.u32 [%rd1], %r0; st.u64 [%rd1+32], %rd0; st.global.u64 [%rd0], %rd1;\n" DONE;
static const char give_back[] = HEAD DECLARE KERNEL "mov.u32 %r2, 0;\nL: " MALLOC(
	"1000", "%rd1") "setp.eq.u64 %p1, %rd1, 0; @%p1 trap; st.u32 [%rd1+996], %r2; " FREE("%rd1")
	FREE("0") "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 50; @%p2 bra L; st.global.u64 [%rd0], %rd1;\n" DONE;
/* clang-format on */
static const char double_free[] =
	HEAD DECLARE KERNEL MALLOC("8", "%rd1") FREE("%rd1") FREE("%rd1") DONE;

static void test_heap(void)
{
	struct machine m;
	u32 zero = 0, bad = 0;

	if (!start(&m, heap, 64 * 48))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 64, &m.out, NULL), STOP_DONE);
	for (u32 t = 0; t < 64; t++) {
		u64 p = result(&m, t);

		bad += !p || p % 16 || *(u32 *)(uintptr_t)p != t ||
		       exec_heap_size(m.calls.heap, p) != 40;
	}
	CHECK_EQ(bad, 0);
	/* All of it is in use now. */
	CHECK_EQ(exec_heap_take(m.calls.heap, 1), 0);
	for (u32 t = 0; t < 64; t += 2)
		CHECK(exec_heap_give(m.calls.heap, result(&m, t)));
	CHECK_EQ(exec_heap_take(m.calls.heap, 49), 0);
	CHECK(!exec_heap_give(m.calls.heap, result(&m, 0)) &&
	      !exec_heap_give(m.calls.heap, result(&m, 1) + 16));
	for (u32 t = 1; t < 64; t += 2)
		CHECK(exec_heap_give(m.calls.heap, result(&m, t)));
	/* Merged again into one extent. */
	CHECK(exec_heap_take(m.calls.heap, 64 * 48) == result(&m, 0));
	/* What does not fit is 0, and the kernel goes wrong where it writes there. */
	CHECK_EQ(harness_run(&m.h, "k", 1, 64, &m.out, NULL), STOP_FAULT);
	CHECK_EQ(m.h.fault.kind, FAULT_ILLEGAL_ADDRESS);
	stop(&m);

	if (!start(&m, give_back, EXEC_HEAP_DEFAULT))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 2, 256, &m.out, NULL), STOP_DONE);
	for (u32 t = 0; t < 256; t++)
		zero += !result(&m, t);
	CHECK_EQ(zero, 0);
	CHECK(exec_heap_take(m.calls.heap, EXEC_HEAP_DEFAULT) != 0);
	stop(&m);

	if (!start(&m, double_free, 1 << 20))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 1, &m.out, NULL), STOP_FAULT);
	CHECK(strstr(m.h.fault.text, "free of 0x"));
	stop(&m);
	if (!start(&m, heap, 0)) /* no heap at all */
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 1, &m.out, NULL), STOP_FAULT);
	stop(&m);
}

/* ---- assertions ---- */

static const char assertion[] = HEAD DECLARE
	".global .b8 msg[] = {120, 62, 49, 0}; .global .b8 file[] = {97, 46, 99, 117, 0}; "
	".global .b8 fn[] = {118, 111, 105, 100, 32, 107, 0};\n" KERNEL
	"setp.lt.u32 %p1, %r0, 34; @%p1 bra E; setp.gt.u32 %p2, %r0, 35; @%p2 bra E; "
	"mov.u64 %rd1, msg; mov.u64 %rd2, file; mov.u64 %rd3, fn;\n"
	"{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; "
	"st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; st.param.b32 [c], 17;\n"
	"st.param.b64 [d], %rd3; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }\n"
	"st.global.u64 [%rd0], 1;\nE: " DONE;

static void test_assertion(void)
{
	struct machine m;

	if (!start(&m, assertion, 0))
		return;
	CHECK_EQ(harness_run(&m.h, "k", 1, 64, &m.out, NULL), STOP_FAULT);
	CHECK_EQ(m.h.fault.kind, FAULT_ASSERT);
	CHECK_EQ(m.h.fault.lanes, 12);
	CHECK_EQ(m.h.fault.thread[0], 34);
	CHECK(!strcmp(m.h.fault.text,
		      "a.cu:17: void k: block: [0,0,0], thread: [34,0,0] Assertion `x>1` failed."));
	CHECK(m.printed.at &&
	      !strcmp(m.printed.at,
		      "a.cu:17: void k: block: [0,0,0], thread: [34,0,0] Assertion `x>1` failed.\n"
		      "a.cu:17: void k: block: [0,0,0], thread: [35,0,0] Assertion `x>1` failed.\n"));
	CHECK_EQ(result(&m, 34), 0);
	stop(&m);
}

/* ---- host functions and others ---- */

__attribute__((visibility("default"))) u64 exec_syscalls_mix(u8 a, s16 b, u32 c, u64 d, float e,
							     double f);

u64 exec_syscalls_mix(u8 a, s16 b, u32 c, u64 d, float e, double f)
{
	return a + (u64)(s64)b + c + d + (u64)e + (u64)f;
}

__attribute__((visibility("default"))) float exec_syscalls_half(float x);

float exec_syscalls_half(float x)
{
	return x / 2;
}

__attribute__((visibility("default"))) void exec_syscalls_store(u64 at, u32 x);

void exec_syscalls_store(u64 at, u32 x)
{
	*(u32 *)(uintptr_t)at = x;
}

static const char host[] = HEAD
	".extern .func (.param .b64 r) exec_syscalls_mix(.param .b8 a, .param .s16 b, "
	".param .b32 c, .param .b64 d, .param .f32 e, .param .f64 f);\n"
	".extern .func (.param .f32 r) exec_syscalls_half(.param .f32 x);\n"
	".extern .func exec_syscalls_store(.param .b64 p, .param .b32 x);\n" KERNEL
	".reg .f32 %f<3>; .reg .b16 %h<2>;\n"
	"{ .param .b8 a; .param .s16 b; .param .b32 c; .param .b64 d; .param .f32 e; "
	".param .f64 f; .param .b64 r; st.param.b8 [a], 200; mov.u16 %h0, -3; st.param.s16 [b], %h0;\n"
	"st.param.b32 [c], %r0; st.param.b64 [d], 1000000000000; mov.f32 %f1, 0f40400000; "
	"st.param.f32 [e], %f1; mov.f64 %d1, 0d4010000000000000; st.param.f64 [f], %d1;\n"
	"call (r), exec_syscalls_mix, (a, b, c, d, e, f); ld.param.b64 %rd1, [r]; }\n"
	"{ .param .f32 x; .param .f32 r; st.param.f32 [x], %f1; call (r), exec_syscalls_half, (x); "
	"ld.param.f32 %f2, [r]; }\n"
	"mul.f32 %f2, %f2, %f1; add.f32 %f2, %f2, %f2; cvt.rzi.u64.f32 %rd2, %f2; "
	"add.u64 %rd1, %rd1, %rd2; st.global.u64 [%rd0], %rd1;\n"
	"{ .param .b64 p; .param .b32 x; st.param.b64 [p], %rd0; st.param.b32 [x], 77; "
	"setp.eq.u32 %p1, %r0, 5; @%p1 call exec_syscalls_store, (p, x); }\n" DONE;

/* clang-format off */
static const char missing[] = HEAD ".extern .func nobody_has_this(.param .b32 x);\n" KERNEL
	"setp.eq.u32 %p1, %r0, 33; st.global.u64 [%rd0], 1; @%p1 call nobody_has_this, (1);\n" DONE;
/* clang-format on */
static const char by_value[] = HEAD
	".extern .func (.param .b64 r) exec_syscalls_mix(.param .align 8 .b8 p[16]);\n" KERNEL
	"{ .param .align 8 .b8 p[16]; .param .b64 r; st.param.b64 [p], 1; call (r), exec_syscalls_mix, (p); }\n" DONE;

/* Without being allowed by its whole name, a function of the host is as missing as any other. */
static void test_host_allowed(struct machine *m)
{
	static const char *const lists[] = {
		NULL,
		"",
		"exec_syscalls_mix",
		"exec_syscalls_store",
		"exec_syscalls_halfway,exec_syscalls_mix",
		"xexec_syscalls_half,exec_syscalls_mix",
		"exec_syscalls_mix,exec_syscalls_hal",
		"ALL",
		"all,",
	};

	if (!start(m, host, 0))
		return;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		m->h.host_functions = lists[i];
		CHECK_EQ(harness_run(&m->h, "k", 1, 64, &m->out, NULL), STOP_FAULT);
		CHECK_EQ(m->h.fault.kind, FAULT_ILLEGAL_INSTRUCTION);
		CHECK(strstr(m->h.fault.text, "has no definition here"));
	}
	m->h.host_functions = "all";
	CHECK_EQ(harness_run(&m->h, "k", 1, 64, &m->out, NULL), STOP_DONE);
	stop(m);
}

static void test_host(void)
{
	struct machine m;
	u32 bad = 0;

	if (!start(&m, host, 0))
		return;
	m.h.host_functions = "exec_syscalls_store,exec_syscalls_half,exec_syscalls_mix";
	CHECK_EQ(harness_run(&m.h, "k", 1, 64, &m.out, NULL), STOP_DONE);
	for (u32 t = 0; t < 64; t++) {
		u64 want = 1000000000000 + 200 - 3 + t + 3 + 4 + 9;

		bad += result(&m, t) != (t == 5 ? (want & ~0xffffffffull) + 77 : want);
	}
	CHECK_EQ(bad, 0);
	stop(&m);
	test_host_allowed(&m);
	if (!start(&m, missing, 0))
		return;
	m.h.host_functions = "all";
	CHECK_EQ(harness_run(&m.h, "k", 1, 32, &m.out, NULL), STOP_DONE);
	CHECK_EQ(harness_run(&m.h, "k", 1, 64, &m.out, NULL), STOP_FAULT);
	CHECK_EQ(m.h.fault.kind, FAULT_ILLEGAL_INSTRUCTION);
	CHECK(!strcmp(m.h.fault.text, "function 'nobody_has_this' has no definition here"));
	CHECK_EQ(m.h.fault.lanes, 2);
	stop(&m);
	if (!start(&m, by_value, 0))
		return;
	m.h.host_functions = "all";
	CHECK_EQ(harness_run(&m.h, "k", 1, 1, &m.out, NULL), STOP_FAULT);
	CHECK(strstr(m.h.fault.text, "exec_syscalls_mix"));
	stop(&m);
}

/* A function of the API layer goes before the runtime's own. */
static enum fault_kind own_malloc(struct exec_call *c)
{
	u32 block[3], thread[3];

	exec_call_place(c, block, thread);
	exec_call_return(c, 1000 * exec_call_argument(c, 0) + thread[0]);
	return exec_call_argument(c, 0) == 9 ? exec_call_fail(c, FAULT_UNSUPPORTED, "nine")
					     : FAULT_NONE;
}

static const char added[] =
	HEAD DECLARE KERNEL MALLOC("3", "%rd1") "st.global.u64 [%rd0], %rd1;\n" DONE;

static void test_added(void)
{
	static const struct exec_extern list[] = {{"malloc", own_malloc}, {NULL, NULL}};
	struct lower_options options = {.externs = list};
	struct program *p;
	struct machine m;

	if (!start(&m, added, 0))
		return;
	p = exec_lower(m.h.m, ir_find_func(m.h.m, "k"), arch_find("h200"), m.h.var_address,
		       &options, &m.h.d);
	if (CHECK(p)) {
		CHECK_EQ(p->extern_len, 1);
		CHECK(p->externs[0].run == own_malloc);
		exec_program_free(p);
	}
	stop(&m);
}

/* The limit may change until the first block is taken. */
static void test_heap_limit(void)
{
	struct exec_heap *h;
	struct mem m;

	if (!CHECK(mem_init(&m, (u64)1 << 30)))
		return;
	h = exec_heap_new(&m, 1 << 20);
	CHECK(exec_heap_resize(h, 4 << 20) && exec_heap_limit(h) == 4 << 20);
	CHECK(exec_heap_take(h, 2 << 20) != 0);
	CHECK(!exec_heap_resize(h, 8 << 20) && exec_heap_limit(h) == 4 << 20);
	exec_heap_free(h);
	mem_fini(&m);
}

int main(void)
{
	test_print();
	test_print_more();
	test_print_wide();
	test_print_random();
	test_heap();
	test_assertion();
	test_host();
	test_added();
	test_heap_limit();
	return check_done();
}
