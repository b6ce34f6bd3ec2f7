/*
 * The C++ side of the runtime's interface: pointers of any type, variables and kernels by
 * themselves, launches with typed arguments, and the forms that functions had in versions before
 * 13.
 */
#ifndef PTXLOOM_RUNTIME_CXX_H
#define PTXLOOM_RUNTIME_CXX_H

#define PTXLOOM_CALL static inline __host__ cudaError_t

/* ---- memory ---- */

template <class T> PTXLOOM_CALL cudaMalloc(T **out, size_t size)
{
	return cudaMalloc((void **)(void *)out, size);
}
template <class T> PTXLOOM_CALL cudaMallocManaged(T **out, size_t size, unsigned flags = cudaMemAttachGlobal)
{
	return cudaMallocManaged((void **)(void *)out, size, flags);
}
template <class T> PTXLOOM_CALL cudaHostAlloc(T **out, size_t size, unsigned flags)
{
	return cudaHostAlloc((void **)(void *)out, size, flags);
}
template <class T> PTXLOOM_CALL cudaMallocHost(T **out, size_t size, unsigned flags = 0)
{
	return cudaHostAlloc((void **)(void *)out, size, flags);
}
template <class T> PTXLOOM_CALL cudaHostGetDevicePointer(T **out, void *host, unsigned flags)
{
	return cudaHostGetDevicePointer((void **)(void *)out, host, flags);
}
template <class T> PTXLOOM_CALL cudaMallocPitch(T **out, size_t *pitch, size_t width, size_t height)
{
	return cudaMallocPitch((void **)(void *)out, pitch, width, height);
}
template <class T> PTXLOOM_CALL cudaMallocAsync(T **out, size_t size, cudaStream_t stream)
{
	return cudaMallocAsync((void **)(void *)out, size, stream);
}
template <class T>
PTXLOOM_CALL cudaMallocFromPoolAsync(T **out, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
	return cudaMallocFromPoolAsync((void **)(void *)out, size, pool, stream);
}
template <class T>
PTXLOOM_CALL cudaMallocAsync(T **out, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
	return cudaMallocFromPoolAsync((void **)(void *)out, size, pool, stream);
}
template <class T>
PTXLOOM_CALL cudaStreamAttachMemAsync(cudaStream_t stream, T *p, size_t length = 0,
				      unsigned flags = cudaMemAttachSingle)
{
	return cudaStreamAttachMemAsync(stream, (void *)p, length, flags);
}
static inline __host__ struct cudaMemLocation ptxloom_location(int device)
{
	struct cudaMemLocation l;

	l.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	l.id = device < 0 ? 0 : device;
	return l;
}
PTXLOOM_CALL cudaMemPrefetchAsync(const void *p, size_t size, int device, cudaStream_t stream = 0)
{
	return cudaMemPrefetchAsync(p, size, ptxloom_location(device), 0, stream);
}
PTXLOOM_CALL cudaMemAdvise(const void *p, size_t size, enum cudaMemoryAdvise advice, int device)
{
	return cudaMemAdvise(p, size, advice, ptxloom_location(device));
}

/* ---- variables: a symbol is the variable itself ---- */

template <class T>
PTXLOOM_CALL cudaMemcpyToSymbol(const T &symbol, const void *src, size_t size, size_t offset = 0,
				enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return cudaMemcpyToSymbol((const void *)&symbol, src, size, offset, kind);
}
template <class T>
PTXLOOM_CALL cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t size, size_t offset = 0,
				  enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	return cudaMemcpyFromSymbol(dst, (const void *)&symbol, size, offset, kind);
}
template <class T>
PTXLOOM_CALL cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t size, size_t offset = 0,
				     enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
				     cudaStream_t stream = 0)
{
	return cudaMemcpyToSymbolAsync((const void *)&symbol, src, size, offset, kind, stream);
}
template <class T>
PTXLOOM_CALL cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t size, size_t offset = 0,
				       enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
				       cudaStream_t stream = 0)
{
	return cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, size, offset, kind, stream);
}
template <class P, class T> PTXLOOM_CALL cudaGetSymbolAddress(P **out, const T &symbol)
{
	return cudaGetSymbolAddress((void **)(void *)out, (const void *)&symbol);
}
template <class T> PTXLOOM_CALL cudaGetSymbolSize(size_t *out, const T &symbol)
{
	return cudaGetSymbolSize(out, (const void *)&symbol);
}

/* ---- kernels ---- */

