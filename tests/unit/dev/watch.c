/* src/dev/memory/watch.h: every watcher is told, until it is removed. */
#include "src/dev/memory/watch.h"
#include "tests/check.h"

struct seen {
	u32 allocs, writes;
	u64 address, bytes;
};

static void on_alloc(void *user, struct mem *m, u64 address, u64 bytes, enum mem_kind kind)
{
	struct seen *s = user;

	(void)m;
	s->allocs += kind == MEM_KIND_DEVICE;
	s->address = address;
	s->bytes = bytes;
}

static void on_write(void *user, u64 address, u64 bytes)
{
	struct seen *s = user;

	s->writes++;
	s->address = address;
	s->bytes = bytes;
}

static void test_told(void)
{
	struct seen a = {0}, b = {0};
	struct memory_watch both = {.user = &a, .alloc = on_alloc, .write = on_write},
			    one = {.user = &b, .write = on_write};

	CHECK(!memory_is_watched());
	CHECK(memory_watch_add(&both) && memory_watch_add(&one));
	CHECK(memory_is_watched());
	memory_tell_alloc(NULL, 4096, 12, MEM_KIND_DEVICE);
	CHECK(a.allocs == 1 && a.address == 4096 && a.bytes == 12 && !b.address);
	memory_tell_free(NULL, 4096, 12);
	memory_tell_write(8192, 8);
	CHECK(a.writes == 1 && b.writes == 1 && b.address == 8192 && b.bytes == 8);
	memory_watch_remove(&both);
	memory_tell_write(8192, 8);
	CHECK(a.writes == 1 && b.writes == 2);
	memory_watch_remove(&one);
	CHECK(!memory_is_watched());
	memory_tell_write(8192, 8);
	CHECK_EQ(b.writes, 2);
}

static void test_most(void)
{
	struct memory_watch w[MEMORY_WATCHES_MAX + 1] = {0};
	bool ok = true;

	for (u32 i = 0; i < MEMORY_WATCHES_MAX; i++)
		ok &= memory_watch_add(&w[i]);
	CHECK_MSG(ok, "there is room for as many as the header says");
	CHECK(!memory_watch_add(&w[MEMORY_WATCHES_MAX]));
	memory_watch_remove(&w[1]);
	CHECK(memory_watch_add(&w[MEMORY_WATCHES_MAX]));
	for (u32 i = 0; i <= MEMORY_WATCHES_MAX; i++)
		memory_watch_remove(&w[i]);
	CHECK(!memory_is_watched());
}

int main(void)
{
	test_told();
	test_most();
	return check_done();
}
