/*
 * Stubs and jumps to them, in x86-64 machine code.
 */
#include "runtime/preload/redirect_code.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STUB_BYTES 32u
#define REACH ((u64)INT32_MAX - (64u << 10))

static u64 page_bytes(void)
{
	return (u64)sysconf(_SC_PAGESIZE);
}

static u64 code_address(const void *p)
{
	return (u64)(uintptr_t)p;
}

/* Are all sites within reach of all of [at, at + bytes)? */
static bool reaches(u64 at, u64 bytes, u64 first, u64 last)
{
	u64 low = at < first ? at : first, high = at + bytes > last ? at + bytes : last;

	return high - low <= REACH;
}

/* Pages near [first, last), at steps that grow. NULL: nothing is free there. */
static u8 *near_pages(u64 first, u64 last, u64 bytes)
{
	u64 page = page_bytes(), below = first & ~(page - 1), above = align_up(last, page);

	for (u64 step = bytes; step < REACH; step += step / 2 / page * page + page)
		for (int side = 0; side < 2; side++) {
			u64 at = side ? above + step : below - step;
			void *p;

			if ((!side && below <= step) || !reaches(at, bytes, first, last))
				continue;
			p = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (code_address(p) == at)
				return p;
			if (p != MAP_FAILED)
				munmap(p, bytes);
		}
	return NULL;
}

/* movl $mark, %fs:place; movabs $to, %r11; jmp *%r11. Functions do not get anything in %r11. */
static void write_stub(u8 *stub, const struct code_caller *who, const void *to)
{
	static const u8 mark[] = {0x64, 0xc7, 0x04, 0x25}, load[] = {0x49, 0xbb},
			go[] = {0x41, 0xff, 0xe3};
	u64 target = code_address(to);
	s32 place = (s32)who->place;

	if (who->mark) {
		memcpy(stub, mark, sizeof(mark));
		memcpy(stub + 4, &place, 4);
		memcpy(stub + 8, &who->mark, 4);
		stub += 12;
	}
	memcpy(stub, load, sizeof(load));
	memcpy(stub + 2, &target, 8);
	memcpy(stub + 10, go, sizeof(go));
}

/*
 * jmp stub. In one store where the five bytes lie in one word: a thread that comes here at the same
 * time sees the old instructions or the jump.
 */
static void write_jump(u8 *code, const u8 *stub)
{
	s32 distance = (s32)(stub - (code + CODE_JUMP_BYTES));
	u8 jump[CODE_JUMP_BYTES] = {0xe9};
	u32 offset = (u32)(code_address(code) % 8);
	u64 *word = (u64 *)(void *)(code - offset), value;

	memcpy(jump + 1, &distance, 4);
	if (offset + CODE_JUMP_BYTES > 8) {
		memcpy(code, jump, CODE_JUMP_BYTES);
		return;
	}
	value = *word;
	memcpy((u8 *)&value + offset, jump, CODE_JUMP_BYTES);
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Pages that are writable. Executable as well if the system allows it: others may run in them. */
static bool unlock(u8 *first, size_t bytes)
{
	return !mprotect(first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	       !mprotect(first, bytes, PROT_READ | PROT_WRITE);
}

bool code_redirect(const struct code_site *sites, size_t n, const struct code_caller *who,
		   const u8 *first, const u8 *last, struct code_stubs *out, const char **why)
{
	u64 page = page_bytes(), from = code_address(first) & ~(page - 1),
	    to = align_up(code_address(last), page);
	struct code_stubs stubs = {.bytes = align_up(n * STUB_BYTES, page)};
	u8 *pages = (u8 *)(uintptr_t)from;

	stubs.at = near_pages(from, to, stubs.bytes);
	if (!stubs.at) {
		*why = "there is no room for jumps within reach";
		return false;
	}
	for (size_t i = 0; i < n; i++)
		write_stub(stubs.at + i * STUB_BYTES, who, sites[i].to);
	if (mprotect(stubs.at, stubs.bytes, PROT_READ | PROT_EXEC) || !unlock(pages, to - from)) {
		code_stubs_free(&stubs);
		*why = "the system does not let code be changed";
		return false;
	}
	for (size_t i = 0; i < n; i++)
		write_jump(sites[i].code, stubs.at + i * STUB_BYTES);
	/*
	 * Pages that only can be read and written must not stay so; there is nothing else to try.
	 */
	if (mprotect(pages, to - from, PROT_READ | PROT_EXEC))
		abort();
	*out = stubs;
	return true;
}

void code_stubs_free(struct code_stubs *s)
{
	if (s->bytes)
		munmap(s->at, s->bytes);
	*s = (struct code_stubs){0};
}

/*
 * Length of a nop, 0: it is not one. The forms that assemblers fill with: nop, xchg %ax,%ax, nopw,
 * with prefixes.
 */
static u32 nop_bytes(const u8 *p)
{
	static const u8 forms[][10] = {
		{1, 0x90},
		{1, 0xcc},
		{3, 0x0f, 0x1f, 0x00},
		{4, 0x0f, 0x1f, 0x40, 0x00},
		{5, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{7, 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{8, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};
	u32 prefixes = 0;

	while (p[prefixes] == 0x66 || p[prefixes] == 0x2e)
		prefixes++;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (!memcmp(p + prefixes, forms[i] + 1, forms[i][0]))
			return prefixes + forms[i][0];
	return 0;
}

u32 code_padding(const u8 *code)
{
	u32 done = 0, n;

	while ((code_address(code) + done) % 16) {
		n = nop_bytes(code + done);
		if (!n)
			return 0;
		done += n;
	}
	return done;
}
