/*
 * Streams and events: order within and between streams, concurrency, calls, faults, many threads.
 */
#include "src/dev/stream/stream.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	/* add(p, v): *p += v after some work, not atomically */
	".visible .entry add(.param .u64 p, .param .u32 v) {\n"
	"	.reg .u64 %p; .reg .u32 %v, %x;\n"
	"	ld.param.u64 %p, [p]; ld.param.u32 %v, [v];\n"
	"	ld.global.u32 %x, [%p]; add.u32 %x, %x, %v; st.global.u32 [%p], %x; ret;\n}\n"
	/* append(p, v): *p = *p * 3 + v: the order shows */
	".visible .entry append(.param .u64 p, .param .u32 v) {\n"
	"	.reg .u64 %p; .reg .u32 %v, %x;\n"
	"	ld.param.u64 %p, [p]; ld.param.u32 %v, [v];\n"
	"	ld.global.u32 %x, [%p]; mad.lo.u32 %x, %x, 3, %v; st.global.u32 [%p], %x; ret;\n}\n"
	/* wait(p, v): until *p == v; atomic with the host, so of the system's scope */
	".visible .entry wait(.param .u64 p, .param .u32 v) {\n"
	"	.reg .u64 %p; .reg .u32 %v, %x; .reg .pred %q;\n"
	"	ld.param.u64 %p, [p]; ld.param.u32 %v, [v];\n"
	"again:	atom.sys.global.or.b32 %x, [%p], 0; setp.ne.u32 %q, %x, %v; @%q bra again; ret;\n}\n"
	/* meet(p, v): set p[v], wait for p[1 - v] */
	".visible .entry meet(.param .u64 p, .param .u32 v) {\n"
	"	.reg .u64 %p, %a; .reg .u32 %v, %x; .reg .pred %q;\n"
	"	ld.param.u64 %p, [p]; ld.param.u32 %v, [v];\n"
	"	mul.wide.u32 %a, %v, 4; add.u64 %a, %a, %p; atom.global.or.b32 %x, [%a], 1;\n"
	"	sub.u32 %v, 1, %v; mul.wide.u32 %a, %v, 4; add.u64 %a, %a, %p;\n"
	"again:	atom.global.or.b32 %x, [%a], 0; setp.eq.u32 %q, %x, 0; @%q bra again; ret;\n}\n"
	".visible .entry trap(.param .u64 p, .param .u32 v) { trap; }\n"
	".visible .entry empty(.param .u64 p, .param .u32 v) { ret; }\n";

static struct streams *all;
static struct sched_pool *pool;
static struct arch_devices profiles;
static struct device dev;
static struct device_program *program;
static int faults;
static u64 memory;

static void on_fault(void *user, enum status status, const struct device_fault *fault)
{
	(void)user, (void)status, (void)fault;
	__atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
}

static void open_device(void)
{
	struct device_text t = {.name = "test", .text = text, .size = sizeof(text) - 1};
	struct diag d;

	diag_init(&d, diag_print, stderr);
	CHECK_EQ(device_init(&dev, profiles.at[0], pool, exec_ops_select(NULL), NULL),
		 STATUS_SUCCESS);
	CHECK_EQ(stream_device_open(all, &dev, on_fault, NULL), STATUS_SUCCESS);
	CHECK_EQ(device_program_load(&dev, &t, 1, IR_LINK_WHOLE, &d, &program), STATUS_SUCCESS);
	memory = mem_alloc(&dev.mem, 1 << 16, 256, MEM_KIND_MANAGED);
	memset((void *)(uintptr_t)memory, 0, 1 << 16);
	diag_fini(&d);
}

static void close_device(void)
{
	stream_device_close(&dev);
	device_program_unload(program);
	device_fini(&dev);
}

static enum status launch(struct stream *s, const char *kernel, u64 p, u32 v)
{
	void *args[] = {&p, &v};
	struct device_launch l = {.kernel = device_program_kernel(program, kernel),
				  .grid = {1, 1, 1},
				  .block = {1, 1, 1},
				  .may_inline = true,
				  .args = args};

