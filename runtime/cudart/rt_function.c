/*
 * What kernels are: attributes, names, parameters. Both interfaces ask here.
 *
 * Deviation: PTX has virtual registers, so every kernel answers the same number of them unless it
 * sets a limit itself.
 */
#include "runtime/rt.h"
#include "src/dev/module/nested.h"

#define REGISTERS 32
#define THREADS 1024

enum attribute {
	MAX_THREADS,
	SHARED_BYTES,
	CONST_BYTES,
	LOCAL_BYTES,
	REGISTER_COUNT,
	PTX_VERSION,
	BINARY_VERSION,
	CACHE_MODE,
	MAX_DYNAMIC_BYTES,
	CARVEOUT,
	CLUSTER_MUST_BE_SET,
	CLUSTER_X,
	CLUSTER_Y,
	CLUSTER_Z,
	NON_PORTABLE_CLUSTER,
	CLUSTER_POLICY,
	ATTRIBUTES
};

static int device_attribute(const struct device_kernel *k, int n)
{
	int v = 0;

	arch_attribute(k->owner->dev->arch, n, &v);
	return v;
}

/* Threads a CTA may have: .maxntid, .reqntid, or what the device allows. */
static int max_threads(const struct device_kernel *k)
{
	const struct ir_func *f = k->func;
	int row = f->has_perf[IR_MAXNTID] ? IR_MAXNTID : IR_REQNTID;
	u64 n = 1;

	if (!f->has_perf[row])
		return THREADS;
	for (int i = 0; i < 3; i++)
		n *= f->perf[row][i] ? f->perf[row][i] : 1;
	return (int)n;
}

static int const_bytes(const struct device_kernel *k)
{
	u64 n = 0;

	for (size_t i = 0; i < k->unit->vars.len; i++) {
		const struct ir_var *v = k->unit->vars.at[i];

		if (v->space == M_const && v->definition == v)
			n = align_up(n, v->align ? v->align : 1) + v->size_bytes;
	}
	return (int)n;
}

static int register_count(const struct device_kernel *k)
{
	return k->func->has_perf[IR_MAXNREG] ? (int)k->func->perf[IR_MAXNREG][0] : REGISTERS;
}

/* What the kernel says, or else what an attribute says. */
static int cluster(const struct device_kernel *k, int axis)
{
	const u32 *n = k->func->perf[IR_REQNCTAPERCLUSTER];

	if (!k->func->has_perf[IR_REQNCTAPERCLUSTER])
		return (int)k->cluster_required[axis];
	return n[axis] ? (int)n[axis] : 1;
}

static int ptx_version(const struct device_kernel *k)
{
	return (int)k->unit->target.sm;
}

int rt_function_attribute(struct device_kernel *k, int n, int *value)
{
	bool of_program = n == SHARED_BYTES || n == LOCAL_BYTES || n == MAX_DYNAMIC_BYTES;
	struct exec_needs needs;

	if (of_program && !device_kernel_needs(k, &needs))
		return STATUS_OUT_OF_MEMORY;
	switch (n) {
	case MAX_THREADS:
		*value = max_threads(k);
		break;
	case SHARED_BYTES:
		*value = (int)device_shared_counted(needs.shared_static);
		break;
	case CONST_BYTES:
		*value = const_bytes(k);
		break;
	case LOCAL_BYTES:
		*value = (int)needs.frame_bytes;
		break;
	case REGISTER_COUNT:
		*value = register_count(k);
		break;
	case PTX_VERSION:
		*value = ptx_version(k);
		break;
	case BINARY_VERSION:
		*value = 10 * device_attribute(k, 75) + device_attribute(k, 76);
		break;
	case CACHE_MODE:
		*value = 0;
		break;
	case NON_PORTABLE_CLUSTER:
		*value = k->nonportable_cluster;
		break;
	case MAX_DYNAMIC_BYTES:
		*value = (int)device_kernel_dynamic_max(k, needs.shared_static);
		break;
	case CARVEOUT:
		*value = k->carveout_percent;
		break;
	case CLUSTER_MUST_BE_SET:
		*value = k->func->has_perf[IR_EXPLICITCLUSTER] &&
			 !k->func->has_perf[IR_REQNCTAPERCLUSTER];
		break;
	case CLUSTER_X:
	case CLUSTER_Y:
	case CLUSTER_Z:
		*value = cluster(k, n - CLUSTER_X);
		break;
	case CLUSTER_POLICY:
		*value = k->cluster_policy;
		break;
	default:
		return STATUS_INVALID_VALUE;
	}
	return STATUS_SUCCESS;
}

