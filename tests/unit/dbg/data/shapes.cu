/* What a debugger has to show; compiled to shapes.nvcc.ptx and shapes.clang.ptx by make_data.sh. */
#ifdef __CLANG_ONLY__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif

enum Color { RED = 1, GREEN = 5, BLUE };
enum Flag { READ = 1, WRITE = 2, EXEC = 4 };
typedef unsigned int word;

struct Point {
	float x, y;
};

struct Base {
	int tag;
};

struct Node : Base {
	Point at;
	Node *next;
	Color color;
	char name[8];
	word mode : 3, level : 7;
	int delta : 5;
	union {
		int whole;
		unsigned char part[4];
	};
	double weight[2][2];
};

struct __half {
	unsigned short bits;
};

template <typename T, int N> struct Ring {
	T slot[N];
	int head;
	__device__ __noinline__ T push(T v)
	{
		T old = slot[head];
		slot[head] = v;
		head = (head + 1) % N;
		return old;
	}
};

namespace stats
{
__device__ int hits = 7;
__constant__ float table[4] = {1, 2, 3, 4};
__device__ __noinline__ int bump(int by)
{
	hits += by;
	return hits;
}
} // namespace stats

__device__ __forceinline__ float square(float q)
{
	float r = q * q;
	return r;
}

__global__ void shapes(float *out, int n, Point origin)
{
	__shared__ int tile[32];
	__shared__ Node nodes[4];
	int i = n + 1;
	Node local;
	Node *head = &nodes[1];
	int &ref = tile[2];
	const char *text = "warp";
	long long big = (long long)i << 33;
	bool odd = i & 1;
	unsigned char byte = (unsigned char)i;
	short small = (short)-i;
	__half half;
	Flag rights = (Flag)(READ | EXEC);
	Ring<float, 4> ring;
	half.bits = 0x3e00;
	local.at.x = origin.x;
	local.color = i & 1 ? RED : GREEN;
	local.next = head;
	ring.head = 0;
	for (int j = 0; j < 4; j++) {
		int sq = j * j;
		tile[j] = sq + i;
		ring.slot[j] = (float)sq;
	}
	head->tag = i;
	if (i < 100) {
		float s = square(local.at.x);
		out[0] = s + ring.push(s) + ref + big + odd + byte + small + half.bits;
	}
	out[1] = square(out[0]) + stats::bump(i) + stats::table[i & 3] + text[1] + local.color +
		 rights + (local.next == head);
}
