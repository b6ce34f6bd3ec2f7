#include <gtest/gtest.h>

#include <ptxloom_test.hpp>

#define CASE(name) TEST(header, name)
#define WANT(...) EXPECT_TRUE(__VA_ARGS__)
#include "cases.hpp"

// Expectations of the framework end it, too, also after others have failed.
CASE(of_framework)
{
	unsigned runs = 0;

	EXPECT_FALSE(is_failing());
	WANT(ptxloom::for_each_schedule(gpu(), 4, [&] { EXPECT_FALSE(is_failing() && ++runs == 2); }) != is_failing() ||
	     std::getenv("PTXLOOM_SEED"));
	WANT(runs == (is_failing() && !std::getenv("PTXLOOM_SEED") ? 2 : is_failing()));
}
