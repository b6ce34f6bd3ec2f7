/*
 * Faults of the host. Those in accesses that are guarded (src/mem/guard.h) end there. Host accesses
 * to device memory: before the program dies of one, say what the pointer is.
 *
 * A program's own handler has all other faults to itself, whether it was there before or is set
 * later; where it is set later it has the guarded ones, too. Ours uses nothing that a signal may
 * interrupt, and the death stays the signal's.
 */
#include "src/base/clock.h"
#include "runtime/process.h"
#include "src/check/order/host.h"
#include "src/mem/guard.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { SEGV, BUS, SIGNALS };

static const int signals[SIGNALS] = {[SEGV] = SIGSEGV, [BUS] = SIGBUS};
static struct process_guard *const guard = &the_process.guard;

/* Text for write(2); grows to the right. */
struct line {
	char at[512];
	size_t len;
};

static void line_append(struct line *l, const char *s)
{
	while (*s && l->len < sizeof(l->at))
		l->at[l->len++] = *s++;
}

static void add_number(struct line *l, u64 v, u32 base)
{
	char digits[24];
	size_t n = sizeof(digits);

	digits[--n] = 0;
	do {
		digits[--n] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v && n);
	line_append(l, &digits[n]);
}

static void add_age(struct line *l, const struct mem_range *r)
{
	u64 ms = (clock_ns() - r->born_ns) / 1000000u;

	line_append(l, r->freed ? ", made " : ", ");
	add_number(l, ms, 10);
	line_append(l, r->freed ? " ms ago and freed since" : " ms old");
}

static void describe_address(struct line *l, struct mem *m, u64 at)
{
	struct mem_range r;

	if (!mem_peek(m, at, &r)) {
		line_append(l, "no allocation is there");
		return;
	}
	line_append(l, "byte ");
	add_number(l, at - r.base, 10);
	line_append(l, " of an allocation of ");
	add_number(l, r.size, 10);
	line_append(l, " bytes at 0x");
	add_number(l, r.base, 16);
	add_age(l, &r);
}

static void say_guard(struct mem *m, u64 at)
{
	struct line l = {.len = 0};

	line_append(&l, "ptxloom: the host touched device memory: 0x");
	add_number(&l, at, 16);
	if (m == &rt_get()->memory.maps) {
		line_append(&l, " is in a mapping that the host may not use");
	} else {
		line_append(&l, " is memory of device ");
		add_number(&l, m->index, 10);
		line_append(&l, ", ");
		describe_address(&l, m, at);
	}
	line_append(
		&l,
		".\nptxloom: Copy it with cudaMemcpy, or allocate it with cudaMallocManaged or "
		"cudaMallocHost;\nptxloom: PTXLOOM_HOST_ACCESS=1 lets the host touch it, which no "
		"GPU does.\n");
	(void)!write(STDERR_FILENO, l.at, l.len);
}

/* Say what device memory is at the address, if any. */
static void say_device(u64 at)
{
	struct rt *rt = rt_get();
	struct mem *m = NULL;

	for (u32 i = 0; i < rt->list.len && !m; i++)
		if (rt->device[i].is_open && mem_in_arena(&rt->device[i].dev.mem, at))
			m = &rt->device[i].dev.mem;
	if (!m && mem_in_arena(&rt->memory.maps, at))
		m = &rt->memory.maps;
	if (m)
		say_guard(m, at);
}

/*
 * Without a handler of the program's the instruction runs again and finds the action that was there
 * before.
 */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *theirs = &guard->before[signal == SIGSEGV ? SEGV : BUS];

	if (the_process.between && host_guard_fault(info, context))
		return;
	mem_guard_recover(info);
	if (theirs->sa_handler == SIG_DFL || theirs->sa_handler == SIG_IGN) {
		if (rt_get()->memory.hidden)
			say_device((u64)(uintptr_t)info->si_addr);
		sigaction(signal, theirs, NULL);
	} else if (theirs->sa_flags & SA_SIGINFO) {
		theirs->sa_sigaction(signal, info, context);
	} else {
		theirs->sa_handler(signal);
	}
}

/* Signals that the program's handler wants blocked are. */
static void install_guard(void)
{
	host_guard_set_handler(on_fault);
	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction mine = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

		if (sigaction(signals[i], NULL, &guard->before[i]))
			continue;
		mine.sa_mask = guard->before[i].sa_mask;
		mine.sa_flags |= guard->before[i].sa_flags & (SA_NODEFER | SA_RESTART);
		mine.sa_sigaction = on_fault;
		sigaction(signals[i], &mine, NULL);
	}
}

void rt_guard_install(void)
{
	pthread_once(&guard->once, install_guard);
}
