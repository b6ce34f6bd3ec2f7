/*
 * The pages, in a table that a handler of signals can read: entries are set before a page is
 * protected, and kept when it is open again.
 */
#include "src/check/order/host.h"

#include "src/mem/guard.h"

#include <sys/mman.h>
#include <ucontext.h>

#define GUARD_ENTRIES ((u32)1 << 16)
#define GUARD_MOST (GUARD_ENTRIES / 2) /* other pages are not guarded */
#define GUARD_GONE UINT64_MAX
#define GUARD_NOTED 256u

enum guard_state { GUARD_OPEN = 1, GUARD_READ, GUARD_CLOSED };

static struct {
	u64 first, end;           /* of the arena */
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

	for (;; at = (at + 1) % GUARD_ENTRIES) {
		u64 x = __atomic_load_n(&guarded.entry[at], __ATOMIC_ACQUIRE);

		if (!x && (!make || guarded.used >= GUARD_MOST))
			return NULL;
		if (!x) {
			guarded.used++;
			return &guarded.entry[at];
		}
		if (x != GUARD_GONE && page_key(x) == page)
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

void host_guard_open(const struct mem *arena)
{
	guarded.first = (u64)(uintptr_t)arena->arena;
	guarded.end = guarded.first + arena->arena_size;
}

void host_guard_bounds(u64 *first, u64 *end)
{
	*first = guarded.first;
	*end = guarded.end;
}

void host_guard_arm(u64 address, bool is_written)
{
	u64 page = page_key(address), *entry = find_entry(page, true);
	enum guard_state now, state = is_written ? GUARD_CLOSED : GUARD_READ;

	if (!entry)
		return;
	now = (enum guard_state)(*entry % MEM_HOST_PAGE);
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

void host_guard_forget(u64 address, u64 bytes)
{
	if (address < guarded.first || address >= guarded.end)
		return;
	for (u64 page = page_key(address); page < address + bytes; page += MEM_HOST_PAGE) {
		u64 *entry = find_entry(page, false);

		if (!entry)
			continue;
		set_state(entry, page, GUARD_OPEN);
		__atomic_store_n(entry, GUARD_GONE, __ATOMIC_RELEASE);
	}
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

	if (address < guarded.first || address >= guarded.end)
		return false;
	entry = find_entry(page, false);
	if (!entry)
		return false;
	if (!mem_guard_inside)
		note_access(address, context);
	set_state(entry, page, GUARD_OPEN);
	return true;
}
