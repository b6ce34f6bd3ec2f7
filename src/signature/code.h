/*
 * The code of a program or a library, in memory or in a file, read with bounds checks.
 */
#ifndef PL_CODE_H
#define PL_CODE_H

#include "src/base/vec.h"

#include <elf.h>

#define CODE_PARTS 32u

struct code_part {
	u64 address, bytes;
	const u8 *at;
	bool executable;
};

struct code_image {
	struct code_part parts[CODE_PARTS];
	u32 part_count;
	u64 unwind; /* where its table of functions is; 0: nowhere */
	/* Where its functions begin, rising, if that table says so. */
	VEC(u64) starts;
};

/*
 * What is mapped: address 0 of the program headers is at `base`. False: there is no memory; a table
 * of functions that is damaged is none.
 */
bool code_open_memory(struct code_image *c, const u8 *base, const Elf64_Phdr *ph, u32 count);
/* What a file has. False also: it is not a 64-bit x86 ELF file with program headers. */
bool code_open_file(struct code_image *c, const u8 *file, size_t size);
void code_fini(struct code_image *c);

/* `bytes` bytes at an address, NULL: they do not lie in one part. */
const u8 *code_at(const struct code_image *c, u64 address, u64 bytes);
/* The same, and they are executable. */
const u8 *code_executable(const struct code_image *c, u64 address, u64 bytes);
/* Places where functions may begin, rising; *i is 0 for the first. False: there are no more. */
bool code_next_start(const struct code_image *c, u64 *i, u64 *address);
/* Index in `starts` of the first that is not below an address. */
size_t code_start_from(const struct code_image *c, u64 address);

#endif
