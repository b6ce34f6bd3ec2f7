/*
 * Fuzzer of module images. Three ways to use it:
 *   libFuzzer: clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer,address,undefined
 *   fuzz_image FILE...  runs these files once
 *   fuzz_image          changes files made here, the same on every run; --long [N [FIRST]]: N
 *                       changes
 * The first byte of the input, when odd, turns on the scan of all bytes.
 */
#include "tests/fuzz/mutate.h"
#include "tests/unit/image/image_exercise.h"
#include "tests/unit/image/image_make.h"

#include "tests/check.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Larger inputs find nothing that smaller ones do not. */
#define INPUT_MAX ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct guarded g;
	u32 errors;

	if (!size || size > INPUT_MAX)
		return 0;
	guarded_init(&g, size);
	exercise(guarded_put(&g, data + 1, size - 1), size - 1, *data & 1 ? IMAGE_SCAN : 0, &errors,
		 NULL);
	require(errors <= 1, "at most one error");
	guarded_fini(&g);
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#define ROUNDS 100000
#define CHANGES_MAX 8

static size_t make_seeds(struct text *seeds)
{
	static const char debug[] =
		".version 8.0\0.target sm_80\0.visible .entry scale(.param .u32 a)\0{\0}";
	struct image_spec specs[] = {make_spec(80, 0, IMAGE_ZSTD), make_spec(90, 'a', IMAGE_PLAIN),
				     make_spec(75, 0, IMAGE_LZ4)};
	struct image_spec cubin_spec = {.kind = IMAGE_SASS, .target = {80, 0}, .isa_major = 8};
	size_t n = 0;

	specs[0].options = "-maxrregcount=32";
	specs[1].source = "kernel.cu";
	for (int i = 0; i < 6; i++)
		text_add(&seeds[i], "", 1); /* the byte that chooses */
	make_fatbin(&seeds[n++], specs, 3);
	struct text bin = {0}, elf = {0}, cubin = {0};
	make_fatbin(&bin, specs, 3);
	struct make_section s = {
		.name = ".nv_fatbin", .type = SHT_PROGBITS, .data = bin.at, .size = bin.len};
	make_elf64(&elf, EM_X86_64, 0, 0, &s, 1);
	text_add(&seeds[n++], elf.at, elf.len);
	make_cubin(&cubin, 80, debug, sizeof(debug));
	text_add(&seeds[n++], cubin.at, cubin.len);
	cubin_spec.data = cubin.at;
	cubin_spec.size = cubin.len;
	make_fatbin(&seeds[n++], &cubin_spec, 1);
	struct text ar = {0};
	make_member(&ar, "a.o/", elf.at, elf.len);
	make_member(&ar, "//", "long_name.o/\n", 13);
	make_member(&ar, "/0", elf.at, elf.len);
	text_add(&seeds[n++], ar.at, ar.len);
	text_puts(&seeds[n++], MAKE_PTX);
	text_fini(&bin);
	text_fini(&elf);
	text_fini(&cubin);
	text_fini(&ar);
	return n;
}

/* A few changes: bits, bytes, words with telling values, a cut, a copied stretch. */
static size_t damage(u8 *p, size_t size, u64 *state)
{
	static const u64 words[] = {0,          1,          0x7f,       0xff,
				    0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX,
				    0xba55ed50, 64,         16};
	u32 changes = 1 + (u32)(mutate_next(state) % CHANGES_MAX);

	while (changes--) {
		size_t at = mutate_next(state) % size, from = mutate_next(state) % size;
		size_t width = (size_t)1 << mutate_next(state) % 4, run = mutate_next(state) % 64;
		u64 word = words[mutate_next(state) % ARRAY_LEN(words)];

		switch (mutate_next(state) % 6) {
		case 0:
			p[at] ^= (u8)(1u << mutate_next(state) % 8);
			break;
		case 1:
			p[at] = (u8)mutate_next(state);
			break;
		case 2:
		case 3:
			memcpy(p + at, &word, min_u64(width, size - at));
			break;
		case 4:
			memmove(p + at, p + from, min_u64(run, size - (at > from ? at : from)));
			break;
		case 5:
			if (mutate_next(state) % 8 == 0)
				size = at + 1;
			break;
		}
	}
	return size;
}

static int fuzz_seeds(struct mutate_rounds r)
{
	struct text seeds[6] = {0};
	size_t n = make_seeds(seeds);

	for (u64 i = r.first; i < r.first + r.n; i++) {
		const struct text *seed = &seeds[i % n];
		u64 state = mutate_state(i);
		u8 *copy = malloc(seed->len);

		if (!copy)
			abort();
		memcpy(copy, seed->at, seed->len);
		LLVMFuzzerTestOneInput(copy, damage(copy, seed->len, &state));
		free(copy);
	}
	printf("# %llu changed files\n", (unsigned long long)r.n);
	CHECK_MSG(r.n > 0, "changed files do no harm");
	for (size_t i = 0; i < n; i++)
		text_fini(&seeds[i]);
	return check_done();
}

int main(int argc, char **argv)
{
	if (mutate_makes(argc, argv))
		return fuzz_seeds(mutate_rounds(argc, argv, ROUNDS));
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		u8 *data = malloc(INPUT_MAX);
		size_t size = f && data ? fread(data, 1, INPUT_MAX, f) : 0;

		if (f)
			fclose(f);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
		printf("%s: %zu bytes\n", argv[i], size);
	}
	return 0;
}

#endif
