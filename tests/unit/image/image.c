/*
 * Module images: every format is found, listed and read back; the light PTX reader; pointers
 * without size.
 */
#include "tests/unit/image/image_make.h"

#include "tests/check.h"

/* A list over given bytes, with its messages in `said`. */
struct fixture {
	struct diag diag;
	struct text said;
	struct image_list list;
	enum image_result result;
};

static void look(struct fixture *f, const void *data, size_t size, u32 flags)
{
	*f = (struct fixture){0};
	diag_init(&f->diag, diag_collect, &f->said);
	image_list_init(&f->list, &f->diag, "test");
	f->result = image_list_add(&f->list, data, size, flags);
}

static void look_pointer(struct fixture *f, const void *code)
{
	*f = (struct fixture){0};
	diag_init(&f->diag, diag_collect, &f->said);
	image_list_init(&f->list, &f->diag, "test");
	f->result = image_list_add_pointer(&f->list, code);
}

static void done(struct fixture *f)
{
	image_list_fini(&f->list);
	diag_fini(&f->diag);
	text_fini(&f->said);
}

static bool reads_as(struct fixture *f, u32 index, const char *ptx)
{
	struct image_bytes b;
	bool ok = image_read_ptx(&f->list, &f->list.images.at[index], 0, &b) == IMAGE_OK &&
		  b.size == strlen(ptx) && !memcmp(b.data, ptx, b.size);

	image_bytes_fini(&b);
	return ok;
}

static void test_round_trip(void)
{
	struct image_spec specs[] = {make_spec(80, 0, IMAGE_PLAIN), make_spec(90, 'a', IMAGE_ZSTD),
				     make_spec(100, 'f', IMAGE_LZ4)};
	struct text bin = {0};
	struct fixture f;
	char name[24];

	specs[0].options = "-maxrregcount=32";
	specs[0].debug = true;
	specs[1].source = "kernel.cu";
	specs[2].options = "--compile-only";
	specs[2].source = "a.cu";
	make_fatbin(&bin, specs, 3);
	make_fatbin(&bin, specs, 1);
	look(&f, bin.at, bin.len, 0);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.images.len, 4);
	CHECK_EQ(f.list.containers.len, 2);
	CHECK_EQ(f.list.containers.at[1].first, 3);
	for (u32 i = 0; i < 4; i++)
		CHECK_MSG(reads_as(&f, i, MAKE_PTX), "the PTX comes back byte for byte");
	CHECK_EQ(f.list.images.at[0].codec, IMAGE_PLAIN);
	CHECK_EQ(f.list.images.at[1].codec, IMAGE_ZSTD);
	CHECK_EQ(f.list.images.at[2].codec, IMAGE_LZ4);
	CHECK_STR(image_target_name(&f.list.images.at[1], name), "compute_90a");
	CHECK_STR(image_target_name(&f.list.images.at[2], name), "compute_100f");
	CHECK(f.list.images.at[0].debug && !f.list.images.at[1].debug);
	CHECK_EQ(f.list.images.at[0].isa_major, 8);
	CHECK(f.list.images.at[0].options_len == 16 &&
	      !memcmp(f.list.images.at[0].options, "-maxrregcount=32", 16));
	CHECK(!f.list.images.at[0].source && !f.list.images.at[1].options);
	CHECK(f.list.images.at[1].source_len == 9 &&
	      !memcmp(f.list.images.at[1].source, "kernel.cu", 9));
	CHECK(f.list.images.at[2].options_len == 14 && f.list.images.at[2].source_len == 4);
	CHECK_MSG(f.list.images.at[0].data == (const u8 *)bin.at + f.list.images.at[0].offset,
		  "nothing is copied");
	done(&f);
	text_fini(&bin);
}

