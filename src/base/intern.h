/*
 * Interned strings: equal texts share one `struct str`, so names compare by pointer.
 * A table belongs to one module (or one linked program); not thread-safe.
 */
#ifndef PL_INTERN_H
#define PL_INTERN_H

#include "src/base/arena.h"

struct str {
	u32 hash;
	u32 len;
	void *user[3]; /* cache slots for the owner of the table, NULL at first */
	char text[];   /* NUL-terminated */
};

struct intern {
	struct arena *arena; /* the strings live here; not owned */
	struct str **slots;
	size_t len, cap;
};

void intern_init(struct intern *t, struct arena *arena);
void intern_fini(struct intern *t);

/* The one `struct str` for these n characters. NULL when memory is out. */
struct str *intern_get(struct intern *t, const char *s, size_t n);
/* As intern_get, but NULL when the text was never interned. */
struct str *intern_find(const struct intern *t, const char *s, size_t n);

#endif
