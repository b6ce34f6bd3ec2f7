/*
 * The pages, in a table that a handler of signals can read: entries are set before a page is
 * protected, and kept when it is open again.
 */
#include "src/check/order/host.h"

#include "src/mem/guard.h"
#include "src/mem/mappings.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define GUARD_ENTRIES ((u32)1 << 16)
#define GUARD_MOST (GUARD_ENTRIES / 2) /* other pages are not guarded */
#define GUARD_GONE UINT64_MAX
#define GUARD_NOTED 256u
#define GUARD_RANGES 256u /* memory that is registered beyond these is not guarded */

enum guard_state { GUARD_OPEN = 1, GUARD_READ, GUARD_CLOSED };

struct guard_range {
	u64 first, end;
	bool is_program; /* its memory is the program's own */
};

static struct {
	struct guard_range range[GUARD_RANGES];
	u32 ranges;
	u64 entry[GUARD_ENTRIES]; /* page address | enum guard_state; atomic */
	u32 used;
	bool is_armed;
	struct host_access noted[GUARD_NOTED];
	u32 put, taken; /* put: atomic; what does not fit is lost */
} guarded;

static u64 page_key(u64 address)
{
	return address & ~(u64)(MEM_HOST_PAGE - 1);
}

/* The entry of a page; NULL: it has none. Any thread, any time. */
static u64 *find_entry(u64 page, bool make)
{
	u32 at = (u32)((page / MEM_HOST_PAGE) * 0x9e3779b1u) % GUARD_ENTRIES;
	u64 *gone = NULL;

	for (;; at = (at + 1) % GUARD_ENTRIES) {
		u64 x = __atomic_load_n(&guarded.entry[at], __ATOMIC_ACQUIRE);

		if (x == GUARD_GONE && !gone)
			gone = &guarded.entry[at];
		if (x && (x == GUARD_GONE || page_key(x) != page))
			continue;
		if (x)
			return &guarded.entry[at];
		if (make && gone)
			return gone;
		if (!make || guarded.used >= GUARD_MOST)
			return NULL;
		guarded.used++;
		return &guarded.entry[at];
	}
}

static void set_state(u64 *entry, u64 page, enum guard_state state)
{
	static const int prot[] = {[GUARD_OPEN] = PROT_READ | PROT_WRITE,
				   [GUARD_READ] = PROT_READ,
				   [GUARD_CLOSED] = PROT_NONE};

	__atomic_store_n(entry, page | state, __ATOMIC_RELEASE);
	mprotect((void *)(uintptr_t)page, MEM_HOST_PAGE, prot[state]);
}

static host_guard_handler *handled_by;

void host_guard_set_handler(host_guard_handler *handler)
{
	handled_by = handler;
}

bool host_guard_works(void)
{
	struct sigaction now;

	return handled_by && !sigaction(SIGSEGV, NULL, &now) && now.sa_sigaction == handled_by;
}

static void open_range(u64 first, u64 end, bool is_program)
{
	for (u32 i = 0; i < guarded.ranges; i++)
		if (guarded.range[i].first <= first && end <= guarded.range[i].end)
			return;
	if (first < end && guarded.ranges < GUARD_RANGES)
		guarded.range[guarded.ranges++] = (struct guard_range){first, end, is_program};
}

void host_guard_open(u64 first, u64 end)
{
	open_range(first, end, false);
}

bool host_guard_range(u32 i, u64 *first, u64 *end)
{
	if (i >= guarded.ranges)
		return false;
	*first = guarded.range[i].first;
	*end = guarded.range[i].end;
	return true;
}

/* ---- memory of the program ---- */

static bool is_own_stack(u64 first, u64 end)
{
	pthread_attr_t attr;
	void *base;
	size_t size;
	bool is;

	if (pthread_getattr_np(pthread_self(), &attr))
		return true;
	is = pthread_attr_getstack(&attr, &base, &size) ||
	     (first < (u64)(uintptr_t)base + size && end > (u64)(uintptr_t)base);
	pthread_attr_destroy(&attr);
	return is;
}