static void test_elf(void)
{
	struct image_spec specs[] = {make_spec(75, 0, IMAGE_ZSTD), make_spec(80, 0, IMAGE_PLAIN)};
	struct text one = {0}, two = {0}, elf = {0}, elf32 = {0}, bare = {0};
	struct fixture f;

	make_fatbin(&one, specs, 2);
	make_fatbin(&two, specs, 1);
	text_add(&two, "\0\0\0\0\0\0\0\0\0\0\0\0", 12); /* as the linker pads */
	make_fatbin(&two, specs, 1);
	struct make_section s[] = {
		{.name = ".text", .type = SHT_PROGBITS, .data = "x", .size = 1},
		{.name = ".nv_fatbin", .type = SHT_PROGBITS, .data = one.at, .size = one.len},
		{.name = "__nv_relfatbin", .type = SHT_PROGBITS, .data = two.at, .size = two.len},
		{.name = ".nv_fatbin", .type = SHT_NOBITS, .size = (size_t)1 << 40},
	};
	make_elf64(&elf, EM_X86_64, 0, 0, s, 4);
	look(&f, elf.at, elf.len, 0);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.images.len, 4);
	CHECK_EQ(f.list.containers.len, 3);
	CHECK(reads_as(&f, 0, MAKE_PTX) && reads_as(&f, 3, MAKE_PTX));
	done(&f);

	look(&f, elf.at, elf.len, IMAGE_SCAN);
	CHECK_MSG(f.result == IMAGE_OK && f.list.images.len == 4, "a scan finds the same");
	done(&f);

	make_elf32(&elf32, ".nv_fatbin", one.at, one.len);
	look(&f, elf32.at, elf32.len, 0);
	CHECK_MSG(f.result == IMAGE_OK && f.list.images.len == 2, "ELF of 32 bits");
	done(&f);

	make_elf64(&bare, EM_X86_64, 0, 0, s, 1);
	look(&f, bare.at, bare.len, 0);
	CHECK_EQ(f.result, IMAGE_NONE);
	CHECK_EQ(f.diag.errors, 0);
	done(&f);

	((Elf64_Ehdr *)(void *)elf.at)->e_shoff = 0;
	look(&f, elf.at, elf.len, 0);
	CHECK_MSG(f.result == IMAGE_OK && f.list.images.len == 4,
		  "no section table: found by a scan");
	done(&f);
	text_fini(&one);
	text_fini(&two);
	text_fini(&elf);
	text_fini(&elf32);
	text_fini(&bare);
}

static void test_cubin(void)
{
	static const char debug[] =
		"\0.version 8.0\0.target sm_80\0\0.visible .entry scale()\0{\0ret;\0}";
	static const char plain[] =
		"\n.version 8.0\n.target sm_80\n\n.visible .entry scale()\n{\nret;\n}\n";
	struct text cubin = {0}, bin = {0};
	struct image_kernels k = {0};
	struct image_spec spec = {
		.kind = IMAGE_SASS, .codec = IMAGE_ZSTD, .target = {80, 0}, .isa_major = 8};
	struct image_bytes b;
	struct fixture f;
	char name[24];

	make_cubin(&cubin, 80, debug, sizeof(debug));
	look(&f, cubin.at, cubin.len, 0);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.images.at[0].kind, IMAGE_SASS);
	CHECK_STR(image_target_name(&f.list.images.at[0], name), "sm_80");
	CHECK_EQ(image_cubin_ptx_count((const u8 *)cubin.at, cubin.len), 1);
	CHECK(reads_as(&f, 0, plain));
	CHECK_EQ(image_read_ptx(&f.list, &f.list.images.at[0], 1, &b), IMAGE_NONE);
	CHECK(image_scan_cubin((const u8 *)cubin.at, cubin.len, &k));
	CHECK_MSG(k.list.len == 1 && k.list.at[0].name_len == 5 &&
			  !memcmp(k.list.at[0].name, "scale", 5) && !k.list.at[0].has_params,
		  "the kernel, and not the device function");
	image_kernels_fini(&k);
	done(&f);

	spec.data = cubin.at;
	spec.size = cubin.len;
	make_fatbin(&bin, &spec, 1);
	look(&f, bin.at, bin.len, 0);
	CHECK_MSG(f.result == IMAGE_OK && reads_as(&f, 0, plain), "a compressed cubin");
	done(&f);
	text_fini(&cubin);
	text_fini(&bin);

	make_cubin(&cubin, 90, NULL, 0);
	look_pointer(&f, cubin.at);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.images.at[0].stored_bytes, cubin.len);
	CHECK_EQ(image_read_ptx(&f.list, &f.list.images.at[0], 0, &b), IMAGE_NONE);
	CHECK_EQ(f.diag.errors, 0);
	done(&f);
	text_fini(&cubin);
}

