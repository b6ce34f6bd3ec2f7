/*
 * Data for kernels from the command line: types, initial values, NumPy files, printing.
 */
#ifndef PL_TOOLS_EXEC_DATA_H
#define PL_TOOLS_EXEC_DATA_H

#include "src/base/text.h"

enum data_kind { DATA_BITS, DATA_UINT, DATA_SINT, DATA_FLOAT, DATA_HALF, DATA_BFLOAT };

struct data_type {
	const char *name; /* "f32" */
	u8 kind, bytes;
	const char *numpy; /* "f4", as in NumPy's descr after the byte order; NULL: none */
};

/* The type of this name, NULL: there is none. */
const struct data_type *data_type_find(const char *name, size_t n);

/* Is a value of the type an integer, or bits? */
bool data_is_whole(const struct data_type *t);

/* Elements in memory. */
struct data {
	const struct data_type *type;
	u64 count;
	u8 *bytes;  /* malloc'ed */
	bool array; /* [N] was written */
};

void data_fini(struct data *d);

/*
 * Parse TYPE, TYPE[N] or TYPE[]; leaves *s after it. count: UINT64_MAX when it is to follow from
 * the values. Returns false with a reason in `why`.
 */
bool data_parse_type(const char **s, struct data *out, struct text *why);
/*
 * Fill `d`, whose type and count are set, from an initialiser: a list of numbers, zeros, ones,
 * iota, random:SEED, or @FILE (raw bytes, or .npy by its first bytes). NULL: zeros. Returns false
 * with a reason, also when a value is beyond what the type holds.
 */
bool data_fill(struct data *d, const char *init, struct text *why);

/* The bits of an element, and their value. */
u64 data_get(const struct data *d, u64 i);
long double data_real(const struct data_type *t, u64 bits);
/* False: a whole type does not hold this value. */
bool data_set_real(struct data *d, u64 i, long double v);

/* " 3.5" */
void data_print_element(const struct data *d, u64 i, struct text *out);
/* "NAME[0..7] = 0 1 2 ..", eight elements a line. */
void data_print(const struct data *d, const char *name, struct text *out);
/* Write to a file: .npy by its name, else raw. Returns false with errno set. */
bool data_write(const struct data *d, const char *path);

#endif
