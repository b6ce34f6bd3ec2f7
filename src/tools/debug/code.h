/*
 * The PTX of a program that does not run: read from its file, for the interpreter that answers
 * before it runs.
 */
#ifndef PL_DEBUG_CODE_H
#define PL_DEBUG_CODE_H

#include "src/dev/device.h"
#include "src/dev/image/image.h"

struct code {
	struct file *file; /* owned */
	struct image_list list;
	struct device_program program; /* only units, sources and len are filled in */
	VEC(struct image_bytes) texts;
	struct replay *replay; /* of a recorded launch, NULL: the file is not one */
};

/*
 * Read the PTX of a program's file, or of a recorded launch, for devices of this sm; NULL: there is
 * none, or none that can be read. Nothing is said about it: the program's start says what is wrong.
 * name: of the file in messages, borrowed as long as the code is open.
 */
struct code *code_open(const char *path, const char *name, u32 sm);
/* NULL is allowed. */
void code_close(struct code *c);

#endif
