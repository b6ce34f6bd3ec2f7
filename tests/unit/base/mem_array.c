/*
 * CUDA arrays: which formats, extents and flags go together, as an H200 answers; layout; handles.
 */
#include "tests/check.h"
#include "src/mem/array.h"

#include <stdlib.h>

static struct mem mem;
static const struct arch *arch;

static enum mem_array_status make(u64 w, u64 h, u64 d, u32 flags)
{
	struct mem_array_desc desc = {w, h, d, MEM_FORMAT_F32, 1, flags};
	struct mem_array *a;
	enum mem_array_status s = mem_array_create(&mem, arch, &desc, &a);

	if (!s)
		mem_array_destroy(&mem, a);
	return s;
}

static void extents(void)
{
	static const struct {
		u64 w, h, d;
		u32 flags;
		bool ok;
	} cases[] = {
		{0, 0, 0, 0, false},     {131072, 0, 0, 0, true},     {131073, 0, 0, 0, false},
		{2, 65537, 0, 0, false}, {131072, 65536, 0, 0, true}, {16384, 4, 4, 0, true},
		{16385, 2, 2, 0, false}, {4, 0, 4, 0, false},         {4, 0, 2048, 1, true},
		{4, 0, 2049, 1, false},  {4, 4, 2048, 1, true},       {4, 4, 0, 1, false},
		{4, 4, 6, 4, true},      {4, 4, 5, 4, false},         {4, 4, 12, 4, false},
		{4, 5, 6, 4, false},     {4, 4, 12, 5, true},         {4, 4, 7, 5, false},
		{4, 4, 6, 6, true},      {4, 4, 0, 8, true},          {4, 4, 0, 10, true},
		{4, 0, 0, 8, false},     {4, 4, 4, 8, false},         {4, 4, 0, 16, false},
		{4, 4, 0, 32, false},    {4, 4, 0, 64, true},         {4, 4, 0, 128, true},
		{4, 4, 0, 256, true},    {4, 4, 0, 512, false},       {32769, 0, 0, 2, false},
	};
	char what[64];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(what, sizeof(what), "%llu x %llu x %llu, flags %u",
			 (unsigned long long)cases[i].w, (unsigned long long)cases[i].h,
			 (unsigned long long)cases[i].d, cases[i].flags);
		CHECK_MSG(make(cases[i].w, cases[i].h, cases[i].d, cases[i].flags) ==
				  (cases[i].ok ? MEM_ARRAY_OK : MEM_ARRAY_INVALID),
			  what);
	}
}

static void formats(void)
{
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_U8, 4), 4);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_F16, 2), 4);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_F32, 3), 0);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_F32, 0), 0);
	CHECK_EQ(mem_format_bytes(0, 1), 0);
	CHECK_EQ(mem_format_bytes(0x21, 1), 0);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_BC1, 4), 8);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_BC1, 3), 0);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_BC5, 2), 16);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_UNORM8X1, 1), 1);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_UNORM8X1, 2), 0);
	CHECK_EQ(mem_format_bytes(MEM_FORMAT_SNORM16X4, 4), 8);
	CHECK_EQ(mem_format_block(MEM_FORMAT_BC7_SRGB), 4);
}

static void layout(void)
{
	struct mem_array_desc d = {10, 7, 3, MEM_FORMAT_U16, 2, 0};
	struct mem_array *a = NULL;
	u32 *p;

	CHECK_EQ(mem_array_create(&mem, arch, &d, &a), MEM_ARRAY_OK);
	CHECK_EQ(a->element_bytes, 4);
	CHECK_EQ(a->pitch, 40);
	CHECK_EQ(a->slice, 280);
	CHECK_EQ(a->bytes, 840);
	CHECK_EQ(mem_array_address(a, 8, 2, 1) - a->base, 280 + 80 + 8);
	p = (u32 *)(uintptr_t)mem_array_address(a, 36, 6, 2);
	CHECK_EQ(*p, 0);
	*p = 1;
	CHECK(mem_array_check(&mem, a) == a);
	CHECK(!mem_mipmap_check(&mem, a));
	CHECK(mem_array_destroy(&mem, a));
	CHECK(!mem_array_check(&mem, a));
	CHECK(!mem_array_destroy(&mem, a));
	CHECK(!mem_array_check(&mem, &d));
	CHECK(!mem_array_check(&mem, NULL));
	d = (struct mem_array_desc){10, 7, 0, MEM_FORMAT_BC1, 4, 0};
	CHECK_EQ(mem_array_create(&mem, arch, &d, &a), MEM_ARRAY_OK);
	CHECK_EQ(a->pitch, 24);
	CHECK_EQ(a->rows, 2);
}

static void levels(void)
{
	struct mem_array_desc d = {16, 12, 0, MEM_FORMAT_F32, 1, 0};
	struct mem_mipmap *mm = NULL;

	CHECK_EQ(mem_mipmap_create(&mem, arch, &d, 0, &mm), MEM_ARRAY_INVALID);
	CHECK_EQ(mem_mipmap_create(&mem, arch, &d, 20, &mm), MEM_ARRAY_OK);
	CHECK_EQ(mm->levels, 5);
	CHECK_EQ(mm->level[1].desc.width, 8);
	CHECK_EQ(mm->level[3].desc.height, 1);
	CHECK_EQ(mm->level[4].desc.width, 1);
	CHECK(mm->level[1].base >= mm->level[0].base + mm->level[0].bytes);
	CHECK(mem_array_check(&mem, &mm->level[2]) == &mm->level[2]);
	CHECK(!mem_array_destroy(&mem, &mm->level[2]));
	CHECK(mem_mipmap_destroy(&mem, mm));
	CHECK(!mem_array_check(&mem, &mm->level[2]));
	d = (struct mem_array_desc){16, 0, 3, MEM_FORMAT_F32, 1, MEM_ARRAY_LAYERED};
	CHECK_EQ(mem_mipmap_create(&mem, arch, &d, 4, &mm), MEM_ARRAY_OK);
	CHECK_EQ(mm->level[3].desc.depth, 3);
	CHECK_EQ(mm->level[3].desc.height, 0);
	d.width = 40000;
	CHECK_EQ(mem_mipmap_create(&mem, arch, &d, 4, &mm), MEM_ARRAY_INVALID);
}

int main(void)
{
	arch = arch_find("a100");
	if (!CHECK(arch && mem_init(&mem, arch->memory_bytes)))
		return check_done();
	formats();
	extents();
	layout();
	levels();
	mem_fini(&mem);
	return check_done();
}
