/*
 * Static runtimes without symbols: an object is learned, an image is made of it as linkers do, and
 * its functions are found where they are. Then tables, objects and images are damaged: nothing may
 * crash or leak, nothing is found whose bytes are not those that were learned, and what is refused
 * says why.
 *   fuzz_signature                       the same changes each run
 *   fuzz_signature --long [N [FIRST]]    N of them
 *   fuzz_signature FILE ..               objects, images and tables that were found elsewhere
 */
#include "src/signature/find.h"
#include "src/signature/learn.h"
#include "tests/check.h"
#include "tests/fuzz/mutate.h"

#include <elf.h>

#define ROUNDS 3000
#define CHANGES_MAX 6
#define FUNCTIONS 24u
#define SLOT 160u /* bytes of code for a function, at most */
#define CODE_BYTES (FUNCTIONS * SLOT)
#define TWIN 5u /* has the body of the one before it */
#define OLD 3u  /* functions that are too small to have an anchor */

/* Random bytes as code, with a relocated word at byte 40 of each function. */
static u8 code[CODE_BYTES];
static u32 sizes[FUNCTIONS];
static const char *const names[FUNCTIONS] = {
	"__cudaRegisterFatBinary",
	"cudaRuntimeGetVersion",
	"cudaMalloc",
	"cudaFree",
	"cudaMemcpy",
	"cudaMemset",
	"cudaSetDevice",
	"cudaGetDevice",
	"cudaGetDeviceCount",
	"cudaEventCreate",
	"cudaEventDestroy",
	"cudaEventRecord",
	"cudaEventQuery",
	"cudaStreamCreate",
	"cudaStreamDestroy",
	"cudaStreamQuery",
	"cudaStreamSynchronize",
	"cudaMallocHost",
	"cudaFreeHost",
	"cudaMallocAsync",
	"cudaFreeAsync",
	"cudaHostAlloc",
	"cudaMemGetInfo",
	"cudaLaunchKernel",
};

static void make_code(void)
{
	u64 state = mutate_state(1234);

	for (u32 i = 0; i < FUNCTIONS; i++) {
		u8 *at = code + i * SLOT;

		sizes[i] = i < OLD ? 24 + i : 60 + (u32)(mutate_next(&state) % 90);
		for (u32 k = 0; k < SLOT; k++)
			at[k] = (u8)(k < sizes[i] ? mutate_next(&state) >> 8 : 0x90);
	}
	memcpy(code + TWIN * SLOT, code + (TWIN - 1) * SLOT, SLOT);
	sizes[TWIN] = sizes[TWIN - 1];
}

static u32 relocated(u32 function)
{
	return function < OLD ? 8 : 40;
}

/* ---- an object, each function in a section of its own or all in one ---- */

static void add_section(struct text *t, Elf64_Shdr *s, u32 type, const void *p, size_t bytes)
{
	s->sh_type = type;
	s->sh_offset = t->len;
	s->sh_size = bytes;
	text_add(t, p, bytes);
	while (t->len % 8)
		text_add(t, "", 1);
}

static void add_code(struct text *t, Elf64_Shdr *s, u32 own, u32 first, u32 count)
{
	Elf64_Rela rela[FUNCTIONS];

	for (u32 i = 0; i < count; i++)
		rela[i] = (Elf64_Rela){i * SLOT + relocated(first + i),
				       ELF64_R_INFO(1, R_X86_64_PC32), -4};
	add_section(t, s, SHT_PROGBITS, code + first * SLOT, (size_t)count * SLOT);
	s->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	add_section(t, s + 1, SHT_RELA, rela, count * sizeof(*rela));
	s[1].sh_info = own;
}