bool rt_function_is_settable(int n)
{
	return n == MAX_DYNAMIC_BYTES || n == CARVEOUT || (n >= CLUSTER_X && n <= CLUSTER_POLICY);
}

int rt_function_set(struct device_kernel *k, int n, int value)
{
	struct exec_needs needs;
	int most;

	switch (n) {
	case MAX_DYNAMIC_BYTES:
		if (!device_kernel_needs(k, &needs))
			return STATUS_OUT_OF_MEMORY;
		most = device_attribute(k, 97) - (int)device_shared_counted(needs.shared_static);
		if (value < 0 || value > most)
			return STATUS_INVALID_VALUE;
		k->max_dynamic_bytes = (u32)value;
		return STATUS_SUCCESS;
	case CARVEOUT:
		if (value < -1 || value > 100)
			return STATUS_INVALID_VALUE;
		k->carveout_percent = value;
		return STATUS_SUCCESS;
	case CLUSTER_X:
	case CLUSTER_Y:
	case CLUSTER_Z:
		if (value < 0 || k->func->has_perf[IR_REQNCTAPERCLUSTER])
			return STATUS_INVALID_VALUE;
		k->cluster_required[n - CLUSTER_X] = (u32)value;
		return STATUS_SUCCESS;
	case NON_PORTABLE_CLUSTER:
		if (value < 0 || value > 1)
			return STATUS_INVALID_VALUE;
		k->nonportable_cluster = value;
		return STATUS_SUCCESS;
	case CLUSTER_POLICY:
		if (value < 0 || value > 2)
			return STATUS_INVALID_VALUE;
		k->cluster_policy = value;
		return STATUS_SUCCESS;
	default:
		return STATUS_INVALID_VALUE;
	}
}

int rt_function_param(const struct device_kernel *k, size_t i, size_t *offset, size_t *bytes)
{
	if (i >= k->param_len || !offset)
		return STATUS_INVALID_VALUE;
	*offset = k->params[i].offset;
	if (bytes)
		*bytes = k->params[i].bytes;
	return STATUS_SUCCESS;
}

/* ---- the runtime interface ---- */

/* cudaFuncAttributes: 144 bytes in CUDA 13; older versions end earlier, before what is reserved. */
struct func_attributes {
	size_t shared_bytes, const_bytes, local_bytes;
	int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_bytes,
		carveout, cluster_must_be_set, cluster_x, cluster_y, cluster_z, cluster_policy,
		non_portable_cluster;
};

/* In the order of the structure. */
static const u8 func_fields[] = {
	MAX_THREADS,       REGISTER_COUNT, PTX_VERSION,          BINARY_VERSION, CACHE_MODE,
	MAX_DYNAMIC_BYTES, CARVEOUT,       CLUSTER_MUST_BE_SET,  CLUSTER_X,      CLUSTER_Y,
	CLUSTER_Z,         CLUSTER_POLICY, NON_PORTABLE_CLUSTER,
};

/* Of which 11 has what is before cluster_must_be_set. */
#define FUNC_BYTES_11 offsetof(struct func_attributes, cluster_must_be_set)

static int attributes_of(struct device_kernel *k, struct func_attributes *out)
{
	int status, v = 0, *field = &out->max_threads;

	*out = (struct func_attributes){.const_bytes = (size_t)const_bytes(k)};
	status = rt_function_attribute(k, SHARED_BYTES, &v);
	out->shared_bytes = (size_t)v;
	status = status ? status : rt_function_attribute(k, LOCAL_BYTES, &v);
	out->local_bytes = (size_t)v;
	for (size_t i = 0; i < ARRAY_LEN(func_fields) && !status; i++)
		status = rt_function_attribute(k, func_fields[i], field++);
	return status;
}