	return stream_launch(s, &l);
}

static u32 load(u64 p)
{
	return __atomic_load_n((u32 *)(uintptr_t)p, __ATOMIC_SEQ_CST);
}

static void store(u64 p, u32 v)
{
	__atomic_store_n((u32 *)(uintptr_t)p, v, __ATOMIC_SEQ_CST);
}

static struct stream *new_stream(u32 flags)
{
	struct stream *s = NULL;

	CHECK_EQ(stream_create(&dev, flags, 0, &s), STATUS_SUCCESS);
	return s;
}

/* As the kernel `append`, on the host. */
struct append {
	u64 p;
	u32 v;
};

static enum status append(void *data, enum status so_far)
{
	struct append *a = data;

	(void)so_far;
	store(a->p, load(a->p) * 3 + a->v);
	return STATUS_SUCCESS;
}

static void order_in_a_stream(void)
{
	struct stream *s = new_stream(0);
	u32 expected = 0;

	launch(s, "wait", memory + 64, 1);
	for (u32 i = 1; i < 40; i++) {
		struct append a = {memory, i};

		if (i % 3 == 0)
			stream_call(s, append, &a, sizeof(a), i % 2 ? STREAM_HOST : STREAM_COPY);
		else
			launch(s, "append", memory, i);
		expected = expected * 3 + i;
	}
	CHECK_EQ(stream_query(s), STATUS_NOT_READY);
	CHECK_EQ(load(memory), 0);
	store(memory + 64, 1);
	CHECK_EQ(stream_wait(s), STATUS_SUCCESS);
	CHECK_EQ(load(memory), expected);
	CHECK_EQ(stream_query(s), STATUS_SUCCESS);
	CHECK_EQ(stream_destroy(all, s), STATUS_SUCCESS);
	CHECK_EQ(stream_destroy(all, s), STATUS_INVALID_HANDLE);
	CHECK(!stream_resolve(&dev, s, false));
	CHECK(!stream_resolve(&dev, &s, false));
}

static void concurrency(void)
{
	struct stream *a = new_stream(0), *b = new_stream(0);

	store(memory, 0), store(memory + 4, 0);
	launch(a, "meet", memory, 0);
	launch(b, "meet", memory, 1);
	CHECK_EQ(stream_wait(a), STATUS_SUCCESS);
	CHECK_EQ(stream_wait(b), STATUS_SUCCESS);
	stream_destroy(all, a);
	stream_destroy(all, b);
}

/* An event that is recorded again stands for its last record alone, whichever ends first. */
static void event_recorded_again(void)
{
	struct stream *a = new_stream(STREAM_NON_BLOCKING), *b = new_stream(STREAM_NON_BLOCKING);
	struct stream_event *e;

	stream_event_create(&dev, 0, &e);
	store(memory + 64, 0), store(memory + 128, 0);
	launch(a, "wait", memory + 64, 1);
	stream_event_record(e, a, 0);
	launch(b, "wait", memory + 128, 1);
	stream_event_record(e, b, 0);
	store(memory + 64, 1);
	CHECK_EQ(stream_wait(a), STATUS_SUCCESS);
	CHECK_EQ(stream_event_query(e), STATUS_NOT_READY);
	store(memory + 128, 1);
	CHECK_EQ(stream_event_wait(e), STATUS_SUCCESS);
	CHECK_EQ(stream_event_query(e), STATUS_SUCCESS);
	stream_event_destroy(all, e);
	stream_destroy(all, a);
	stream_destroy(all, b);
}

