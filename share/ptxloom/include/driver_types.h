/*
 * Types of the CUDA runtime's interface, laid out as in CUDA 13. Structures that only functions for
 * sharing with other interfaces take are declared without their members.
 */
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__

#include <stddef.h>

#include "vector_types.h"
#include "ptxloom/runtime_enums.h"

/* ---- handles ---- */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
typedef struct CUdevResourceDesc_st *cudaDevResourceDesc_t;
typedef struct cudaExecutionContext_st *cudaExecutionContext_t;
typedef struct cudaAsyncCallbackEntry *cudaAsyncCallbackHandle_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef struct CUgraphDeviceUpdatableNode_st *cudaGraphDeviceNode_t;
typedef enum cudaError cudaError_t;
typedef void (*cudaHostFn_t)(void *user);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);
struct cudaAsyncNotificationInfo;
typedef void (*cudaAsyncCallback)(struct cudaAsyncNotificationInfo *info, void *user,
				  cudaAsyncCallbackHandle_t handle);

/* ---- flags ---- */

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaPeerAccessDefault 0x00
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceScheduleMask 0x07
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaDeviceSyncMemops 0x80
#define cudaDeviceMask 0xff
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08
#define cudaIpcMemLazyEnablePeerAccess 0x01
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)
#define cudaInitDeviceFlagsAreValid 0x01
#define cudaGraphKernelNodePortDefault 0
#define cudaGraphKernelNodePortProgrammatic 1
#define cudaGraphKernelNodePortLaunchCompletion 2

/* ---- memory ---- */

typedef struct cudaChannelFormatDesc {
	int x, y, z, w;
	enum cudaChannelFormatKind f;
} cudaChannelFormatDesc;
typedef struct cudaPitchedPtr {
	void *ptr;
	size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct cudaExtent {
	size_t width, height, depth;
} cudaExtent;
typedef struct cudaPos {
	size_t x, y, z;
} cudaPos;
typedef struct cudaMemcpy3DParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	struct cudaExtent extent;
	enum cudaMemcpyKind kind;
} cudaMemcpy3DParms;
typedef struct cudaMemcpy3DPeerParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	int srcDevice;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	int dstDevice;
	struct cudaExtent extent;
} cudaMemcpy3DPeerParms;
typedef struct cudaPointerAttributes {
	enum cudaMemoryType type;
	int device;
	void *devicePointer, *hostPointer;
	long reserved[8];
} cudaPointerAttributes;
typedef struct cudaMemLocation {
	enum cudaMemLocationType type;
	int id;
} cudaMemLocation;
typedef struct cudaMemAccessDesc {
	struct cudaMemLocation location;
	enum cudaMemAccessFlags flags;
} cudaMemAccessDesc;
typedef struct cudaMemPoolProps {
	enum cudaMemAllocationType allocType;
	enum cudaMemAllocationHandleType handleTypes;
	struct cudaMemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} cudaMemPoolProps;
typedef struct cudaMemPoolPtrExportData {
	unsigned char reserved[64];
} cudaMemPoolPtrExportData;
typedef struct cudaMemAllocNodeParams {
	struct cudaMemPoolProps poolProps;
	const struct cudaMemAccessDesc *accessDescs;
	size_t accessDescCount, bytesize;
	void *dptr;
} cudaMemAllocNodeParams;
typedef struct cudaIpcEventHandle_st {
	char reserved[64];
} cudaIpcEventHandle_t;
typedef struct cudaIpcMemHandle_st {
	char reserved[64];
} cudaIpcMemHandle_t;

/* ---- devices and functions ---- */

#ifndef PTXLOOM_UUID
#define PTXLOOM_UUID
typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;
#endif
typedef struct CUuuid_st cudaUUID_t;

typedef struct cudaFuncAttributes {
	size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
	int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
	int maxDynamicSharedSizeBytes, preferredShmemCarveout, clusterDimMustBeSet;
	int requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
	int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[16];
} cudaFuncAttributes;

#include "ptxloom/device_prop.h"

/* ---- textures and surfaces ---- */

typedef struct cudaResourceDesc {
	enum cudaResourceType resType;
	union {
		struct {
			cudaArray_t array;
		} array;
		struct {
			cudaMipmappedArray_t mipmap;
		} mipmap;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t sizeInBytes;
		} linear;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t width, height, pitchInBytes;
		} pitch2D;
		int reserved[32];
	} res;
	unsigned flags;
} cudaResourceDesc;
typedef struct cudaTextureDesc {
	enum cudaTextureAddressMode addressMode[3];
	enum cudaTextureFilterMode filterMode;
	enum cudaTextureReadMode readMode;
	int sRGB;
	float borderColor[4];
	int normalizedCoords;
	unsigned maxAnisotropy;
	enum cudaTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	int disableTrilinearOptimization, seamlessCubemap;
} cudaTextureDesc;
typedef struct cudaResourceViewDesc {
	enum cudaResourceViewFormat format;
	size_t width, height, depth;
	unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
} cudaResourceViewDesc;

