/*
 * Streams, events, launches with attributes, and graphs of the CUDA runtime, for cuda_runtime.h beside
 * this file. Structures are laid out as in CUDA 13.
 */
#ifndef PTXLOOM_STREAM_H
#define PTXLOOM_STREAM_H

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef void (*cudaHostFn_t)(void *user);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);

#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventInterprocess 4
#define cudaEventRecordDefault 0
#define cudaEventRecordExternal 1
#define cudaEventWaitDefault 0
#define cudaEventWaitExternal 1
#define cudaGraphCondAssignDefault 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4

/* ---- launches ---- */

enum cudaLaunchAttributeID {
	cudaLaunchAttributeIgnore,
	cudaLaunchAttributeAccessPolicyWindow,
	cudaLaunchAttributeCooperative,
	cudaLaunchAttributeSynchronizationPolicy,
	cudaLaunchAttributeClusterDimension,
	cudaLaunchAttributeClusterSchedulingPolicyPreference,
	cudaLaunchAttributeProgrammaticStreamSerialization,
	cudaLaunchAttributeProgrammaticEvent,
	cudaLaunchAttributePriority,
	cudaLaunchAttributeMemSyncDomainMap,
	cudaLaunchAttributeMemSyncDomain,
	cudaLaunchAttributePreferredClusterDimension,
	cudaLaunchAttributeLaunchCompletionEvent,
	cudaLaunchAttributeDeviceUpdatableKernelNode,
	cudaLaunchAttributePreferredSharedMemoryCarveout,
};

enum cudaSynchronizationPolicy {
	cudaSyncPolicyAuto = 1,
	cudaSyncPolicySpin,
	cudaSyncPolicyYield,
	cudaSyncPolicyBlockingSync,
};

union cudaLaunchAttributeValue {
	char pad[64];
	cudaSynchronizationPolicy syncPolicy;
	int cooperative, programmaticStreamSerializationAllowed, priority;
	struct {
		unsigned x, y, z;
	} clusterDim;
	struct {
		cudaEvent_t event;
		int flags, triggerAtBlockStart;
	} programmaticEvent;
	struct {
		cudaEvent_t event;
		int flags;
	} launchCompletionEvent;
	unsigned sharedMemCarveout;
};

struct cudaLaunchAttribute {
	cudaLaunchAttributeID id;
	char pad[4];
	cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned numAttrs;
};

/* ---- graphs ---- */

enum cudaStreamCaptureMode {
	cudaStreamCaptureModeGlobal,
	cudaStreamCaptureModeThreadLocal,
	cudaStreamCaptureModeRelaxed,
};

enum cudaStreamCaptureStatus {
	cudaStreamCaptureStatusNone,
	cudaStreamCaptureStatusActive,
	cudaStreamCaptureStatusInvalidated,
};

enum cudaGraphNodeType {
	cudaGraphNodeTypeKernel,
	cudaGraphNodeTypeMemcpy,
	cudaGraphNodeTypeMemset,
	cudaGraphNodeTypeHost,
	cudaGraphNodeTypeGraph,
	cudaGraphNodeTypeEmpty,
	cudaGraphNodeTypeWaitEvent,
	cudaGraphNodeTypeEventRecord,
	cudaGraphNodeTypeMemAlloc = 10,
	cudaGraphNodeTypeMemFree,
	cudaGraphNodeTypeConditional = 13,
};

enum cudaGraphConditionalNodeType {
	cudaGraphCondTypeIf,
	cudaGraphCondTypeWhile,
	cudaGraphCondTypeSwitch,
};

enum cudaGraphInstantiateFlags {
	cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
	cudaGraphInstantiateFlagUpload = 2,
	cudaGraphInstantiateFlagUseNodePriority = 8,
};

enum cudaGraphExecUpdateResult {
	cudaGraphExecUpdateSuccess,
	cudaGraphExecUpdateError,
	cudaGraphExecUpdateErrorTopologyChanged,
	cudaGraphExecUpdateErrorNodeTypeChanged,
	cudaGraphExecUpdateErrorFunctionChanged,
	cudaGraphExecUpdateErrorParametersChanged,
	cudaGraphExecUpdateErrorNotSupported,
};

enum { cudaUserObjectNoDestructorSync = 1, cudaGraphUserObjectMove = 1 };

struct cudaGraphEdgeData {
	unsigned char from_port, to_port, type, reserved[5];
};

struct cudaGraphExecUpdateResultInfo {
	cudaGraphExecUpdateResult result;
	cudaGraphNode_t errorNode, errorFromNode;
};

struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
};

struct cudaMemsetParams {
	void *dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
};

struct cudaHostNodeParams {
	cudaHostFn_t fn;
	void *userData;
};

struct cudaConditionalNodeParams {
	cudaGraphConditionalHandle handle;
	cudaGraphConditionalNodeType type;
	unsigned size;
	cudaGraph_t *phGraph_out;
};

struct cudaGraphNodeParams {
	cudaGraphNodeType type;
	int reserved0[3];
	union {
		long long reserved1[29];
		cudaKernelNodeParams kernel;
		cudaMemsetParams memset;
		cudaHostNodeParams host;
		cudaConditionalNodeParams conditional;
	};
	long long reserved2;
#ifdef __cplusplus
	__host__ cudaGraphNodeParams() { __builtin_memset(this, 0, sizeof(*this)); }
#endif
};

struct cudaIpcEventHandle_t {
	char reserved[64];
};

extern "C" {
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
cudaError_t cudaStreamCreate(cudaStream_t *out);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t fn, void *user, unsigned flags);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t length = 0, unsigned flags = 4);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
				   const cudaLaunchAttributeValue *value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user);
cudaError_t cudaEventCreate(cudaEvent_t *out);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
					cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
					  const cudaGraphEdgeData *data, size_t n, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
				     unsigned long long *id = 0, cudaGraph_t *graph = 0,
				     const cudaGraphNode_t **after = 0, const cudaGraphEdgeData **data = 0,
				     size_t *n = 0);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after,
						const cudaGraphEdgeData *data, size_t n, unsigned flags = 0);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode);
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
			     const cudaGraphEdgeData *data, size_t n, cudaGraphNodeParams *params);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				   const cudaKernelNodeParams *params);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *params);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				     void *dst, const void *src, size_t size, cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				   const cudaMemsetParams *params);
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *params);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				 const cudaHostNodeParams *params);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
				       size_t n, cudaGraph_t child);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n);
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
					size_t n, cudaEvent_t event);
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
				      size_t n, cudaEvent_t event);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
				     const cudaGraphEdgeData *data, size_t n);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
					const cudaGraphEdgeData *data, size_t n);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
			      size_t *n);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *data,
					 size_t *n);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *data,
					   size_t *n);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const cudaKernelNodeParams *params);
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned on);
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *on);
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags);
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
					     unsigned value = 0, unsigned flags = 0);
cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *user, cudaHostFn_t destroy, unsigned references,
				 unsigned flags);
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned n = 1);
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned n = 1);
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n = 1, unsigned flags = 0);
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n = 1);

__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
}

template <class... P, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A... args)
{
	auto launch = [&](P... values) {
		void *list[] = {(void *)&values..., nullptr};

		return cudaLaunchKernelExC(config, (const void *)kernel, list);
	};

	return launch(args...);
}

#endif