static void make_object(struct text *t, bool several)
{
	Elf64_Shdr sh[3 + 2 * FUNCTIONS] = {{0}};
	Elf64_Sym sym[FUNCTIONS] = {{0}};
	Elf64_Ehdr eh = {.e_type = ET_REL, .e_machine = EM_X86_64};
	struct text strings = {0};
	u32 pieces = several ? FUNCTIONS : 1, n = 1;

	memcpy(eh.e_ident, "\177ELF\2\1\1", 7);
	text_add(t, (const char *)&eh, sizeof(eh));
	text_add(&strings, "", 1);
	for (u32 i = 0; i < FUNCTIONS; i++) {
		sym[i].st_name = (u32)strings.len;
		sym[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		sym[i].st_shndx = (u16)(several ? 1 + 2 * i : 1);
		sym[i].st_value = several ? 0 : i * SLOT;
		sym[i].st_size = sizes[i];
		text_add(&strings, names[i], strlen(names[i]) + 1);
	}
	for (u32 i = 0; i < pieces; i++, n += 2)
		add_code(t, &sh[n], n, i, FUNCTIONS / pieces);
	add_section(t, &sh[n], SHT_SYMTAB, sym, sizeof(sym));
	sh[n].sh_link = n + 1;
	add_section(t, &sh[n + 1], SHT_STRTAB, strings.at, strings.len);
	eh.e_shoff = t->len;
	eh.e_shnum = (u16)(n + 2);
	eh.e_shentsize = sizeof(*sh);
	text_add(t, (const char *)sh, (n + 2) * sizeof(*sh));
	memcpy(t->at, &eh, sizeof(eh));
	text_fini(&strings);
}

static void make_archive(struct text *t)
{
	struct text o = {0};

	make_object(&o, false);
	text_puts(t, "!<arch>\n");
	text_printf(t, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "a.o/", "0", "0", "0", "644", o.len);
	text_add(t, o.at, o.len);
	text_fini(&o);
}

/* ---- an image ---- */

#define IMAGE_AT 0x1000u    /* address of its first byte */
#define IMAGE_FIRST 0x400u  /* offset of its code: other functions are before it */
#define IMAGE_HEADER 0x300u /* offset of the table of functions */
#define IMAGE_BYTES (IMAGE_FIRST + 2 * CODE_BYTES + 64)

static u64 address_of(u32 function)
{
	return IMAGE_AT + IMAGE_FIRST + function * SLOT;
}

/* The program's own first function is at IMAGE_FIRST - 16. */
static void make_image(struct text *t, bool unwind)
{
	Elf64_Ehdr eh = {.e_type = ET_DYN, .e_machine = EM_X86_64, .e_phoff = 64};
	Elf64_Phdr ph[2] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_vaddr = IMAGE_AT,
		 .p_filesz = IMAGE_BYTES},
		{.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_vaddr = IMAGE_AT + IMAGE_HEADER},
	};
	u8 bytes[IMAGE_BYTES] = {0};
	u32 head[3] = {0x3b031b01, 0, FUNCTIONS + 1};

	memcpy(eh.e_ident, "\177ELF\2\1\1", 7);
	eh.e_phnum = unwind ? 2 : 1;
	eh.e_phentsize = sizeof(*ph);
	memcpy(bytes, &eh, sizeof(eh));
	memcpy(bytes + 64, ph, sizeof(ph));
	memcpy(bytes + IMAGE_HEADER, head, sizeof(head));
	for (u32 i = 0; i <= FUNCTIONS; i++) {
		u64 at = i ? address_of(i - 1) : address_of(0) - 16;
		s32 entry[2] = {(s32)(at - IMAGE_AT - IMAGE_HEADER), 0};

		memcpy(bytes + IMAGE_HEADER + 12 + i * 8, entry, sizeof(entry));
	}
	memcpy(bytes + IMAGE_FIRST, code, CODE_BYTES);
	for (u32 i = 0; i < FUNCTIONS; i++)
		memcpy(bytes + IMAGE_FIRST + i * SLOT + relocated(i), &(u32){i * 77 + 5}, 4);
	text_add(t, (const char *)bytes, sizeof(bytes));
}

/* ---- what holds of all ---- */

static bool nothing_wanted(const char *name, void *user)
{
	(void)name, (void)user;
	return false;
}

static u32 number_of(const char *name)
{
	u32 i = 0;

	while (i < FUNCTIONS && strcmp(name, names[i]) != 0)
		i++;
	return i;
}

/* Are the bytes there those of the function, but for the relocated ones? */
static bool is_body(const struct code_image *c, const struct found_function *f)
{
	u32 i = number_of(f->name), at = i < FUNCTIONS ? relocated(i) : 0;
	const u8 *there = i < FUNCTIONS ? code_executable(c, f->address, sizes[i]) : NULL;

	return there && !memcmp(there, code + i * SLOT, at) &&
	       !memcmp(there + at + 4, code + i * SLOT + at + 4, sizes[i] - at - 4);
}

/* Look for the functions of a table in an image. How many there are; UINT32_MAX: no image. */
static u32 look_for(const struct signature_set *set, const u8 *image, size_t size, bool honest)
{
	struct code_image c;
	struct found found = {0};
	u32 n = UINT32_MAX;

	if (code_open_file(&c, image, size) &&
	    find_functions(&c, set, nothing_wanted, NULL, &found)) {
		n = (u32)found.functions.len;
		for (u32 i = 0; honest && i < n; i++)
			if (!is_body(&c, &found.functions.at[i]))
				CHECK_MSG(false, "what is found has the bytes that were learned");
	}
	find_fini(&found);
	code_fini(&c);
	return n;
}

static bool learn(const struct text *object, struct text *table)
{
	struct text why = {0};
	struct learned n;
	bool ok = learn_archive((const u8 *)object->at, object->len, "made", table, &n, &why);

	if (ok != !why.len || (why.at && strchr(why.at, '\n')))
		CHECK_MSG(false, "what cannot be learned has one reason");
	text_fini(&why);
	return ok;
}

static bool read_table(struct signature_set *set, const struct text *table)
{
	struct text why = {0};
	bool ok = signature_read(set, table->at, table->len, &why);

	if (ok != !why.len || (!ok && strncmp(why.at, "line ", 5) != 0))
		CHECK_MSG(false, "what is wrong with a table has its line");
	text_fini(&why);
	return ok;
}

