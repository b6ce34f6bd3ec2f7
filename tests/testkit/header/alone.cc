#include <ptxloom_test.hpp>

struct test_case {
	const char *name;
	void (*run)();
	test_case *next;
};
static test_case *first;
static unsigned wrong;

#define CASE(name)                                                       \
	static void name();                                              \
	static test_case name##_case{#name, name, first};                \
	static const bool name##_there = (first = &name##_case) != nullptr; \
	static void name()
#define WANT(...)                                                                          \
	do {                                                                               \
		if (!(__VA_ARGS__)) {                                                      \
			std::fprintf(stderr, "%s:%d: wrong\n", __FILE__, __LINE__);        \
			wrong++;                                                           \
		}                                                                          \
	} while (false)
#include "cases.hpp"

int main()
{
	for (test_case *c = first; c; c = c->next)
		c->run();
	std::printf("%u not met\n", wrong + ptxloom::failures());
	return wrong || ptxloom::failures();
}
