/*
 * Arenas and the memory of a process: room, reuse, look-up across devices, hidden bytes, pages of
 * several processes.
 */
#include "src/mem/near.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((u64)1 << 20)

/* Whole table: sorted and apart. */
static bool is_sound(const struct mem *m)
{
	for (u32 i = 1; i < m->len; i++)
		if (m->ranges[i].base < m->ranges[i - 1].base + m->ranges[i - 1].size)
			return false;
	return true;
}

static void test_limit(void)
{
	struct mem m;
	struct mem_range r;
	u64 a, b;

	if (!CHECK(mem_init(&m, 64 * MIB)))
		return;
	a = mem_alloc(&m, 60 * MIB, 0, MEM_KIND_DEVICE);
	CHECK(a && !mem_alloc(&m, 5 * MIB, 0, MEM_KIND_DEVICE));
	b = mem_alloc(&m, 4 * MIB, 0, MEM_KIND_DEVICE);
	CHECK(b && m.used_bytes == 64 * MIB);
	CHECK(!mem_free(&m, a + 256) && mem_free(&m, a) && !mem_free(&m, a));
	CHECK(m.used_bytes == 4 * MIB);
	CHECK(!mem_find(&m, a, 1, &r) && mem_find(&m, b + MIB, 3 * MIB, &r) && r.base == b);
	CHECK(!mem_find(&m, b + MIB, 3 * MIB + 1, &r));
	CHECK(mem_alloc(&m, 60 * MIB, 0, MEM_KIND_DEVICE) != 0);
	mem_fini(&m);
}

/* Many times more than the arena has, in sizes that leave holes: the table stays short. */
static void test_reuse(void)
{
	u64 at[64] = {0}, seed = 1, total = 0;
	struct mem m;
	bool ok = true;

	if (!CHECK(mem_init(&m, 64 * MIB)))
		return;
	for (u32 i = 0; i < 200000 && ok; i++) {
		u32 k;
		u64 size;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		k = seed >> 33 & 63;
		size = (seed >> 40) % (900u << 10) + 1;
		if (at[k])
			ok = mem_free(&m, at[k]);
		at[k] = mem_alloc(&m, size, 512, MEM_KIND_DEVICE);
		ok = ok && at[k] && !(at[k] & 511);
		total += size;
	}
	CHECK(ok && is_sound(&m));
	CHECK(total > m.arena_size * 4 && m.len < 5000);
	mem_fini(&m);
}

static void test_system(void)
{
	static char own[64];
	struct mem_system s;
	struct mem a, b;
	struct mem_range r;
	struct mem *owner;
	u64 pa, pb, pinned, own_at = (u64)(uintptr_t)own;
	u32 epoch;
	struct mem_near near;

	if (!CHECK(mem_system_init(&s, true) && mem_init_in(&a, 64 * MIB, &s, 0) &&
		   mem_init_in(&b, 64 * MIB, &s, 1)))
		return;
	pa = mem_alloc(&a, 100, 0, MEM_KIND_DEVICE);
	pb = mem_alloc(&b, 100, 0, MEM_KIND_DEVICE);
	pinned = mem_alloc(&a, 100, 0, MEM_KIND_PINNED);
	CHECK(pa && pb && pinned && s.host.used_bytes == 100);
	CHECK(mem_find(&a, pinned, 100, &r) && r.bias == 0);
	CHECK(mem_find(&b, pinned, 100, &r) && !mem_find(&b, pa, 1, &r));
	mem_nearest(&b, pa + 10, &near);
	CHECK(near.where == MEM_NEAR_INSIDE && near.distance == 10 && near.is_foreign &&
	      near.device == 0);
	__atomic_store_n(&b.peers, 1, __ATOMIC_RELEASE);
	CHECK(mem_find(&b, pa, 100, &r) && r.base == pa && !mem_find(&a, pb, 1, &r));
	CHECK(mem_register(&a, own_at, sizeof(own), MEM_KIND_HOST));
	CHECK(!mem_register(&b, own_at + 8, 8, MEM_KIND_HOST));
	CHECK(mem_find(&b, own_at + 8, 8, &r) && mem_host(&r, own_at) == own);
	CHECK(mem_system_find(&s, own_at, 1, &r, &owner) && owner == &s.host);
	epoch = a.epoch;
	CHECK(mem_unregister(&b, own_at) && !mem_unregister(&b, own_at) && a.epoch != epoch);
	CHECK(mem_free(&b, pinned) && s.host.used_bytes == 0);
	mem_fini(&a);
	CHECK(!mem_system_find(&s, pa, 1, &r, &owner) && mem_system_find(&s, pb, 1, &r, &owner) &&
	      owner == &b);
	mem_fini(&b);
	mem_system_fini(&s);
}

/* The bytes of a hidden arena lie elsewhere; a system call finds nothing at the address itself. */
static void test_hidden(void)
{
	struct mem_system s;
	struct mem m;
	int pipe_fd[2];
	u64 at;

	if (!CHECK(mem_system_init(&s, true) && mem_init_in(&m, 64 * MIB, &s, 0) && !pipe(pipe_fd)))
		return;
	at = mem_alloc(&m, 4096, 4096, MEM_KIND_DEVICE);
	CHECK(mem_pointer(&m, at) == (void *)(uintptr_t)(at + m.bias) && m.bias);
	memset(mem_pointer(&m, at), 7, 4096);
	CHECK(write(pipe_fd[1], (const void *)(uintptr_t)at, 1) < 0);
	CHECK(write(pipe_fd[1], mem_pointer(&m, at), 1) == 1);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	mem_fini(&m);
	mem_system_fini(&s);
}

static void test_share(void)
{
	struct mem_system s;
	struct mem a, b;
	u64 from, twin, to, offset;
	u8 *x, *y;
	int fd;

	if (!CHECK(mem_system_init(&s, true) && mem_init_in(&a, 64 * MIB, &s, 0) &&
		   mem_init_in(&b, 64 * MIB, &s, 1)))
		return;
	from = mem_alloc(&a, 100, 0, MEM_KIND_DEVICE);
	twin = mem_alloc(&a, 100, 0, MEM_KIND_DEVICE); /* on the same page */
	to = mem_alloc(&b, 8192, 4096, MEM_KIND_DEVICE);
	x = mem_pointer(&a, from);
	y = mem_pointer(&b, to);
	*x = 11;
	*(u8 *)mem_pointer(&a, twin) = 12;
	fd = mem_share(&a, from, 100, &offset);
	CHECK(fd >= 0 && *x == 11);
	CHECK(mem_share(&a, twin, 100, &offset) == fd && offset % 4096 == twin % 4096);
	CHECK(mem_attach(&b, to, 4096, fd, offset & ~(u64)4095));
	CHECK(y[from % 4096] == 11 && y[twin % 4096] == 12);
	y[from % 4096] = 13;
	CHECK(*x == 13);
	CHECK(mem_detach(&b, to, 4096) && y[from % 4096] == 0 && *x == 13);
	mem_fini(&a);
	mem_fini(&b);
	mem_system_fini(&s);
}

int main(void)
{
	test_limit();
	test_reuse();
	test_system();
	test_hidden();
	test_share();
	return check_done();
}
