/*
 * Loads whose lanes reach anywhere: every shape of value, from global, shared and generic
 * addresses, by index and by pointer, for all lanes of a warp, some and one, at every level of the
 * host. Lanes that take no part keep their registers; those that are misaligned or outside fault,
 * and no others. And additions in shared memory in which lanes meet.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define THREADS 96u
#define VALUES 256u /* in the table, of up to 32 bytes each */
#define SHARED_BYTES 4096u
#define KEPT 0x5aa5u

static const char *const levels[] = {"base", "v2", "v3", "v4"};

static const struct shape {
	const char *type, *registers;
	u32 size, count;
	bool wide, is_signed; /* rows of 64 bits */
} shapes[] = {
	{".u8", "%x0", 1, 1, false, false},
	{".s8", "%x0", 1, 1, false, true},
	{".u16", "%x0", 2, 1, false, false},
	{".u32", "%x0", 4, 1, false, false},
	{".u64", "%y0", 8, 1, true, false},
	{".u32", "%y0", 4, 1, true, false},
	{".s32", "%y0", 4, 1, true, true},
	{".v2.u16", "{%x0,%x1}", 2, 2, false, false},
	{".v2.u32", "{%x0,%x1}", 4, 2, false, false},
	{".v4.u32", "{%x0,%x1,%x2,%x3}", 4, 4, false, false},
	{".v4.u8", "{%x0,%x1,%x2,%x3}", 1, 4, false, false},
	{".v2.u64", "{%y0,%y1}", 8, 2, true, false},
	{".v2.u32", "{%y0,%y1}", 4, 2, true, false},
};

/* How lanes take part: by a guard, by a branch; and which of them. */
enum part { PART_ALL, PART_GUARD, PART_BRANCH, PARTS };

static const u32 masks[] = {0xffffffffu, 0x00ff00ffu, 0x80000001u,
			    0x00000400u, 0x5a5af00fu, 0x7fffffffu};

/* How the lanes' indices lie. */
enum order { ORDER_ANY, ORDER_ROW, ORDER_SAME, ORDER_HALVES, ORDERS };

static u32 index_of(enum order order, u32 lane)
{
	switch (order) {
	case ORDER_ROW:
		return lane + 3;
	case ORDER_SAME:
		return 7;
	case ORDER_HALVES:
		return lane / 16 * 50 + lane % 16;
	default:
		return (lane * 37 + 11) % 128;
	}
}

static const char *const spaces[] = {"global", "shared", "generic", "global"};
#define BY_POINTER 3u /* the last one: the address is loaded, not computed from an index */

/* in: of each thread index or address, and whether it takes part. */
static void write_kernel(struct text *t, const struct shape *s, u32 space, enum part part)
{
	u32 bytes = s->size * s->count;
	bool shared = space == 1;

	text_printf(
		t,
		".version 8.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 in, .param .u64 table, .param .u64 out)\n{\n"
		".reg .pred %%p; .reg .b32 %%t,%%i,%%u,%%x<4>; .reg .b64 %%a,%%b,%%o,%%d,%%y<4>;\n"
		".shared .align 16 .b8 s[%u];\n"
		"ld.param.u64 %%a,[in]; ld.param.u64 %%b,[table]; ld.param.u64 %%o,[out]; mov.u32 %%t,%%tid.x;\n"
		"mad.wide.u32 %%a,%%t,16,%%a; mad.wide.u32 %%o,%%t,32,%%o; ld.global.u32 %%i,[%%a]; "
		"ld.global.u32 %%u,[%%a+4]; setp.ne.u32 %%p,%%u,0;\n",
		SHARED_BYTES);
	for (u32 i = 0; i < 4; i++)
		text_printf(t, "mov.b32 %%x%u,%u; mov.b64 %%y%u,%u;\n", i, KEPT, i, KEPT);
	/* Threads copy the table to shared memory, a word at a time. */
	text_printf(
		t,
		"mov.u32 %%u,%%t;\nC: shl.b32 %%t,%%u,2; cvt.u64.u32 %%d,%%t; add.u64 %%d,%%d,%%b;\n");
	text_printf(
		t,
		"ld.global.u32 %%t,[%%d]; mov.u64 %%d,s; cvt.u32.u64 %%x0,%%d; shl.b32 %%x1,%%u,2; "
		"add.u32 %%x0,%%x0,%%x1; st.shared.u32 [%%x0],%%t;\n"
		"add.u32 %%u,%%u,%u; { .reg .pred %%q; setp.lt.u32 %%q,%%u,%u; @%%q bra C; }\n"
		"bar.sync 0; mov.b32 %%x0,%u; mov.b32 %%x1,%u;\n",
		THREADS, SHARED_BYTES / 4, KEPT, KEPT);
	if (shared)
		text_printf(t, "mul.lo.u32 %%i,%%i,%u; mov.u32 %%t,s; add.u32 %%i,%%i,%%t;\n",
			    bytes);
	else if (space == BY_POINTER)
		text_printf(t, "ld.global.u64 %%d,[%%a+8];\n");
	else
		text_printf(t, "mul.wide.s32 %%d,%%i,%u; add.u64 %%d,%%d,%%b;\n", bytes);
	if (part == PART_BRANCH)
		text_printf(t, "@!%%p bra E;\n");
	text_printf(t, "%s ld%s%s%s %s,[%s];\nE:\n", part == PART_GUARD ? "@%p" : "",
		    space == 2 ? "" : ".", space == 2 ? "" : spaces[space], s->type, s->registers,
		    shared ? "%i" : "%d");
	for (u32 i = 0; i < 4; i++)
		text_printf(t,
			    s->wide ? "st.global.u64 [%%o+%u],%%y%u;\n"
				    : "st.global.u32 [%%o+%u],%%x%u;\n",
			    8 * i, i);
	text_printf(t, "ret; }\n");
}

