/*
 * The DWARF sections of a module as an ELF file in memory, for libdw.
 *
 * Every symbol gets an address that can be decoded again:
 *     code        1 << 60 | function << 32 | instruction, so that ranges and location lists work
 *     variables   2 << 60 | index in ir_module.vars << 32; the low half is for offsets
 */
#ifndef PL_DWARF_IMAGE_H
#define PL_DWARF_IMAGE_H

#include "src/dbg/dbg.h"

/* As libelf and libdw declare them; the header stands alone without these. */
typedef struct Elf Elf;
typedef struct Dwarf Dwarf;

#define DWARF_IMAGE_CODE (1ull << 60)
#define DWARF_IMAGE_DATA (2ull << 60)

struct dwarf_image {
	u8 *bytes; /* owned */
	Elf *elf;
	Dwarf *dwarf;
};

/* Returns false when there is no DWARF (`why` is left as it is) or when it is unusable. */
bool dwarf_image_open(struct dwarf_image *i, const struct ir_module *m, struct text *why);
void dwarf_image_close(struct dwarf_image *i);

/* The address of an instruction. */
static inline u64 dwarf_image_pc(struct dbg_place at)
{
	return DWARF_IMAGE_CODE | (u64)at.func->index << 32 | at.insn;
}

/* The function and the variable of an address, NULL: it is of another kind. */
const struct ir_func *dwarf_image_func(const struct ir_module *m, u64 address);
const struct ir_var *dwarf_image_var(const struct ir_module *m, u64 address);

#endif
