/*
 * Module images: damaged and hostile files give one located error, never a read outside, never a
 * leak. Every file lies before an unreadable page, so a read past its end stops the test.
 */
#include "tests/unit/image/image_exercise.h"
#include "tests/unit/image/image_make.h"

#include "tests/check.h"

#include <zstd.h>

static struct guarded guard;

/* Offsets in the sample container: its header, then the first entry. */
#define ENTRY 16

static void make_sample(struct text *out)
{
	struct image_spec specs[] = {make_spec(80, 0, IMAGE_ZSTD), make_spec(90, 'a', IMAGE_PLAIN),
				     make_spec(75, 0, IMAGE_LZ4)};

	specs[0].options = "-maxrregcount=32";
	specs[0].source = "kernel.cu";
	make_fatbin(out, specs, 3);
}

/* A change to the sample, and the error it must give. */
struct damage {
	const char *what;
	u32 at, bytes;
	u64 value;
	const char *error;
};

static const struct damage damages[] = {
	{"container version", 4, 2, 9, "a container of version 9; 1 is known (at offset 0x0)"},
	{"container header too small", 6, 2, 8, "a container header of 8 bytes (at offset 0x0)"},
	{"container header too large", 6, 2, 0xffff,
	 "a container header of 65535 bytes (at offset 0x0)"},
	{"container too large", 8, 8, 1 << 20, "a container of 1048576 bytes where "},
	{"container size overflows", 8, 8, UINT64_MAX,
	 "a container of 18446744073709551615 bytes where "},
	{"container ends in an entry", 8, 8, 32,
	 "a container ends inside the header of an image (at offset 0x10)"},
	{"entry version", ENTRY + 2, 2, 0x201,
	 "an image header of version 0x201; 0x101 is known (at offset 0x10)"},
	{"entry header too small", ENTRY + 4, 4, 63, "an image header of 63 bytes where "},
	{"entry header too large", ENTRY + 4, 4, UINT32_MAX,
	 "an image header of 4294967295 bytes where "},
	{"payload too large", ENTRY + 8, 8, 1 << 20, "an image of 1048576 bytes where "},
	{"payload overflows", ENTRY + 8, 8, UINT64_MAX - 63,
	 "an image of 18446744073709551552 bytes where "},
	{"compressed size above the payload", ENTRY + 16, 4, 1 << 16,
	 "claims 65536 compressed bytes (at offset 0x10)"},
	{"compressed size 0", ENTRY + 16, 4, 0, "claims 0 compressed bytes (at offset 0x10)"},
	{"options outside", ENTRY + 20, 4, 1 << 16,
	 "the options of an image lie outside its header (at offset 0x10)"},
	{"options straddle the end", ENTRY + 20, 4, 100,
	 "the options of an image lie outside its header (at offset 0x10)"},
	{"option string outside", ENTRY + 80, 4, UINT32_MAX,
	 "the options of an image lie outside its header (at offset 0x10)"},
	{"option string too long", ENTRY + 84, 4, UINT32_MAX,
	 "the options of an image lie outside its header (at offset 0x10)"},
	{"name outside", ENTRY + 32, 4, 5000,
	 "the source name of an image lies outside its header (at offset 0x10)"},
	{"name too long", ENTRY + 36, 4, UINT32_MAX,
	 "the source name of an image lies outside its header (at offset 0x10)"},
	{"raw size 0", ENTRY + 56, 8, 0, "compressed bytes claim to be 0 (at offset 0x10)"},
	{"raw size above the limit", ENTRY + 56, 8, IMAGE_RAW_MAX + 1,
	 "compressed bytes claim to be 1073741825 (at offset 0x10)"},
	{"raw size beyond any ratio", ENTRY + 56, 8, 64 << 20,
	 "compressed bytes claim to be 67108864 (at offset 0x10)"},
};

static void test_damages(void)
{
	struct text good = {0};

	make_sample(&good);
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		const struct damage *x = &damages[i];
		u8 *p = guarded_put(&guard, good.at, good.len);
		struct text said = {0};
		u32 errors;

		for (u32 b = 0; b < x->bytes; b++)
			p[x->at + b] = (u8)(x->value >> 8 * b);
		if (!CHECK_MSG(exercise(p, good.len, 0, &errors, &said) == IMAGE_BAD &&
				       errors == 1 && said.at && strstr(said.at, x->error) &&
				       !strncmp(said.at, "test: error: ", 13),
			       x->what))
			printf("# %u errors: %s\n", errors, said.at);
		text_fini(&said);
	}
	text_fini(&good);
}

