/*
 * A Jacobi solver on several GPUs: rows are dealt to the devices, every device computes its first and
 * last row in streams of their own and sends them to its neighbours while it computes the rest.
 *
 * One source, four programs: -DVARIANT=0 one thread and copies, 1 one OpenMP thread for each device,
 * 2 kernels that store into their neighbour's memory, 3 one MPI process for each device. All must give
 * exactly what one device gives alone.
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif
#if VARIANT == 1
#include <omp.h>
#elif VARIANT == 3
#include <mpi.h>
#endif

#define NX 256
#define NY 130 /* with the fixed rows above and below */
#define STEPS 20
#define DEVICES_MAX 8

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t e = (call);                                                            \
		if (e != cudaSuccess) {                                                            \
			fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(e));           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/*
 * Rows [begin, end) of to; their squared change is added to *norm. above, below: the neighbours' rows
 * that the first and the last one are stored to as well, or null.
 */
__global__ void step(float *to, const float *from, float *norm, int begin, int end, float *above,
		     float *below)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = begin + blockIdx.y;
	float v, d;

	if (x < 1 || x >= NX - 1 || y >= end)
		return;
	v = 0.25f * (from[y * NX + x - 1] + from[y * NX + x + 1] + from[(y - 1) * NX + x] +
		     from[(y + 1) * NX + x]);
	to[y * NX + x] = v;
	if (above && y == begin)
		above[x] = v;
	if (below && y == end - 1)
		below[x] = v;
	d = v - from[y * NX + x];
	atomicAdd(norm, d * d);
}

/* A device's part: `rows` rows and one of each neighbour. */
struct part {
	int device, first, rows;
	float *a[2], *norm;
	cudaStream_t inner, top, bottom;
	cudaEvent_t top_sent[2], bottom_sent[2], reset, done;
};

static float initial(int y, int x)
{
	if (y == 0 || y == NY - 1)
		return 1.0f;
	return x == 0 || x == NX - 1 ? 0.5f : 0.0f;
}

static void make(part &p)
{
	std::vector<float> h((size_t)(p.rows + 2) * NX);
	size_t bytes = h.size() * sizeof(float);

	for (int y = 0; y < p.rows + 2; y++)
		for (int x = 0; x < NX; x++)
			h[(size_t)y * NX + x] = initial(p.first + y, x);
	CHECK(cudaSetDevice(p.device));
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc((void **)&p.a[i], bytes));
		CHECK(cudaMemcpy(p.a[i], h.data(), bytes, cudaMemcpyHostToDevice));
		CHECK(cudaEventCreateWithFlags(&p.top_sent[i], cudaEventDisableTiming));
		CHECK(cudaEventCreateWithFlags(&p.bottom_sent[i], cudaEventDisableTiming));
	}
	CHECK(cudaMalloc((void **)&p.norm, sizeof(float)));
	CHECK(cudaEventCreateWithFlags(&p.reset, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&p.done, cudaEventDisableTiming));
	CHECK(cudaStreamCreateWithFlags(&p.inner, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&p.top, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&p.bottom, cudaStreamNonBlocking));
}

static void launch(const part &p, int now, int begin, int end, cudaStream_t s, float *above,
		   float *below)
{
	if (begin < end)
		step<<<dim3((NX + 63) / 64, end - begin), 64, 0, s>>>(p.a[!now], p.a[now], p.norm, begin,
								  end, above, below);
	CHECK(cudaGetLastError());
}

/* Start the kernels of a step. up, down: neighbours in this process, whose rows p reads and writes. */
static void compute(part &p, int now, const part *up, const part *down, bool store)
{
	float *above = up && store ? up->a[!now] + (size_t)(up->rows + 1) * NX : nullptr;
	float *below = down && store ? down->a[!now] : nullptr;

	CHECK(cudaSetDevice(p.device));
	CHECK(cudaMemsetAsync(p.norm, 0, sizeof(float), p.inner));
	CHECK(cudaEventRecord(p.reset, p.inner));
	CHECK(cudaStreamWaitEvent(p.top, p.reset, 0));
	CHECK(cudaStreamWaitEvent(p.bottom, p.reset, 0));
	if (up)
		CHECK(cudaStreamWaitEvent(p.top, up->bottom_sent[now], 0));
	if (down)
		CHECK(cudaStreamWaitEvent(p.bottom, down->top_sent[now], 0));
	launch(p, now, 1, 2, p.top, above, nullptr);
	launch(p, now, p.rows > 1 ? p.rows : 2, p.rows + 1, p.bottom, nullptr, below);
	if (up && !store)
		CHECK(cudaMemcpyPeerAsync(up->a[!now] + (size_t)(up->rows + 1) * NX, up->device,
					  p.a[!now] + NX, p.device, NX * sizeof(float), p.top));
	if (down && !store)
		CHECK(cudaMemcpyPeerAsync(down->a[!now], down->device, p.a[!now] + (size_t)p.rows * NX,
					  p.device, NX * sizeof(float), p.bottom));
	CHECK(cudaEventRecord(p.top_sent[!now], p.top));
	CHECK(cudaEventRecord(p.bottom_sent[!now], p.bottom));
	launch(p, now, 2, p.rows, p.inner, nullptr, nullptr);
	/* The next step of any stream begins when all of this one is done. */
	CHECK(cudaStreamWaitEvent(p.inner, p.top_sent[!now], 0));
	CHECK(cudaStreamWaitEvent(p.inner, p.bottom_sent[!now], 0));
}

static float finish(part &p)
{
	float norm;

	CHECK(cudaSetDevice(p.device));
	CHECK(cudaMemcpyAsync(&norm, p.norm, sizeof(norm), cudaMemcpyDeviceToHost, p.inner));
	CHECK(cudaStreamSynchronize(p.inner));
	return norm;
}