static void test_linked_cubin(void)
{
	struct make_section s[] = {
		{.name = ".nv_debug_ptx_txt.17",
		 .type = SHT_PROGBITS,
		 .data = ".version 8.0\0// a",
		 .size = 18},
		{.name = ".nv_debug_ptx_txtual", .type = SHT_PROGBITS, .data = "no", .size = 2},
		{.name = ".nv_debug_ptx_txt.42",
		 .type = SHT_PROGBITS,
		 .data = ".version 8.0\0// b",
		 .size = 18},
		{.name = ".text.k", .type = SHT_PROGBITS, .data = "code", .size = 4},
	};
	struct image_kernels k = {0};
	struct text cubin = {0};
	struct image_bytes b;
	struct fixture f;

	make_elf64(&cubin, 190, 7, 0x500550, s, 4);
	look(&f, cubin.at, cubin.len, 0);
	CHECK_MSG(f.list.images.len == 1 && f.list.images.at[0].target.sm == 80,
		  "the target in flags of ABI version 7");
	CHECK_EQ(image_cubin_ptx_count((const u8 *)cubin.at, cubin.len), 2);
	CHECK_EQ(image_read_ptx(&f.list, &f.list.images.at[0], 1, &b), IMAGE_OK);
	CHECK(b.size == 18 && !memcmp(b.data, ".version 8.0\n// b\n", 18));
	image_bytes_fini(&b);
	CHECK_EQ(image_read_ptx(&f.list, &f.list.images.at[0], 2, &b), IMAGE_NONE);
	CHECK(image_scan_cubin((const u8 *)cubin.at, cubin.len, &k));
	CHECK_MSG(k.list.len == 1 && !memcmp(k.list.at[0].name, "k", 2),
		  "without symbols, the names of code sections");
	image_kernels_fini(&k);
	done(&f);
	text_fini(&cubin);
}

static void note_code(void *user, const struct image_code *c)
{
	struct text *t = user;

	text_printf(t, "%s %llu %u %u;", c->name, (unsigned long long)c->bytes, c->registers,
		    c->constant_loads);
}

static void test_machine_code(void)
{
	/* LDC, something else, LDC from bank 3; then a function that ends within an instruction. */
	static const u8 code[48] = {0x82, 0x7b, [16] = 0x18, 0x79, [32] = 0x82, 0xfb, [38] = 0xc0};
	/* Form, attribute, size; a symbol that is not there; cut short. */
	static const u8 info[] = {4, 0x2f, 8, 0, 9, 0, 0, 0, 7, 0, 0, 0, 4, 0x2f, 8, 0, 1};
	struct make_section s[] = {
		{.name = ".text.k", .type = SHT_PROGBITS, .data = code, .size = sizeof(code)},
		{.name = ".text.half", .type = SHT_PROGBITS, .data = code, .size = 15},
		{.name = ".text.", .type = SHT_PROGBITS, .data = code, .size = 16},
		{.name = ".nv.info", .type = SHT_PROGBITS, .data = info, .size = sizeof(info)},
	};
	struct text cubin = {0}, seen = {0};
	struct fixture f;
	u32 at = 7;

	make_elf64(&cubin, 190, 7, 0x5a055a, s, 4);
	look(&f, cubin.at, cubin.len, 0);
	image_scan_code((const u8 *)cubin.at, cubin.len, note_code, &seen);
	CHECK_STR(seen.at, "k 48 0 1;half 15 0 0;");
	CHECK_MSG(image_select_code(&f.list, 0, 90, &at) && at == 0, "runs on sm_90");
	CHECK_MSG(!image_select_code(&f.list, 0, 80, &at), "and not on sm_80");
	text_fini(&seen);
	for (size_t n = 0; n < cubin.len; n++)
		image_scan_code((const u8 *)cubin.at, n, note_code, &seen);
	done(&f);
	text_fini(&cubin);
	text_fini(&seen);
}