/* Sizes that pass the headers and lie about the compressed stream. */
static void test_lying_streams(void)
{
	struct image_spec specs[] = {make_spec(80, 0, IMAGE_ZSTD), make_spec(80, 0, IMAGE_LZ4)};

	for (size_t i = 0; i < ARRAY_LEN(specs); i++)
		for (int change = -1; change <= 1; change++) {
			struct text bin = {0}, said = {0};
			struct image_list l;
			struct image_bytes b;
			struct diag d;
			u8 *p;

			make_fatbin(&bin, &specs[i], 1);
			p = guarded_put(&guard, bin.at, bin.len);
			p[ENTRY + 56] = (u8)(p[ENTRY + 56] + change);
			diag_init(&d, diag_collect, &said);
			image_list_init(&l, &d, "test");
			CHECK_EQ(image_list_add(&l, p, bin.len, 0), IMAGE_OK);
			CHECK_EQ(image_read(&l, &l.images.at[0], &b),
				 change ? IMAGE_BAD : IMAGE_OK);
			CHECK_EQ(d.errors, change != 0);
			CHECK(!change || strstr(said.at, "data are damaged, or not the "));
			image_bytes_fini(&b);
			image_list_fini(&l);
			diag_fini(&d);
			text_fini(&bin);
			text_fini(&said);
		}
}

/* 64 MiB of one character: zstd makes a few kilobytes of them. */
static void test_bomb(void)
{
	size_t size = 64 << 20;
	char *blanks = malloc(size);
	struct image_spec spec = make_spec(80, 0, IMAGE_ZSTD);
	struct text bin = {0}, said = {0};
	u32 errors;

	if (!blanks)
		abort();
	memset(blanks, ' ', size);
	spec.data = blanks;
	spec.size = size;
	make_fatbin(&bin, &spec, 1);
	CHECK(bin.len < 16384);
	CHECK_EQ(exercise((const u8 *)bin.at, bin.len, 0, &errors, &said), IMAGE_BAD);
	CHECK(errors == 1 && strstr(said.at, "claim to be 67108865"));
	free(blanks);
	text_fini(&bin);
	text_fini(&said);
}

/*
 * A valid file of one kind, cut at every byte, and with every byte of its first `headers`
 * changed.
 */