struct input {
	u32 index, on;
	u64 address;
};

/* What element e of a value has to become. */
static u64 want_element(const struct shape *s, const u8 *value, u32 e)
{
	u64 v = 0;

	memcpy(&v, value + e * s->size, s->size);
	if (s->is_signed)
		v = (u64)((s64)(v << (64 - 8 * s->size)) >> (64 - 8 * s->size));
	return s->wide ? v : (u32)v;
}

static bool is_right(const struct shape *s, const struct input *in, const u8 *table, const u8 *out)
{
	bool ok = true;

	for (u32 t = 0; t < THREADS; t++)
		for (u32 e = 0; e < s->count; e++) {
			u64 want = in[t].on ? want_element(s,
							   table + (size_t)in[t].index * s->size *
									   s->count,
							   e)
					    : KEPT,
			    got = 0;

			memcpy(&got, out + 32 * t + 8 * e, s->wide ? 8 : 4);
			ok &= got == want;
		}
	return ok;
}

struct case_of {
	struct harness h;
	struct input *in;
	u8 *table, *out;
};

static enum exec_stop run_case(struct case_of *c, const char *level)
{
	u64 params[3] = {(u64)(uintptr_t)c->in, (u64)(uintptr_t)c->table, (u64)(uintptr_t)c->out};

	memset(c->out, 0, 32 * THREADS);
	return harness_run(&c->h, "k", 1, THREADS, params, level);
}

static void fill_input(struct case_of *c, const struct shape *s, enum order order, u32 mask,
		       bool all)
{
	for (u32 t = 0; t < THREADS; t++) {
		c->in[t].index = index_of(order, t % 32);
		c->in[t].on = all || mask >> t % 32 & 1;
		c->in[t].address =
			(u64)(uintptr_t)c->table + (u64)c->in[t].index * s->size * s->count;
	}
}

static void test_values(struct case_of *c, const struct shape *s, enum part part, const char *level)
{
	bool ok = true;

	for (u32 order = 0; order < ORDERS; order++)
		for (u32 m = 0; m < (part == PART_ALL ? 1 : ARRAY_LEN(masks)); m++) {
			fill_input(c, s, (enum order)order, masks[m], part == PART_ALL);
			ok &= run_case(c, level) == STOP_DONE &&
			      is_right(s, c->in, c->table, c->out);
		}
	CHECK_MSG(ok, s->type);
}

/* One lane of those that take part is wrong; then it takes no part. */
static void test_fault(struct case_of *c, const struct shape *s, enum part part, u64 bad,
		       enum fault_kind kind, const char *level)
{
	fill_input(c, s, ORDER_ANY, 0x0ff00ff0u, false);
	c->in[32 + 9].address = bad;
	CHECK_MSG(run_case(c, level) == STOP_FAULT && c->h.fault.kind == kind &&
			  c->h.fault.address == bad,
		  "the one lane that is wrong faults");
	c->in[32 + 9].on = 0;
	if (part != PART_ALL)
		CHECK_MSG(run_case(c, level) == STOP_DONE && is_right(s, c->in, c->table, c->out),
			  "and does not if it takes no part");
}