template <class F> PTXLOOM_CALL cudaFuncSetAttribute(F *kernel, enum cudaFuncAttribute attribute, int value)
{
	return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class F> PTXLOOM_CALL cudaFuncSetCacheConfig(F *kernel, enum cudaFuncCache config)
{
	return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class F> PTXLOOM_CALL cudaFuncSetSharedMemConfig(F *kernel, enum cudaSharedMemConfig config)
{
	return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class F> PTXLOOM_CALL cudaFuncGetAttributes(struct cudaFuncAttributes *out, F *kernel)
{
	return cudaFuncGetAttributes(out, (const void *)kernel);
}
template <class F>
PTXLOOM_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F kernel, int threads, size_t shared)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
template <class F>
PTXLOOM_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F kernel, int threads,
								    size_t shared, unsigned flags)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, threads,
								      shared, flags);
}
template <class F>
PTXLOOM_CALL cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, F *kernel, int blocks, int threads)
{
	return cudaOccupancyAvailableDynamicSMemPerBlock(out, (const void *)kernel, blocks, threads);
}
template <class F>
PTXLOOM_CALL cudaOccupancyMaxActiveClusters(int *out, F *kernel, const cudaLaunchConfig_t *config)
{
	return cudaOccupancyMaxActiveClusters(out, (const void *)kernel, config);
}
template <class F>
PTXLOOM_CALL cudaOccupancyMaxPotentialClusterSize(int *out, F *kernel, const cudaLaunchConfig_t *config)
{
	return cudaOccupancyMaxPotentialClusterSize(out, (const void *)kernel, config);
}
/*
 * The block size with most threads in flight: whole warps, the largest of those that tie, at most
 * limit. shared_of(threads): dynamic shared memory for a block.
 */
template <class F, class S>
PTXLOOM_CALL cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, F kernel,
								     S shared_of, int limit = 0,
								     unsigned flags = 0)
{
	struct cudaFuncAttributes a;
	int device, sms, per_sm, warp, top, best = 0, blocks;
	cudaError_t e = cudaGetDevice(&device);

	if (e || (e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) ||
	    (e = cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device)) ||
	    (e = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) ||
	    (e = cudaDeviceGetAttribute(&top, cudaDevAttrMaxThreadsPerBlock, device)) ||
	    (e = cudaFuncGetAttributes(&a, (const void *)kernel)))
		return e;
	top = a.maxThreadsPerBlock < top ? a.maxThreadsPerBlock : top;
	top = limit > 0 && limit < top ? limit : top;
	*grid = *block = 0;
	for (int t = (top + warp - 1) / warp * warp; t > 0; t -= warp) {
		int threads = t < top ? t : top;

		e = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
			&blocks, (const void *)kernel, threads, (size_t)shared_of(threads), flags);
		if (e)
			return e;
		if (blocks * threads > best) {
			best = blocks * threads;
			*grid = blocks * sms;
			*block = threads;
		}
		if (best == per_sm)
			break;
	}
	return cudaSuccess;
}
template <class F, class S>
PTXLOOM_CALL cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F kernel, S shared_of,
							    int limit = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, shared_of, limit);
}
template <class F>
PTXLOOM_CALL cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F kernel, size_t shared = 0,
						int limit = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
		grid, block, kernel, [=](int) { return shared; }, limit);
}
template <class F>
PTXLOOM_CALL cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, F kernel, size_t shared = 0,
							 int limit = 0, unsigned flags = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
		grid, block, kernel, [=](int) { return shared; }, limit, flags);
}

template <class F>
PTXLOOM_CALL cudaLaunchKernel(F *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
			      cudaStream_t stream = 0)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class F>
PTXLOOM_CALL cudaLaunchCooperativeKernel(F *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
					 cudaStream_t stream = 0)
{
	return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class... P, class... A>
PTXLOOM_CALL cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...args)
{
	auto launch = [&](P... values) {
		void *list[] = {(void *)&values..., nullptr};

		return cudaLaunchKernelExC(config, (const void *)kernel, list);
	};

	return launch(static_cast<A &&>(args)...);
}

/* ---- events and graphs ---- */

PTXLOOM_CALL cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
	return cudaEventCreateWithFlags(event, flags);
}
PTXLOOM_CALL cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *log,
				  size_t size)
{
	if (log && size)
		*log = 0;
	return cudaGraphInstantiate(exec, graph, 0);
}
PTXLOOM_CALL cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				      const cudaGraphNode_t *to, size_t n)
{
	return cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData *)0, n);
}
PTXLOOM_CALL cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
					 const cudaGraphNode_t *to, size_t n)
{
	return cudaGraphRemoveDependencies(graph, from, to, (const cudaGraphEdgeData *)0, n);
}
PTXLOOM_CALL cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n)
{
	return cudaGraphGetEdges(graph, from, to, (cudaGraphEdgeData *)0, n);
}
PTXLOOM_CALL cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *n)
{
	return cudaGraphNodeGetDependencies(node, out, (cudaGraphEdgeData *)0, n);
}
PTXLOOM_CALL cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *n)
{
	return cudaGraphNodeGetDependentNodes(node, out, (cudaGraphEdgeData *)0, n);
}
PTXLOOM_CALL cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
			      struct cudaGraphNodeParams *params)
{
	return cudaGraphAddNode(node, graph, after, (const cudaGraphEdgeData *)0, n, params);
}
PTXLOOM_CALL cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
				 enum cudaGraphExecUpdateResult *result)
{
	cudaGraphExecUpdateResultInfo info;
	cudaError_t e = cudaGraphExecUpdate(exec, graph, &info);

	*node = info.errorNode;
	*result = info.result;
	return e;
}
PTXLOOM_CALL cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after, size_t n,
						 unsigned flags = 0)
{
	return cudaStreamUpdateCaptureDependencies(stream, after, (const cudaGraphEdgeData *)0, n, flags);
}

#undef PTXLOOM_CALL
#endif
