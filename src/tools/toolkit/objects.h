/*
 * Objects with relocatable device code. Each asks, by an undefined symbol that ends in its id, for
 * a function that registers it; device linking makes these functions.
 */
#ifndef PL_TOOLS_OBJECTS_H
#define PL_TOOLS_OBJECTS_H

#include "src/base/arena.h"
#include "src/base/vec.h"

/* One object, or a member of an archive. */
struct object_unit {
	const char *id;   /* "__nv_6e7f2979237331fd" */
	const char *name; /* for messages: "a.o", "liba.a(b.o)" */
	const u8 *data;
	size_t size;
};

/* A file that is open: its units lead into it. */
struct object_file {
	int fd;
	void *elf;
};

struct objects {
	struct arena arena;
	VEC(struct object_file) files;
	VEC(struct object_unit) units; /* in the order of the files; an id is there once */
	VEC(const char *) linked;      /* ids whose functions another object has already */
};

/* Search a file. False after a message; files that cannot hold device code are passed over. */
bool objects_add(struct objects *o, const char *path);
/* Forget what is linked already. */
void objects_drop_linked(struct objects *o);
void objects_fini(struct objects *o);

#endif