static void test_shape(const struct shape *s, u32 space, enum part part)
{
	struct text t = {NULL, 0, 0, false};
	struct case_of c;
	size_t bytes = (size_t)VALUES * 32;

	write_kernel(&t, s, space, part);
	if (!CHECK_MSG(harness_open(&c.h, t.at), s->type))
		return;
	c.in = (void *)(uintptr_t)mem_alloc(&c.h.mem, sizeof(struct input) * THREADS, 0,
					    MEM_KIND_DEVICE);
	c.table = (void *)(uintptr_t)mem_alloc(&c.h.mem, bytes, 0, MEM_KIND_DEVICE);
	c.out = (void *)(uintptr_t)mem_alloc(&c.h.mem, 32 * THREADS, 0, MEM_KIND_DEVICE);
	for (size_t i = 0; i < bytes; i++)
		c.table[i] = (u8)(i * 151 + i / 256 * 7);
	for (u32 i = 0; i < ARRAY_LEN(levels); i++) {
		if (!exec_ops_select(levels[i]))
			continue;
		test_values(&c, s, part, levels[i]);
		if (space == BY_POINTER && s->size * s->count > 1)
			test_fault(&c, s, part, (u64)(uintptr_t)c.table + s->size * s->count + 1,
				   FAULT_MISALIGNED_ADDRESS, levels[i]);
		if (space == BY_POINTER)
			test_fault(&c, s, part, (u64)1 << 44, FAULT_ILLEGAL_ADDRESS, levels[i]);
	}
	harness_close(&c.h);
	text_fini(&t);
}

/* ---- additions in shared memory whose old value nothing reads ---- */

static const char sums_ptx[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 in, .param .u64 table, .param .u64 out)\n{\n"
	".reg .pred %p; .reg .b32 %t,%i,%u,%a; .reg .b64 %b,%o; .shared .align 4 .b8 s[384];\n"
	"ld.param.u64 %b,[in]; ld.param.u64 %o,[out]; mov.u32 %t,%tid.x; mad.wide.u32 %b,%t,16,%b;\n"
	"mad.wide.u32 %o,%t,32,%o; ld.global.u32 %i,[%b]; ld.global.u32 %u,[%b+4]; setp.ne.u32 %p,%u,0;\n"
	"mov.u32 %a,s; mad.lo.u32 %a,%t,4,%a; st.shared.u32 [%a],0; bar.sync 0;\n"
	"mov.u32 %a,s; mad.lo.u32 %a,%i,4,%a; add.u32 %u,%t,1;\n"
	"@%p atom.shared.add.u32 %i,[%a],%u;\n"
	"bar.sync 0; mov.u32 %a,s; mad.lo.u32 %a,%t,4,%a; ld.shared.u32 %u,[%a];\n"
	"st.global.u32 [%o],%u; ret; }\n";

static bool sums_are_right(const struct case_of *c)
{
	u32 want[THREADS] = {0}, got;
	bool ok = true;

	for (u32 t = 0; t < THREADS; t++)
		if (c->in[t].on)
			want[c->in[t].index] += t + 1;
	for (u32 t = 0; t < THREADS; t++) {
		memcpy(&got, c->out + 32 * t, 4);
		ok &= got == want[t];
	}
	return ok;
}

static void test_sums_at(struct case_of *c, const char *level)
{
	for (u32 order = 0; order < ORDERS; order++)
		for (u32 m = 0; m < ARRAY_LEN(masks); m++) {
			fill_input(c, &shapes[0], (enum order)order, masks[m], false);
			for (u32 t = 0; t < THREADS; t++)
				c->in[t].index %= THREADS;
			CHECK_MSG(run_case(c, level) == STOP_DONE && sums_are_right(c), level);
		}
	c->in[40].on = 1;
	c->in[40].index = 1u << 20;
	CHECK_MSG(run_case(c, level) == STOP_FAULT && c->h.fault.kind == FAULT_ILLEGAL_ADDRESS,
		  "an addition outside of shared memory faults");
}

static void test_sums(void)
{
	struct case_of c;

	if (!CHECK_MSG(harness_open(&c.h, sums_ptx), "sums"))
		return;
	c.in = (void *)(uintptr_t)mem_alloc(&c.h.mem, sizeof(struct input) * THREADS, 0,
					    MEM_KIND_DEVICE);
	c.table = (void *)c.in;
	c.out = (void *)(uintptr_t)mem_alloc(&c.h.mem, 32 * THREADS, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < ARRAY_LEN(levels); i++)
		if (exec_ops_select(levels[i]))
			test_sums_at(&c, levels[i]);
	harness_close(&c.h);
}

int main(void)
{
	for (u32 i = 0; i < ARRAY_LEN(levels); i++)
		check_level(exec_ops_select(levels[i]) != NULL, levels[i]);
	for (u32 i = 0; i < ARRAY_LEN(shapes); i++)
		for (u32 space = 0; space < ARRAY_LEN(spaces); space++)
			for (u32 part = 0; part < PARTS; part++)
				test_shape(&shapes[i], space, (enum part)part);
	test_sums();
	return check_done();
}