static int func_attributes(struct func_attributes *out, const void *stub)
{
	int status;
	struct device_kernel *k = rt_kernel(rt_named_kernel(stub), &status);

	return k ? attributes_of(k, out) : status;
}

/* The same called by a kernel; `bytes` of the structure are known to it. */
static enum fault_kind nested_attributes(struct exec_call *c, u32 bytes)
{
	struct device_kernel *k = nested_kernel(c, exec_call_argument(c, 1));
	u8 *to = exec_call_memory(c, exec_call_argument(c, 0), bytes, NULL);
	struct func_attributes a;
	int status = !k    ? cudaErrorInvalidDeviceFunction
		     : !to ? cudaErrorInvalidValue
			   : attributes_of(k, &a);

	if (!status) {
		exec_call_tell(c, ACCESS_STORE, exec_call_argument(c, 0), bytes);
		memcpy(to, &a, bytes);
	}
	return nested_answer(c, (u32)status);
}

enum fault_kind rt_nested_attributes(struct exec_call *c)
{
	return nested_attributes(c, offsetof(struct func_attributes, non_portable_cluster) +
					    sizeof(int));
}

enum fault_kind rt_nested_attributes_11(struct exec_call *c)
{
	return nested_attributes(c, FUNC_BYTES_11);
}

RT_FN(cudaFuncGetAttributes, (struct func_attributes * out, const void *stub))
{
	return rt_error(out ? func_attributes(out, stub) : cudaErrorInvalidValue);
}

RT_FN(cudaFuncGetAttributes_11, (void *out, const void *stub))
{
	struct func_attributes a;
	int status = out ? func_attributes(&a, stub) : cudaErrorInvalidValue;

	if (!status)
		memcpy(out, &a, FUNC_BYTES_11);
	return rt_error(status);
}

RT_FN(cudaFuncSetAttribute, (const void *stub, int attribute, int value))
{
	int status;
	struct device_kernel *k;

	if (!rt_function_is_settable(attribute))
		return rt_error(cudaErrorInvalidValue);
	k = rt_kernel(rt_named_kernel(stub), &status);
	return rt_error(k ? rt_function_set(k, attribute, value) : status);
}

/* For one device, or the current one where `device` is it; kernels are per device. */
RT_FN(cudaKernelSetAttributeForDevice, (const void *kernel, int attribute, int value, int device))
{
	int status = rt_function_is_settable(attribute) ? rt_device_check(device)
							: (int)cudaErrorInvalidValue;
	struct device_kernel *k =
		status ? NULL : rt_kernel_on(rt_named_kernel(kernel), device, &status);

	return rt_error(k ? rt_function_set(k, attribute, value) : status);
}

RT_FN(cudaFuncGetName, (const char **name, const void *stub))
{
	struct rt_function *f = rt_find_function(stub);

	if (!name)
		return rt_error(cudaErrorInvalidValue);
	*name = f ? f->name : NULL;
	return rt_error(f      ? cudaSuccess
			: stub ? cudaErrorInvalidResourceHandle
			       : cudaErrorInvalidDeviceFunction);
}

RT_FN(cudaFuncGetParamInfo, (const void *stub, size_t i, size_t *offset, size_t *bytes))
{
	int status;
	const struct device_kernel *k = rt_kernel(rt_named_kernel(stub), &status);

	return rt_error(k ? rt_function_param(k, i, offset, bytes) : status);
}

/* A kernel's handle of the library interface, and the driver's handle of a kernel. */
RT_FN(cudaGetKernel, (void **kernel, const void *stub))
{
	if (!kernel)
		return rt_error(cudaErrorInvalidValue);
	*kernel = rt_find_function(stub);
	return rt_error(*kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

RT_FN(cudaGetFuncBySymbol, (void **function, const void *stub))
{
	struct rt_function *f = rt_find_function(stub);
	int status;

	if (!function || !stub)
		return rt_error(cudaErrorInvalidValue);
	*function = rt_kernel(f, &status) ? f : NULL;
	return rt_error(status);
}