/* Work of one stream waits for that of another, through an event. */
static void events(void)
{
	struct stream *a = new_stream(STREAM_NON_BLOCKING), *b = new_stream(STREAM_NON_BLOCKING);
	struct stream_event *e, *f, *plain;
	f32 ms = -1;

	stream_event_create(&dev, 0, &e);
	stream_event_create(&dev, 0, &f);
	stream_event_create(&dev, STREAM_EVENT_NO_TIMING, &plain);
	CHECK_EQ(stream_event_query(e), STATUS_SUCCESS);
	CHECK_EQ(stream_event_elapsed(e, f, &ms), STATUS_INVALID_HANDLE);
	store(memory, 0), store(memory + 64, 0);
	stream_event_record(e, a, 0);
	launch(a, "wait", memory + 64, 1);
	launch(a, "append", memory, 1);
	stream_event_record(f, a, 0);
	stream_wait_event(b, f, 0);
	launch(b, "append", memory, 2);
	CHECK_EQ(stream_event_query(e), STATUS_SUCCESS);
	CHECK_EQ(stream_event_query(f), STATUS_NOT_READY);
	CHECK_EQ(stream_query(b), STATUS_NOT_READY);
	CHECK_EQ(stream_event_elapsed(e, f, &ms), STATUS_NOT_READY);
	usleep(3000);
	store(memory + 64, 1);
	CHECK_EQ(stream_event_wait(f), STATUS_SUCCESS);
	CHECK_EQ(stream_wait(b), STATUS_SUCCESS);
	CHECK_EQ(load(memory), 5);
	CHECK_EQ(stream_event_elapsed(e, f, &ms), STATUS_SUCCESS);
	CHECK(ms >= 3 && ms < 60000);
	CHECK_EQ(stream_event_elapsed(e, plain, &ms), STATUS_INVALID_HANDLE);
	CHECK_EQ(stream_event_destroy(all, e), STATUS_SUCCESS);
	CHECK_EQ(stream_event_destroy(all, e), STATUS_INVALID_HANDLE);
	/* Gone while it is recorded, and while a thread waits for it. */
	store(memory + 64, 0);
	launch(a, "wait", memory + 64, 1);
	stream_event_record(f, a, 0);
	stream_wait_event(b, f, 0);
	launch(b, "append", memory, 1);
	stream_event_destroy(all, f);
	stream_destroy(all, a);
	CHECK_EQ(stream_query(b), STATUS_NOT_READY);
	store(memory + 64, 1);
	CHECK_EQ(stream_wait(b), STATUS_SUCCESS);
	CHECK_EQ(load(memory), 16);
	stream_destroy(all, b);
}

static void legacy_stream(void)
{
	struct stream *a = new_stream(0), *n = new_stream(STREAM_NON_BLOCKING),
		      *legacy = stream_resolve(&dev, NULL, false),
		      *own = stream_resolve(&dev, NULL, true);

	CHECK(stream_is_legacy(legacy) && legacy == stream_resolve(&dev, (void *)1, true));
	CHECK(own && own != legacy && own == stream_resolve(&dev, (void *)2, false));
	store(memory, 0), store(memory + 64, 0), store(memory + 128, 0);
	launch(a, "wait", memory + 64, 1);
	launch(a, "append", memory, 1);
	launch(legacy, "append", memory, 2);
	launch(own, "append", memory, 1);
	launch(legacy, "append", memory, 2);
	launch(a, "append", memory, 1);
	launch(n, "append", memory + 128, 7);
	CHECK_EQ(stream_wait(n), STATUS_SUCCESS);
	CHECK_EQ(load(memory + 128), 7);
	CHECK_EQ(load(memory), 0);
	CHECK_EQ(stream_query(legacy), STATUS_NOT_READY);
	store(memory + 64, 1);
	CHECK_EQ(stream_wait(a), STATUS_SUCCESS);
	CHECK_EQ(load(memory), (((1 * 3 + 2) * 3 + 1) * 3 + 2) * 3 + 1);
	/* Waiting for it is waiting for the blocking ones. */
	store(memory + 64, 0);
	launch(a, "wait", memory + 64, 1);
	CHECK_EQ(stream_query(legacy), STATUS_NOT_READY);
	store(memory + 64, 1);
	CHECK_EQ(stream_wait(legacy), STATUS_SUCCESS);
	CHECK_EQ(stream_query(a), STATUS_SUCCESS);
	stream_destroy(all, a);
	stream_destroy(all, n);
	CHECK_EQ(stream_destroy(all, legacy), STATUS_INVALID_HANDLE);
}

