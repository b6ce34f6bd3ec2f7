/*
 * __cxa_demangle of the program's own C++ library, or of the system's.
 */
#include "src/base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* Itanium C++ ABI, "Demangler": the result is malloc'ed, NULL when it is not a C++ name. */
typedef char *cxa_demangle(const char *name, char *out, size_t *len, int *status);

/* There in C++ programs, without asking the loader. */
extern cxa_demangle __cxa_demangle __attribute__((weak));

static cxa_demangle *demangler;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_demangler(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	cxa_demangle *found = __cxa_demangle;

	for (size_t i = 0; i < ARRAY_LEN(libraries) && !found; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL),
		     *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&found, &symbol, sizeof(found));
	}
	__atomic_store_n(&demangler, found, __ATOMIC_RELEASE);
}

/* Where the C++ name begins. nvcc puts the file in front of names of internal linkage. */
static const char *mangled_part(const char *name)
{
	const char *at;

	if (!strncmp(name, "_Z", 2))
		return name;
	at = strncmp(name, "__nv_static_", 12) ? NULL : strstr(name, "__Z");
	return at ? at + 1 : NULL;
}

bool demangle_wants(const char *name)
{
	return mangled_part(name) != NULL;
}

void demangle_prepare(void)
{
	pthread_once(&once, load_demangler);
}

static bool is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/*
 * What tells a reader nothing; the name continues after it: "[abi:...]", in which Numba writes in
 * a hundred letters what it compiled a function with, and "_INTERNAL_...::", the namespace of nvcc
 * for what is of one file only.
 */
static const char *skip_noise(const char *at)
{
	const char *end = strncmp(at, "[abi:", 5) ? NULL : strchr(at, ']');

	if (end)
		return end + 1;
	if (strncmp(at, "_INTERNAL_", 10) != 0)
		return at;
	for (end = at; is_name_char(*end);)
		end++;
	return strncmp(end, "::", 2) ? at : end + 2;
}

static void put_readable(struct text *out, const char *name)
{
	const char *at = name;

	while (*at) {
		const char *next = at > name && is_name_char(at[-1]) && is_name_char(*at)
					   ? at
					   : skip_noise(at);

		if (next == at)
			text_add(out, at++, 1);
		else
			at = next;
	}
}

void demangle(const char *name, struct text *out)
{
	cxa_demangle *f = __atomic_load_n(&demangler, __ATOMIC_ACQUIRE);
	const char *part = f ? mangled_part(name) : NULL;
	char *plain = part ? f(part, NULL, NULL, NULL) : NULL;

	if (plain)
		put_readable(out, plain);
	else
		text_puts(out, name);
	free(plain);
}

/* ---- shorter ones ---- */

#define SHORT_NAME 200u
#define SHORT_PART 20u
#define BRACKETS_KEPT 8u

static const char *put_brackets(const char *at, u32 depth, struct text *out);

/* Neither operator< nor what compares two values. */
static bool opens_brackets(const char *begin, const char *at)
{
	static const char op[] = "operator";
	size_t n = sizeof(op) - 1, before = (size_t)(at - begin);

	return *at == '(' || (*at == '<' && before && is_name_char(at[-1]) &&
			      (before < n || memcmp(at - n, op, n) != 0));
}

/* Up to what closes the brackets, or the end of the name. */
static const char *put_inside(const char *at, char close, u32 depth, struct text *out)
{
	const char *begin = at;

	while (*at && (*at != close || (close == '>' && at > begin && at[-1] == '-')))
		if (opens_brackets(begin, at))
			at = put_brackets(at, depth, out);
		else
			text_add(out, at++, 1);
	return at;
}

static const char *put_brackets(const char *at, u32 depth, struct text *out)
{
	struct text inside = {0};
	const char *end =
		put_inside(at + 1, *at == '(' ? ')' : '>', depth ? depth - 1 : 0, &inside);

	text_add(out, at, 1);
	if (inside.at)
		text_puts(out, depth || inside.len <= SHORT_PART ? inside.at : "...");
	if (*end)
		text_add(out, end++, 1);
	text_fini(&inside);
	return end;
}

void demangle_short(const char *name, struct text *out)
{
	struct text all = {0}, part = {0};

	demangle(name, &all);
	for (u32 depth = BRACKETS_KEPT; all.len > SHORT_NAME && depth--;) {
		text_fini(&part);
		put_inside(all.at, '\0', depth, &part);
		if (part.len <= SHORT_NAME)
			break;
	}
	text_puts(out, part.at ? part.at : all.at ? all.at : name);
	text_fini(&part);
	text_fini(&all);
}
