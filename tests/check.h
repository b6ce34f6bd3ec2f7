/*
 * Sixty lines instead of a test framework: TAP output, one line per check.
 *
 *     int main(void)
 *     {
 *             CHECK(1 + 1 == 2);
 *             CHECK_EQ(f(), 3);
 *             CHECK_STR(g(), "x");
 *             return check_done();
 *     }
 */
#ifndef PL_CHECK_H
#define PL_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_count, check_failed;

static inline bool check_that(bool ok, const char *what, const char *file, int line)
{
	check_count++;
	check_failed += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", check_count, what);
	if (!ok)
		printf("# at %s:%d\n", file, line);
	return ok;
}

static inline bool check_eq(long long a, long long b, const char *what, const char *file, int line)
{
	bool ok = check_that(a == b, what, file, line);

	if (!ok)
		printf("# got %lld (0x%llx), expected %lld (0x%llx)\n", a, (unsigned long long)a, b,
		       (unsigned long long)b);
	return ok;
}

static inline bool check_str(const char *a, const char *b, const char *what, const char *file,
			     int line)
{
	bool ok = check_that(a && b && !strcmp(a, b), what, file, line);

	if (!ok)
		printf("# got \"%s\"\n# expected \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
	return ok;
}

#define CHECK(x) check_that((x), #x, __FILE__, __LINE__)
/* Floats do not compile: what is behind the point would not count. CHECK(a == b) is for them. */
#define CHECK_WHOLE(x)                                                                             \
	((void)sizeof(char[_Generic((x), float : -1, double : -1, default : 1)]), (long long)(x))
#define CHECK_EQ(a, b) check_eq(CHECK_WHOLE(a), CHECK_WHOLE(b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_STR(a, b) check_str((a), (b), #a " is " #b, __FILE__, __LINE__)
#define CHECK_MSG(x, what) check_that((x), (what), __FILE__, __LINE__)

/* A program that checked nothing has failed, too. */
static inline int check_done(void)
{
	printf("1..%d\n", check_count);
	return check_failed || !check_count;
}

#endif