static enum status polled(void *data, enum status so_far)
{
	(void)so_far;
	return load(*(u64 *)data) ? STATUS_SUCCESS : STATUS_NOT_READY;
}

/* In a host function nothing may be issued. */
static enum status issue_inside(void *data, enum status so_far)
{
	struct append *a = data;
	struct stream *legacy = stream_resolve(&dev, NULL, false);

	(void)so_far;
	store(a->p, (u32)launch(legacy, "add", memory, 1) * 1000 + (u32)stream_device_wait(&dev));
	return STATUS_SUCCESS;
}

static void calls(void)
{
	struct stream *a = new_stream(STREAM_NON_BLOCKING), *b = new_stream(STREAM_NON_BLOCKING);
	struct append x = {memory, 5};
	u8 large[1000] = {0};
	u64 flag = memory + 64;

	store(memory, 0), store(flag, 0);
	memcpy(large, &x, sizeof(x));
	stream_call(a, polled, &flag, sizeof(flag), STREAM_POLL);
	stream_call(a, append, large, sizeof(large), 0);
	CHECK_EQ(stream_query(a), STATUS_NOT_READY);
	/* A call of another stream is not held up. */
	stream_call(b, append, &(struct append){memory + 128, 1}, sizeof(x), STREAM_HOST);
	CHECK_EQ(stream_wait(b), STATUS_SUCCESS);
	store(flag, 1);
	CHECK_EQ(stream_wait(a), STATUS_SUCCESS);
	CHECK_EQ(load(memory), 5);
	stream_call(a, issue_inside, &x, sizeof(x), STREAM_HOST);
	CHECK_EQ(stream_wait(a), STATUS_SUCCESS);
	CHECK_EQ(load(memory), 800 * 1000 + 800);
	stream_destroy(all, a);
	stream_destroy(all, b);
}

struct seen {
	u64 p;
};

static enum status see(void *data, enum status so_far)
{
	store(*(u64 *)data, (u32)so_far + 1);
	return STATUS_SUCCESS;
}

static void fault(void)
{
	struct stream *a = new_stream(0), *b = new_stream(0),
		      *other = new_stream(STREAM_NON_BLOCKING);
	u64 always = memory + 256, never = memory + 260;
	struct stream_event *e;

	stream_event_create(&dev, 0, &e);
	store(memory, 0), store(memory + 64, 0), store(memory + 68, 0), store(always, 0),
		store(never, 0);
	launch(other, "wait", memory + 68, 1); /* which never comes */
	launch(a, "wait", memory + 64, 1);
	launch(a, "trap", memory, 0);
	launch(a, "append", memory, 1);
	stream_call(a, see, &never, sizeof(never), 0);
	stream_call(a, see, &always, sizeof(always), STREAM_ALWAYS | STREAM_HOST);
	stream_event_record(e, a, 0);
	stream_wait_event(b, e, 0);
	launch(b, "append", memory, 1);
	CHECK_EQ(stream_device_error(&dev), STATUS_SUCCESS);
	store(memory + 64, 1);
	CHECK_EQ(stream_wait(b), STATUS_LAUNCH_FAILED);
	CHECK_EQ(stream_wait(a), STATUS_LAUNCH_FAILED);
	CHECK_EQ(load(memory), 0);
	CHECK_EQ(load(never), 0);
	CHECK_EQ(load(always), STATUS_LAUNCH_FAILED + 1);
	CHECK_EQ(stream_event_query(e), STATUS_LAUNCH_FAILED);
	CHECK_EQ(launch(b, "append", memory, 1), STATUS_LAUNCH_FAILED);
	CHECK_EQ(stream_device_wait(&dev), STATUS_LAUNCH_FAILED);
	CHECK_EQ(__atomic_load_n(&faults, __ATOMIC_RELAXED), 1);
	close_device();
	open_device();
	CHECK_EQ(stream_destroy(all, a), STATUS_INVALID_HANDLE);
	CHECK_EQ(stream_event_destroy(all, e), STATUS_INVALID_HANDLE);
	CHECK_EQ(launch(stream_resolve(&dev, NULL, false), "append", memory, 4), STATUS_SUCCESS);
	CHECK_EQ(launch(stream_resolve(&dev, NULL, true), "append", memory, 1), STATUS_SUCCESS);
	CHECK_EQ(stream_device_wait(&dev), STATUS_SUCCESS);
	CHECK_EQ(load(memory), 13);
}