static void deal(part *parts, int n)
{
	int rows = NY - 2, first = 0;

	for (int i = 0; i < n; i++) {
		parts[i].device = i;
		parts[i].first = first;
		parts[i].rows = rows / n + (i < rows % n);
		first += parts[i].rows;
	}
}

/* All of the domain on one device. */
static std::vector<float> alone(int device, float *norm)
{
	std::vector<float> h((size_t)NX * NY);
	part p;

	deal(&p, 1);
	p.device = device;
	make(p);
	for (int t = 0; t < STEPS; t++)
		compute(p, t & 1, nullptr, nullptr, false);
	*norm = finish(p);
	CHECK(cudaMemcpy(h.data(), p.a[STEPS & 1], h.size() * sizeof(float), cudaMemcpyDeviceToHost));
	return h;
}

/* How many values of a part differ from the whole. */
static int differences(const part &p, const std::vector<float> &whole)
{
	std::vector<float> h((size_t)(p.rows + 2) * NX);
	int bad = 0;

	CHECK(cudaSetDevice(p.device));
	CHECK(cudaMemcpy(h.data(), p.a[STEPS & 1], h.size() * sizeof(float), cudaMemcpyDeviceToHost));
	for (int y = 1; y <= p.rows; y++)
		for (int x = 0; x < NX; x++)
			bad += h[(size_t)y * NX + x] != whole[(size_t)(p.first + y) * NX + x];
	return bad;
}

#if VARIANT == 3

/* The neighbours' rows go through the host. */
static void exchange(part &p, int now, int rank, int size)
{
	std::vector<float> out(NX), in(NX);
	int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	float *a = p.a[!now];

	CHECK(cudaStreamSynchronize(p.top));
	CHECK(cudaMemcpy(out.data(), a + NX, NX * sizeof(float), cudaMemcpyDeviceToHost));
	MPI_Sendrecv(out.data(), NX, MPI_FLOAT, up, 0, in.data(), NX, MPI_FLOAT, down, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (down != MPI_PROC_NULL)
		CHECK(cudaMemcpy(a + (size_t)(p.rows + 1) * NX, in.data(), NX * sizeof(float),
				 cudaMemcpyHostToDevice));
	CHECK(cudaStreamSynchronize(p.bottom));
	CHECK(cudaMemcpy(out.data(), a + (size_t)p.rows * NX, NX * sizeof(float),
			 cudaMemcpyDeviceToHost));
	MPI_Sendrecv(out.data(), NX, MPI_FLOAT, down, 1, in.data(), NX, MPI_FLOAT, up, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (up != MPI_PROC_NULL)
		CHECK(cudaMemcpy(a, in.data(), NX * sizeof(float), cudaMemcpyHostToDevice));
}

int main(int argc, char **argv)
{
	part parts[DEVICES_MAX];
	int rank, size, devices, bad, all_bad;
	float norm = 0, sum = 0, expected;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	CHECK(cudaGetDeviceCount(&devices));
	deal(parts, size);
	parts[rank].device = rank % devices;
	std::vector<float> whole = alone(rank % devices, &expected);
	make(parts[rank]);
	for (int t = 0; t < STEPS; t++) {
		compute(parts[rank], t & 1, nullptr, nullptr, false);
		exchange(parts[rank], t & 1, rank, size);
		norm = finish(parts[rank]);
	}
	MPI_Allreduce(&norm, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	bad = differences(parts[rank], whole);
	bad += sum < expected * 0.999f || sum > expected * 1.001f;
	MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, %d devices, norm %g: %s\n", size, devices, sum,
		       all_bad ? "wrong" : "all right");
	MPI_Finalize();
	return all_bad != 0;
}

#else

/* One step of part i; when all parts have been given one, the next begins. */
static void one_step(part *parts, int n, int i, int t)
{
	compute(parts[i], t & 1, i > 0 ? &parts[i - 1] : nullptr, i + 1 < n ? &parts[i + 1] : nullptr,
		VARIANT == 2);
}

static void run(part *parts, int n)
{
#if VARIANT == 1
#pragma omp parallel num_threads(n)
	{
		int i = omp_get_thread_num();

		for (int t = 0; t < STEPS; t++) {
			one_step(parts, n, i, t);
#pragma omp barrier
		}
	}
#else
	for (int t = 0; t < STEPS; t++)
		for (int i = 0; i < n; i++)
			one_step(parts, n, i, t);
#endif
}

int main()
{
	part parts[DEVICES_MAX];
	int n = 0, bad = 0;
	float norm = 0, expected;

	CHECK(cudaGetDeviceCount(&n));
	n = n < DEVICES_MAX ? n : DEVICES_MAX;
	std::vector<float> whole = alone(0, &expected);
	deal(parts, n);
	for (int i = 0; i < n; i++)
		make(parts[i]);
	for (int i = 0; i < n; i++)
		for (int k = i - 1; k <= i + 1; k += 2) {
			int can = 0;

			if (k < 0 || k >= n)
				continue;
			CHECK(cudaDeviceCanAccessPeer(&can, i, k));
			CHECK(cudaSetDevice(i));
			if (can)
				CHECK(cudaDeviceEnablePeerAccess(k, 0));
			else if (VARIANT == 2)
				exit(2);
		}
	run(parts, n);
	for (int i = 0; i < n; i++) {
		norm += finish(parts[i]);
		bad += differences(parts[i], whole);
	}
	bad += norm < expected * 0.999f || norm > expected * 1.001f;
	printf("%d devices, norm %g: %s\n", n, norm, bad ? "wrong" : "all right");
	return bad != 0;
}

#endif
