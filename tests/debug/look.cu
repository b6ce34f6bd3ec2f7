// Values of every kind, frames and recursion, for what the debugger shows.
#include <cstdio>
template <typename T, int N> struct Stack {
	T data[N];
	int top;
	__device__ Stack() : top(0) {}
	__device__ void push(T v)
	{
		data[top] = v;
		top++;
	}
	__device__ T pop() { return data[--top]; }
};
class Shape {
public:
	__device__ Shape(int id) : id(id), area(0) {}
	__device__ virtual float compute(float x) { return x; }
	int id;
protected:
	float area;
};
class Square : public Shape {
	float side;
public:
	__device__ Square(int id, float s) : Shape(id), side(s) {}
	__device__ float compute(float x) override
	{
		area = side * side + x;
		return area;
	}
};
struct Pair { int first; double second; };
__device__ int depth_of(int n)
{
	int here = n * 10;
	if (n == 0)
		return here + 1;
	int below = depth_of(n - 1);
	return below + here;
}
__device__ __forceinline__ int twice(int v)
{
	int doubled = v * 2;
	return doubled;
}
__constant__ int lut[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ Pair gpair = {7, 2.5};
extern __shared__ float dyn[];
__global__ void wide(int *out, Pair p, int n)
{
	__shared__ int tile[4][8];
	__shared__ int *where[32];
	int t = threadIdx.x + blockIdx.x * blockDim.x;
	Stack<float, 4> st;
	Square sq(t, 1.5f);
	Shape *shape = &sq;
	tile[t % 4][t % 8] = t;
	where[threadIdx.x] = &tile[t % 4][t % 8];
	dyn[threadIdx.x] = t * 0.5f;
	st.push(t);
	st.push(2.0f * t);
	__syncthreads();
	int local[5] = {1, 2, 3, 4, 5};
	auto add = [=](int a) { int s = a + t + p.first; return s; };
	int r = add(local[t % 5]);
	unsigned long long big = 1ull << 40 | t;
	int4 v4 = make_int4(t, t + 1, t + 2, t + 3);
	r += twice(r) + depth_of(t % 4);
	float a = shape->compute(r);
	bool odd = t & 1;
	char c = 'a' + t % 26;
	for (int i = 0; i < n; i++) {
		int sq2 = i * i;
		r += sq2;
	}
	out[t] = r + (int)a + lut[t % 8] + gpair.first + v4.y + (int)big + odd + c + *where[threadIdx.x];
}
int main()
{
	int *d, h[64];
	cudaMalloc(&d, sizeof(h));
	wide<<<2, 32, 128>>>(d, Pair{11, 0.25}, 3);
	cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
	printf("%d %d %d\n", h[0], h[5], h[63]);
}
