#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <ptxloom_test.hpp>

#define CASE(name) TEST_CASE(#name)
#define WANT(...) CHECK((__VA_ARGS__))
#include "cases.hpp"

// What the framework throws says the schedule, too, and leaves the device as it was.
CASE(of_framework)
{
	if (is_failing())
		ptxloom::for_each_schedule(gpu(), 30, [&] { REQUIRE(gpu().seed() < 3); });
}

CASE(after_it)
{
	WANT(gpu().seed() == 0);
}
