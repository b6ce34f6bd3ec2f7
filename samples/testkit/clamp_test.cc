/*
 * Tests of the kernels in clamp.cu with ptxloom_test.hpp: no GPU, no calls of CUDA. Built by
 *     g++ -std=c++17 clamp_test.cc $(pkg-config --cflags --libs ptxloom) -lgtest -lgtest_main -o clamp_test
 */
#include <gtest/gtest.h>

#include <ptxloom_test.hpp>

#include <vector>

/* Where clamp.cu is. */
#ifndef KERNELS
#define KERNELS "clamp.cu"
#endif

TEST(clamp, tails)
{
	for (const std::string &name : ptxloom::devices("t4,h100")) {
		ptxloom::device gpu(name, {"mem,race"});
		auto f = gpu.load(KERNELS).kernel<void(float *, int)>("f<float>");

		for (int n : {1, 31, 32, 33, 1000}) {
			std::vector<float> x(n), want(n);

			for (int i = 0; i < n; i++) {
				x[i] = static_cast<float>(i - n / 2) / 4;
				want[i] = x[i] < -1 ? -1 : x[i] > 1 ? 1 : x[i];
			}
			EXPECT_LAUNCH(f.grid((n + 127) / 128).block(128)(ptxloom::inout(x), n));
			EXPECT_NEAR_ALL(x, want, ptxloom::ulp(0));
		}
	}
}

TEST(clamp, too_short)
{
	ptxloom::device gpu("a100");
	auto f = gpu.load(KERNELS).kernel<void(int *, int)>("f<int>");
	std::vector<int> x(8);

	EXPECT_FAULT(f.block(32)(ptxloom::inout(x), 32), out_of_bounds);
}

TEST(clamp, any_order)
{
	ptxloom::device gpu("a100");
	auto f = gpu.load(KERNELS).kernel<void(int *, int)>("f<int>");

	ptxloom::for_each_schedule(gpu, 8, [&] {
		std::vector<int> x(1000, 7), want(1000, 1);

		EXPECT_LAUNCH(f.grid(8).block(128)(ptxloom::inout(x), 1000));
		EXPECT_NEAR_ALL(x, want);
	});
}