/* ---- launches ---- */

typedef struct cudaAccessPolicyWindow {
	void *base_ptr;
	size_t num_bytes;
	float hitRatio;
	enum cudaAccessProperty hitProp, missProp;
} cudaAccessPolicyWindow;
typedef struct cudaLaunchMemSyncDomainMap {
	unsigned char default_, remote;
} cudaLaunchMemSyncDomainMap;
typedef union cudaLaunchAttributeValue {
	char pad[64];
	struct cudaAccessPolicyWindow accessPolicyWindow;
	int cooperative;
	enum cudaSynchronizationPolicy syncPolicy;
	struct {
		unsigned x, y, z;
	} clusterDim, preferredClusterDim;
	enum cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
	int programmaticStreamSerializationAllowed, priority;
	struct {
		cudaEvent_t event;
		int flags, triggerAtBlockStart;
	} programmaticEvent;
	struct cudaLaunchMemSyncDomainMap memSyncDomainMap;
	enum cudaLaunchMemSyncDomain memSyncDomain;
	struct {
		cudaEvent_t event;
		int flags;
	} launchCompletionEvent;
	struct {
		int deviceUpdatable;
		cudaGraphDeviceNode_t devNode;
	} deviceUpdatableKernelNode;
	unsigned sharedMemCarveout, nvlinkUtilCentricScheduling;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute_st {
	enum cudaLaunchAttributeID id;
	char pad[4];
	union cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned numAttrs;
} cudaLaunchConfig_t;
#define cudaStreamAttrID enum cudaLaunchAttributeID
#define cudaStreamAttrValue union cudaLaunchAttributeValue
#define cudaKernelNodeAttrID enum cudaLaunchAttributeID
#define cudaKernelNodeAttrValue union cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaKernelNodeAttributeCooperative cudaLaunchAttributeCooperative
#define cudaKernelNodeAttributePriority cudaLaunchAttributePriority

/* ---- graphs ---- */

typedef struct cudaGraphEdgeData_st {
	unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;
typedef struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
} cudaKernelNodeParams;
typedef struct cudaMemsetParams {
	void *dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
} cudaMemsetParams;
typedef struct cudaHostNodeParams {
	cudaHostFn_t fn;
	void *userData;
} cudaHostNodeParams;
typedef struct cudaConditionalNodeParams {
	cudaGraphConditionalHandle handle;
	enum cudaGraphConditionalNodeType type;
	unsigned size;
	cudaGraph_t *phGraph_out;
} cudaConditionalNodeParams;
typedef struct cudaMemcpyNodeParams {
	int flags, reserved[3];
	struct cudaMemcpy3DParms copyParams;
} cudaMemcpyNodeParams;
typedef struct cudaChildGraphNodeParams {
	cudaGraph_t graph;
	enum cudaGraphChildGraphNodeOwnership ownership;
} cudaChildGraphNodeParams;
typedef struct cudaEventNodeParams {
	cudaEvent_t event;
} cudaEventRecordNodeParams, cudaEventWaitNodeParams;
typedef struct cudaMemFreeNodeParams {
	void *dptr;
} cudaMemFreeNodeParams;
typedef struct cudaGraphNodeParams {
	enum cudaGraphNodeType type;
	int reserved0[3];
	union {
		long long reserved1[29];
		struct cudaKernelNodeParams kernel;
		struct cudaMemcpyNodeParams memcpy;
		struct cudaMemsetParams memset;
		struct cudaHostNodeParams host;
		struct cudaChildGraphNodeParams graph;
		cudaEventWaitNodeParams eventWait;
		cudaEventRecordNodeParams eventRecord;
		struct cudaMemAllocNodeParams alloc;
		struct cudaMemFreeNodeParams free;
		struct cudaConditionalNodeParams conditional;
	};
	long long reserved2;
#ifdef __cplusplus
	__host__ cudaGraphNodeParams() { __builtin_memset((void *)this, 0, sizeof(*this)); }
#endif
} cudaGraphNodeParams;
typedef struct cudaGraphExecUpdateResultInfo_st {
	enum cudaGraphExecUpdateResult result;
	cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef struct cudaGraphInstantiateParams_st {
	unsigned long long flags;
	cudaStream_t uploadStream;
	cudaGraphNode_t errNode_out;
	enum cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;
#define cudaGraphCondAssignDefault 1

#endif
