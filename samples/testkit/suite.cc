/*
 * Three tests of GoogleTest with kernels and calls of CUDA; the second writes out of bounds. What becomes of the third
 * is the policy's: ptxloom run --after-fault=stick, reset or exit. Built by
 *     ptxloom cc -x cu suite.cc -lgtest -o suite
 */
#include <gtest/gtest.h>

#include <ptxloom_test.hpp>

__global__ void store(int *p, size_t i)
{
	p[i] = 1;
}

/* Stores to element i of an array of one. */
static cudaError_t store_at(size_t i)
{
	int *p, value = 0;
	cudaError_t status = cudaMalloc(&p, sizeof(int));

	if (status == cudaSuccess) {
		store<<<1, 1>>>(p, i);
		status = cudaMemcpy(&value, p, sizeof(int), cudaMemcpyDeviceToHost);
	}
	if (status == cudaSuccess)
		status = cudaFree(p);
	EXPECT_EQ(value, status == cudaSuccess);
	return status;
}

TEST(suite, first)
{
	EXPECT_EQ(store_at(0), cudaSuccess);
}

TEST(suite, out_of_bounds)
{
	EXPECT_EQ(store_at(size_t(1) << 40), cudaSuccess);
}

TEST(suite, last)
{
	EXPECT_EQ(store_at(0), cudaSuccess);
}

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	PTXLOOM_TEST_LISTENER();
	return RUN_ALL_TESTS();
}