static bool may_guard(u64 first, u64 end)
{
	struct mem_mappings all;
	struct mem_mapping m;
	bool may;

	mem_mappings_open(&all);
	may = all.f && !is_own_stack(first, end);
	while (may && mem_mappings_next(&all, &m))
		if (m.first < end && m.end > first)
			may = !memcmp(m.rights, "rw-", 3) && strncmp(m.name, "[stack", 6) != 0;
	mem_mappings_close(&all);
	return may;
}

void host_guard_open_program(u64 address, u64 bytes)
{
	u64 first = page_key(address + MEM_HOST_PAGE - 1), end = page_key(address + bytes);

	if (first < end && may_guard(first, end))
		open_range(first, end, true);
}

/* It is not registered any more. */
static void forget_range(u64 address)
{
	u64 first = page_key(address + MEM_HOST_PAGE - 1);

	for (u32 i = 0; i < guarded.ranges; i++)
		if (guarded.range[i].first == first && guarded.range[i].is_program)
			guarded.range[i] = guarded.range[--guarded.ranges];
}

/* ---- protection ---- */

void host_guard_arm(u64 address, bool is_written)
{
	u64 page = page_key(address), *entry = find_entry(page, true);
	enum guard_state now, state = is_written ? GUARD_CLOSED : GUARD_READ;

	if (!entry)
		return;
	now = *entry == GUARD_GONE ? 0 : (enum guard_state)(*entry % MEM_HOST_PAGE);
	if (now < state)
		set_state(entry, page, state);
	guarded.is_armed = true;
}

void host_guard_disarm(void)
{
	for (u32 i = 0; guarded.is_armed && i < GUARD_ENTRIES; i++) {
		u64 x = guarded.entry[i];

		if (x && x != GUARD_GONE && x % MEM_HOST_PAGE > GUARD_OPEN)
			set_state(&guarded.entry[i], page_key(x), GUARD_OPEN);
	}
	guarded.is_armed = false;
}

static void forget_pages(u64 first, u64 end)
{
	for (u64 page = page_key(first); page < end; page += MEM_HOST_PAGE) {
		u64 *entry = find_entry(page, false);

		if (!entry)
			continue;
		set_state(entry, page, GUARD_OPEN);
		__atomic_store_n(entry, GUARD_GONE, __ATOMIC_RELEASE);
	}
}

void host_guard_forget(u64 address, u64 bytes)
{
	u64 first, end;

	for (u32 i = 0; host_guard_range(i, &first, &end); i++)
		if (address < end && address + bytes > first)
			forget_pages(max_u64(first, address), min_u64(end, address + bytes));
	forget_range(address);
}

bool host_guard_next(struct host_access *out)
{
	u32 put = __atomic_load_n(&guarded.put, __ATOMIC_ACQUIRE);

	if (guarded.taken == put)
		return false;
	*out = guarded.noted[guarded.taken++ % GUARD_NOTED];
	return true;
}

/* x86-64: bit 1 of the page fault's error code. */
static bool is_write_fault(const ucontext_t *u)
{
	return u->uc_mcontext.gregs[REG_ERR] & 2;
}

static void note_access(u64 address, const ucontext_t *u)
{
	const void *at = (const void *)(uintptr_t)(u->uc_mcontext.gregs[REG_RIP] + 1);
	u32 put = guarded.put;

	if (put - guarded.taken >= GUARD_NOTED)
		return;
	guarded.noted[put % GUARD_NOTED] =
		(struct host_access){address, is_write_fault(u), {at, host_trace_here(at)}};
	__atomic_store_n(&guarded.put, put + 1, __ATOMIC_RELEASE);
}

bool host_guard_fault(const siginfo_t *info, const void *context)
{
	u64 address = (u64)(uintptr_t)info->si_addr, page = page_key(address), *entry;

	entry = find_entry(page, false);
	if (!entry)
		return false;
	if (!mem_guard_inside)
		note_access(address, context);
	set_state(entry, page, GUARD_OPEN);
	return true;
}
