/* Launches in ranges of NVTX, and with profiling switched on and off. */
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <thread>

__global__ void plain() {}
__global__ void outer() {}
__global__ void inner() {}
__global__ void started() {}
__global__ void ofdomain() {}
__global__ void threaded() {}
__global__ void captured() {}

static nvtxEventAttributes_t named(const char *name)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof(a));
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = name;
	return a;
}

static void in_graph(void)
{
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	captured<<<1, 32, 0, s>>>();
	cudaStreamEndCapture(s, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	nvtxRangePushA("graph");
	cudaGraphLaunch(exec, s);
	nvtxRangePop();
	cudaGraphLaunch(exec, s);
	cudaStreamSynchronize(s);
}

int main(int argc, char **argv)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
	nvtxEventAttributes_t a = named("phase, 1");
	nvtxRangeId_t id;

	plain<<<1, 32>>>();
	nvtxRangePushA("step");
	outer<<<1, 32>>>();
	nvtxRangePushA("solve");
	inner<<<1, 32>>>();
	std::thread([] { threaded<<<1, 32>>>(); cudaDeviceSynchronize(); }).join();
	nvtxRangePop();
	nvtxRangePop();
	id = nvtxRangeStartA("long");
	nvtxDomainRangePushEx(domain, &a);
	cudaProfilerStart();
	started<<<1, 32>>>();
	nvtxRangeEnd(id);
	ofdomain<<<1, 32>>>();
	cudaDeviceSynchronize();
	cudaProfilerStop();
	nvtxDomainRangePop(domain);
	if (argc > 1)
		in_graph();
	plain<<<1, 64>>>();
	return cudaDeviceSynchronize();
}