static void test_whole(bool several, bool unwind)
{
	struct text object = {0}, table = {0}, image = {0};
	struct signature_set set = {0};
	struct found found = {0};
	struct code_image c;
	u32 right = 0;

	make_object(&object, several);
	make_image(&image, unwind);
	CHECK_MSG(learn(&object, &table) && read_table(&set, &table), "an object is learned");
	CHECK(code_open_file(&c, (const u8 *)image.at, image.len));
	CHECK(find_functions(&c, &set, nothing_wanted, NULL, &found));
	for (size_t i = 0; i < found.functions.len; i++) {
		const struct found_function *f = &found.functions.at[i];

		right += f->address == address_of(number_of(f->name));
	}
	CHECK_EQ(found.functions.len, several && !unwind ? FUNCTIONS - OLD : FUNCTIONS);
	CHECK_EQ(right, found.functions.len);
	find_fini(&found);
	code_fini(&c);
	signature_fini(&set);
	text_fini(&object);
	text_fini(&table);
	text_fini(&image);
}

static void flip_bytes(struct text *t, size_t from, u64 *state)
{
	for (u64 n = mutate_next(state) % CHANGES_MAX + 1; n; n--) {
		size_t at = from + mutate_next(state) % (t->len - from);

		if (mutate_next(state) % 2)
			t->at[at] = (char)(t->at[at] ^ 1 << mutate_next(state) % 8);
		else
			memset(t->at + at, mutate_next(state) % 2 ? 0xff : 0,
			       min_u64(8, t->len - at));
	}
	if (mutate_next(state) % 8 == 0)
		t->len = from + mutate_next(state) % (t->len - from);
}

/* At its exact size, so that a sanitizer sees what is read behind it. */
static void shrink(struct text *t)
{
	char *exact = malloc(t->len ? t->len : 1);

	memcpy(exact, t->at, t->len);
	free(t->at);
	t->at = exact;
	t->cap = t->len;
}

static u64 done[3], whole[3];

static void damage(u64 number, const struct text *good)
{
	u64 state = mutate_state(number);
	u32 what = (u32)(mutate_next(&state) % 3);
	struct text object = {0}, table = {0}, image = {0};
	struct signature_set set = {0};
	bool ok = true;

	if (what == 0) {
		if (mutate_next(&state) % 2)
			make_archive(&object);
		else
			make_object(&object, mutate_next(&state) % 2);
		/* Its headers are where the structure is. */
		flip_bytes(&object, mutate_next(&state) % 2 ? 0 : object.len * 3 / 4, &state);
		shrink(&object);
		ok = learn(&object, &table);
	} else {
		text_add(&table, good[what - 1].at, good[what - 1].len);
	}
	for (u64 n = what == 1 ? mutate_next(&state) % CHANGES_MAX : 0; n && table.len; n--)
		mutate(&table, &good[0], &state);
	if (what == 1)
		shrink(&table);
	ok = ok && table.len && read_table(&set, &table);
	make_image(&image, mutate_next(&state) % 4);
	if (what == 2)
		flip_bytes(&image, 0, &state);
	shrink(&image);
	if (ok)
		whole[what] += look_for(&set, (const u8 *)image.at, image.len, what == 2) >=
			       FUNCTIONS - OLD;
	done[what]++;
	signature_fini(&set);
	text_fini(&object);
	text_fini(&table);
	text_fini(&image);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct text object = {.at = (char *)(uintptr_t)data, .len = size}, table = {0}, good = {0};
	struct signature_set set = {0};

	if (!good.len) {
		struct text made = {0};

		make_object(&made, false);
		learn(&made, &good);
		text_fini(&made);
	}
	learn(&object, &table);
	read_table(&set, &object);
	read_table(&set, &good);
	look_for(&set, data, size, false);
	signature_fini(&set);
	text_fini(&table);
	text_fini(&good);
	return 0;
}

int main(int argc, char **argv)
{
	struct mutate_rounds r = mutate_rounds(argc, argv, ROUNDS);
	struct text good[2] = {{0}};

	make_code();
	if (!mutate_makes(argc, argv))
		return mutate_files(argc - 1, argv + 1);
	for (int i = 0; i < 4; i++)
		test_whole(i & 1, i & 2);
	for (int i = 0; i < 2; i++) {
		struct text object = {0};

		make_object(&object, i);
		learn(&object, &good[i]);
		text_fini(&object);
	}
	for (u64 i = r.first; i < r.first + r.n; i++)
		damage(i, good);
	for (u32 i = 0; i < 3; i++) {
		printf("# %llu of %llu found\n", (unsigned long long)whole[i],
		       (unsigned long long)done[i]);
		CHECK_MSG(whole[i] && whole[i] < done[i], "damage is harmless, or seen");
	}
	text_fini(&good[0]);
	text_fini(&good[1]);
	return check_done();
}