static void break_everywhere(const char *what, const struct text *good, size_t headers,
			     bool cut_is_error)
{
	static const u8 changes[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
	u32 errors, unexpected = 0, noisy = 0;

	for (size_t n = 0; n < good->len; n++) {
		enum image_result r =
			exercise(guarded_put(&guard, good->at, n), n, 0, &errors, NULL);

		unexpected += cut_is_error && n >= 4 && r != IMAGE_BAD;
		noisy += errors != (r == IMAGE_BAD);
	}
	if (cut_is_error)
		CHECK_MSG(!unexpected, "every cut is noticed");
	for (size_t i = 0; i < headers; i++)
		for (size_t j = 0; j < ARRAY_LEN(changes); j++) {
			u8 *p = guarded_put(&guard, good->at, good->len);
			enum image_result r;

			p[i] ^= changes[j];
			r = exercise(p, good->len, 0, &errors, NULL);
			noisy += errors != (r == IMAGE_BAD);
		}
	CHECK_MSG(!noisy, what);
}

static void test_everywhere(void)
{
	static const char debug[] = ".version 8.0\0.target sm_80\0.visible .entry scale()\0{\0}";
	struct text bin = {0}, elf = {0}, cubin = {0}, ar = {0}, wrapped = {0};
	struct image_spec cubin_spec = {.kind = IMAGE_SASS, .target = {80, 0}, .isa_major = 8};

	make_sample(&bin);
	break_everywhere("a container: one error for each damage", &bin, bin.len, true);
	struct make_section s = {
		.name = ".nv_fatbin", .type = SHT_PROGBITS, .data = bin.at, .size = bin.len};
	make_elf64(&elf, EM_X86_64, 0, 0, &s, 1);
	break_everywhere("an executable: at most one error for each damage", &elf, elf.len, false);
	make_cubin(&cubin, 80, debug, sizeof(debug));
	break_everywhere("a cubin: at most one error for each damage", &cubin, cubin.len, false);
	make_member(&ar, "a.o/", elf.at, elf.len);
	make_member(&ar, "//", "long_name.o/\n", 13);
	make_member(&ar, "/0", cubin.at, cubin.len);
	break_everywhere("an archive: at most one error for each damage", &ar, 300, false);
	cubin_spec.data = cubin.at;
	cubin_spec.size = cubin.len;
	make_fatbin(&wrapped, &cubin_spec, 1);
	break_everywhere("a cubin in a container: at most one error", &wrapped, wrapped.len, true);
	text_fini(&bin);
	text_fini(&elf);
	text_fini(&cubin);
	text_fini(&ar);
	text_fini(&wrapped);
}

static void expect_elf_error(const char *what, const struct make_section *s, u32 n,
			     u64 claimed_size, const char *error)
{
	struct text elf = {0}, said = {0};
	Elf64_Ehdr h;
	Elf64_Shdr t;
	u32 errors;

	make_elf64(&elf, EM_X86_64, 0, 0, s, n);
	memcpy(&h, elf.at, sizeof(h));
	memcpy(&t, elf.at + h.e_shoff + sizeof(t), sizeof(t));
	if (claimed_size)
		t.sh_size = claimed_size;
	memcpy(elf.at + h.e_shoff + sizeof(t), &t, sizeof(t));
	CHECK_MSG(exercise(guarded_put(&guard, elf.at, elf.len), elf.len, 0, &errors, &said) ==
				  IMAGE_BAD &&
			  errors == 1 && strstr(said.at, error),
		  what);
	text_fini(&elf);
	text_fini(&said);
}

static void test_elf_lies(void)
{
	struct text bin = {0}, elf = {0};
	u32 errors;

	make_sample(&bin);
	struct make_section s[] = {
		{.name = ".nv_fatbin", .type = SHT_PROGBITS, .data = bin.at, .size = bin.len},
		{.name = "__nv_relfatbin", .type = SHT_PROGBITS, .data = bin.at, .size = bin.len},
	};
	expect_elf_error("a section past the end", s, 1, 1 << 20,
			 "section .nv_fatbin ends past the end of the file");
	expect_elf_error("a section whose end overflows", s, 1, UINT64_MAX - 8,
			 "section .nv_fatbin ends past the end of the file");
	expect_elf_error("a section cut short", s, 1, 100, "a container of ");
	expect_elf_error("a section with the next behind it", s, 1, bin.len + 8,
			 "bytes are left where a container begins");

	/* Many sections over the same bytes would be searched again and again. */
	make_elf64(&elf, EM_X86_64, 0, 0, s, 2);
	Elf64_Ehdr *h = (void *)elf.at;
	Elf64_Shdr *t = (void *)(elf.at + h->e_shoff);
	t[1].sh_offset = t[2].sh_offset = 64;
	t[1].sh_size = t[2].sh_size = elf.len - 64;
	memset(elf.at + 64, 0, t[1].sh_name);
	CHECK_EQ(exercise(guarded_put(&guard, elf.at, elf.len), elf.len, 0, &errors, NULL),
		 IMAGE_BAD);
	CHECK_EQ(errors, 1);
	text_fini(&bin);
	text_fini(&elf);
}

static void test_archive_lies(void)
{
	struct text ar = {0}, said = {0};
	u32 errors;

	make_member(&ar, "a.o/", "12345678", 8);
	memcpy(ar.at + 8 + 48, "9999999999", 10);
	CHECK_EQ(exercise(guarded_put(&guard, ar.at, ar.len), ar.len, 0, &errors, &said),
		 IMAGE_BAD);
	CHECK_STR(said.at,
		  "test: error: an archive member ends past the end of the file (at offset 0x8)");
	text_fini(&said);
	memcpy(ar.at + 8 + 48, "-8        ", 10);
	CHECK_EQ(exercise(guarded_put(&guard, ar.at, ar.len), ar.len, 0, &errors, &said),
		 IMAGE_BAD);
	CHECK_STR(said.at, "test: error: a damaged archive member header (at offset 0x8)");
	text_fini(&said);
	text_fini(&ar);
}

int main(void)
{
	guarded_init(&guard, 1 << 20);
	test_damages();
	test_lying_streams();
	test_bomb();
	test_everywhere();
	test_elf_lies();
	test_archive_lies();
	guarded_fini(&guard);
	return check_done();
}