static void test_archive(void)
{
	struct image_spec spec = make_spec(80, 0, IMAGE_ZSTD);
	struct text bin = {0}, elf = {0}, ar = {0};
	struct fixture f;

	make_fatbin(&bin, &spec, 1);
	struct make_section s = {
		.name = ".nv_fatbin", .type = SHT_PROGBITS, .data = bin.at, .size = bin.len};
	make_elf64(&elf, EM_X86_64, 0, 0, &s, 1);
	make_member(&ar, "/", "\0\0\0\0", 4);
	make_member(&ar, "//", "a_name_of_more_than_15.o/\nsecond_long_name_xyz.o/\n", 50);
	make_member(&ar, "short.o/", elf.at, elf.len);
	make_member(&ar, "notes.txt/", "hello", 5);
	make_member(&ar, "/26", elf.at, elf.len);
	text_printf(&ar, "%-16s%-12u%-6u%-6u%-8s%-10zu`\n", "#1/8", 0u, 0u, 0u, "100644",
		    elf.len + 8);
	text_add(&ar, "bsd\1.o\0\0", 8);
	text_add(&ar, elf.at, elf.len);
	look(&f, ar.at, ar.len, 0);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.containers.len, 3);
	if (f.list.containers.len == 3) {
		CHECK_STR(f.list.containers.at[0].member, "short.o");
		CHECK_STR(f.list.containers.at[1].member, "second_long_name_xyz.o");
		CHECK_STR(f.list.containers.at[2].member, "bsd?.o");
		CHECK(reads_as(&f, 2, MAKE_PTX));
	}
	done(&f);

	look(&f, "!<thin>\n", 8, 0);
	CHECK_EQ(f.result, IMAGE_BAD);
	CHECK(strstr(f.said.at, "thin archive"));
	done(&f);
	text_fini(&bin);
	text_fini(&elf);
	text_fini(&ar);
}

static void test_ptx_text(void)
{
	static const char text[] =
		"// a comment with .version 1.0\n/* and\nanother */ .version 7.8\n.target sm_90a, debug\n";
	struct fixture f;

	look(&f, text, sizeof(text) - 1, 0);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.images.at[0].isa_major, 7);
	CHECK_EQ(f.list.images.at[0].isa_minor, 8);
	CHECK(f.list.images.at[0].target.sm == 90 && f.list.images.at[0].target.suffix == 'a' &&
	      f.list.images.at[0].debug);
	CHECK(reads_as(&f, 0, text));
	done(&f);
	look_pointer(&f, text);
	CHECK_MSG(f.result == IMAGE_OK && f.list.images.at[0].stored_bytes == sizeof(text) - 1,
		  "text ended by NUL");
	done(&f);
	look(&f, "hello", 5, 0);
	CHECK_EQ(f.result, IMAGE_NONE);
	done(&f);
	look(&f, "", 0, 0);
	CHECK_EQ(f.result, IMAGE_NONE);
	done(&f);
	look_pointer(&f, "");
	CHECK_EQ(f.result, IMAGE_NONE);
	done(&f);
	look_pointer(&f, NULL);
	CHECK_EQ(f.result, IMAGE_NONE);
	done(&f);
}

static void test_wrapper(void)
{
	struct image_spec specs[] = {make_spec(80, 0, IMAGE_ZSTD), make_spec(90, 0, IMAGE_PLAIN)};
	struct text a = {0}, b = {0}, empty = {0};
	const void *prelinked[] = {NULL, NULL, NULL};
	struct {
		u32 magic, version;
		const void *fatbin;
		const void **prelinked;
	} w = {0x466243b1, 1, NULL, NULL};
	struct fixture f;

	make_fatbin(&a, specs, 1);
	make_fatbin(&b, specs, 2);
	make_fatbin(&empty, specs, 0);
	w.fatbin = a.at;
	look_pointer(&f, &w);
	CHECK_MSG(f.result == IMAGE_OK && f.list.images.len == 1 && reads_as(&f, 0, MAKE_PTX),
		  "wrapper of version 1");
	done(&f);

	w.version = 2;
	w.fatbin = empty.at;
	prelinked[0] = a.at;
	prelinked[1] = b.at;
	w.prelinked = prelinked;
	look_pointer(&f, &w);
	CHECK_EQ(f.result, IMAGE_OK);
	CHECK_EQ(f.list.containers.len, 3);
	CHECK_EQ(f.list.images.len, 3);
	CHECK_EQ(f.list.containers.at[0].count, 0);
	CHECK(reads_as(&f, 2, MAKE_PTX));
	done(&f);

	w.version = 3;
	look_pointer(&f, &w);
	CHECK_EQ(f.result, IMAGE_BAD);
	CHECK_STR(f.said.at, "test: error: fat binary wrapper of version 3; 1 and 2 are known\n");
	done(&f);
	w.version = 1;
	w.fatbin = "not a fat binary";
	look_pointer(&f, &w);
	CHECK_EQ(f.result, IMAGE_BAD);
	done(&f);
	w.fatbin = NULL;
	look_pointer(&f, &w);
	CHECK_EQ(f.result, IMAGE_BAD);
	done(&f);

	look_pointer(&f, b.at);
	CHECK_MSG(f.result == IMAGE_OK && f.list.images.len == 2, "a container without a wrapper");
	done(&f);
	text_fini(&a);
	text_fini(&b);
	text_fini(&empty);
}