#define THREADS 8
#define STREAMS 4
#define ROUNDS 200

/* Four streams of a thread, each with its own counter; events and the legacy stream in between. */
static void *hammer(void *arg)
{
	u64 base = memory + 1024 + (u64)(uintptr_t)arg * 256;
	struct stream *s[STREAMS];
	struct stream_event *e;
	u32 wrong = 0;

	stream_event_create(&dev, 0, &e);
	for (u32 i = 0; i < STREAMS; i++)
		wrong += stream_create(&dev, i % 2, 0, &s[i]) != STATUS_SUCCESS;
	for (u32 r = 0; r < ROUNDS; r++)
		for (u32 i = 0; i < STREAMS; i++) {
			struct append a = {base + i * 64, r};

			launch(s[i], "append", base + i * 64, r);
			if (r % 5 == i)
				stream_call(s[i], append, &a, sizeof(a), r % 2 ? STREAM_HOST : 0);
			if (r % 7 == i)
				stream_event_record(e, s[i], 0);
			if (r % 7 == i + 1)
				stream_wait_event(s[i], e, 0);
			if (r % 50 == i)
				launch(stream_resolve(&dev, NULL, i % 2), "empty", 0, 0);
			if (r % 64 == i)
				wrong += stream_wait(s[i]) != STATUS_SUCCESS;
			if (r % 32 == i)
				wrong += stream_event_wait(e) != STATUS_SUCCESS;
		}
	for (u32 i = 0; i < STREAMS; i++) {
		u32 expected = 0;

		stream_wait(s[i]);
		for (u32 r = 0; r < ROUNDS; r++) {
			expected = expected * 3 + r;
			if (r % 5 == i)
				expected = expected * 3 + r;
		}
		wrong += load(base + i * 64) != expected;
		stream_destroy(all, s[i]);
	}
	stream_event_destroy(all, e);
	return (void *)(uintptr_t)wrong;
}

static void many_threads(void)
{
	pthread_t t[THREADS];
	void *wrong;

	memset((void *)(uintptr_t)memory, 0, 1 << 16);
	for (u32 i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, hammer, (void *)(uintptr_t)i);
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(t[i], &wrong);
		CHECK_EQ((uintptr_t)wrong, 0);
	}
	CHECK_EQ(stream_device_wait(&dev), STATUS_SUCCESS);
}

static void run(u32 workers)
{
	struct sched_options o = {.workers = workers};

	__atomic_store_n(&faults, 0, __ATOMIC_RELAXED);
	pool = sched_pool_new(&o);
	all = streams_new();
	open_device();
	order_in_a_stream();
	concurrency();
	events();
	event_recorded_again();
	legacy_stream();
	calls();
	many_threads();
	fault();
	close_device();
	streams_free(all);
	sched_pool_free(pool);
}

int main(void)
{
	struct diag d;

	diag_init(&d, diag_print, stderr);
	CHECK(arch_devices_parse(&profiles, "v100", &d));
	run(1);
	run(3);
	arch_devices_fini(&profiles);
	diag_fini(&d);
	return check_done();
}
