/*
 * Which number CUPTI has for a function.
 */
#include "runtime/cupti/cupti.h"

#include <ctype.h>
#include <stdlib.h>

struct id_row {
	u32 id;
	const char *name;
};

static const struct id_row runtime_rows[] = {
#define CBID(number, name) {number, name},
#include "runtime/cupti/runtime_cbid.def"
};

static const struct id_row driver_rows[] = {
#define CBID(number, name) {number, name},
#include "runtime/cupti/driver_cbid.def"
};

static struct {
	pthread_once_t once;
	struct cupti_function runtime[ARRAY_LEN(runtime_rows)], driver[ARRAY_LEN(driver_rows)];
} ids = {.once = PTHREAD_ONCE_INIT};

static int compare_cupti_names(const void *a, const void *b)
{
	return strcmp(((const struct cupti_function *)a)->name,
		      ((const struct cupti_function *)b)->name);
}

/* The runtime's names end with the version that they came with: cudaMalloc_v3020. */
static const char *without_version(const char *name)
{
	enum { LEAST = 4 };
	const char *at = strrchr(name, '_');
	size_t n = at && at[1] == 'v' ? strspn(at + 2, "0123456789") : 0;

	return n >= LEAST && !at[2 + n] ? strndup(name, (size_t)(at - name)) : name;
}

/* Kept until the process ends. */
static void sort_ids(void)
{
	for (size_t i = 0; i < ARRAY_LEN(runtime_rows); i++)
		ids.runtime[i] = (struct cupti_function){runtime_rows[i].id, runtime_rows[i].name,
							 without_version(runtime_rows[i].name)};
	for (size_t i = 0; i < ARRAY_LEN(driver_rows); i++)
		ids.driver[i] = (struct cupti_function){driver_rows[i].id, driver_rows[i].name,
							driver_rows[i].name};
	qsort(ids.runtime, ARRAY_LEN(ids.runtime), sizeof(*ids.runtime), compare_cupti_names);
	qsort(ids.driver, ARRAY_LEN(ids.driver), sizeof(*ids.driver), compare_cupti_names);
}

const struct cupti_function *cupti_function_find(const char *name, enum cupti_domain *domain)
{
	struct cupti_function key = {.name = name};
	bool is_driver = name[0] == 'c' && name[1] == 'u' && isupper((unsigned char)name[2]);

	pthread_once(&ids.once, sort_ids);
	*domain = is_driver ? CUPTI_DRIVER : CUPTI_RUNTIME;
	return is_driver ? bsearch(&key, ids.driver, ARRAY_LEN(ids.driver), sizeof(key),
				   compare_cupti_names)
			 : bsearch(&key, ids.runtime, ARRAY_LEN(ids.runtime), sizeof(key),
				   compare_cupti_names);
}

const struct cupti_function *cupti_function_at(enum cupti_domain domain, u32 id)
{
	const struct cupti_function *list = domain == CUPTI_DRIVER ? ids.driver : ids.runtime;
	size_t n = domain == CUPTI_DRIVER ? ARRAY_LEN(ids.driver) : ARRAY_LEN(ids.runtime);

	pthread_once(&ids.once, sort_ids);
	for (size_t i = 0; i < n; i++)
		if (list[i].id == id)
			return &list[i];
	return NULL;
}