static bool slice_is(const char *s, u32 n, const char *text)
{
	return s && n == strlen(text) && !memcmp(s, text, n);
}

static void test_scan(void)
{
	static const char text[] =
		".version 8.0\n.target sm_80\n"
		"// .entry in_comment()\n/* .entry in_block_comment() { */\n"
		".file 1 \"a .entry in_string() { \\\" .entry also() {\"\n"
		".extern .func (.param .b32 r) f(.param .u64 q);\n"
		".visible .entry plain\n{ .reg .u32 .entry; { ret; } }\n"
		".weak .entry $odd$name_1(.param .u64 .ptr .global .align 16 p,\n"
		"\t.param .align 8 .b8 s[0x28], .param .f32 x)"
		".maxntid 128, 1, 1\n{ \"}\" /* } */ }\n"
		".entry last(.param .texref t, .param .mystery u, .param .f16x2 h) { }\n";
	struct image_kernels k = {0};
	const struct image_param *p;

	CHECK(image_scan_ptx(text, sizeof(text) - 1, &k));
	CHECK_EQ(k.list.len, 3);
	CHECK(slice_is(k.list.at[0].name, k.list.at[0].name_len, "plain"));
	CHECK(k.list.at[0].has_params && k.list.at[0].param_count == 0);
	CHECK(slice_is(k.list.at[1].name, k.list.at[1].name_len, "$odd$name_1"));
	CHECK_EQ(k.list.at[1].param_count, 3);
	p = k.list.at[1].params;
	CHECK(slice_is(p[0].name, p[0].name_len, "p") &&
	      slice_is(p[0].type, p[0].type_len, ".u64"));
	CHECK(slice_is(p[0].space, p[0].space_len, ".global") && p[0].align == 8 &&
	      p[0].bytes == 8);
	CHECK(slice_is(p[1].name, p[1].name_len, "s") && p[1].elements == 40 && p[1].bytes == 40 &&
	      p[1].align == 8 && !p[1].space);
	CHECK(p[2].bytes == 4 && p[2].elements == 0 && p[2].align == 4);
	CHECK(slice_is(k.list.at[2].name, k.list.at[2].name_len, "last"));
	CHECK_EQ(k.list.at[2].param_count, 3);
	p = k.list.at[2].params;
	CHECK(p[0].bytes == 8 && p[1].bytes == 0 && !p[1].type && p[2].bytes == 4);
	image_kernels_fini(&k);
	for (size_t n = 0; n < sizeof(text);
	     n++) { /* no reading past any end; the sanitizer watches */
		char *copy = malloc(n ? n : 1);

		memcpy(copy, text, n);
		k = (struct image_kernels){0};
		if (!image_scan_ptx(copy, n, &k))
			CHECK_MSG(false, "a cut text is scanned");
		image_kernels_fini(&k);
		free(copy);
	}
}

int main(void)
{
	test_round_trip();
	test_elf();
	test_cubin();
	test_linked_cubin();
	test_machine_code();
	test_archive();
	test_ptx_text();
	test_wrapper();
	test_scan();
	return check_done();
}
