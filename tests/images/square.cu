/* Second translation unit of the device-linked binaries. */
__device__ int square(int x)
{
	return x * x;
}
