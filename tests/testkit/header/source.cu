template <typename T> __global__ void scale(T *x)
{
	x[threadIdx.x] *= FACTOR;
}

template __global__ void scale<double>(double *x);
