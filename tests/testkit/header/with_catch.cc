#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

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
