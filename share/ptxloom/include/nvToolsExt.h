/*
 * NVTX, version 3: marks for profilers. The first call opens the library that NVTX_INJECTION64_PATH
 * names, as that of the CUDA toolkit does; without it nothing is done.
 */
#ifndef NVTOOLSEXT_H_
#define NVTOOLSEXT_H_

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB } nvtxColorType_t;
typedef enum nvtxMessageType_t {
	NVTX_MESSAGE_UNKNOWN, NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
	NVTX_PAYLOAD_UNKNOWN, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, NVTX_PAYLOAD_TYPE_INT64, NVTX_PAYLOAD_TYPE_DOUBLE,
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, NVTX_PAYLOAD_TYPE_INT32, NVTX_PAYLOAD_TYPE_FLOAT
} nvtxPayloadType_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef uint64_t nvtxRangeId_t;
typedef union nvtxMessageValue_t {
	const char *ascii;
	const wchar_t *unicode;
	nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union nvtxPayload_t {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		uint32_t uiValue;
		int32_t iValue;
		float fValue;
	} payload;
	int32_t messageType;
	nvtxMessageValue_t message;
} nvtxEventAttributes_t;

/* The functions of the two modules, by NVTX's numbers; NULL: there is none. */
typedef void (*ptxloom_nvtx_function)(void);
enum { PTXLOOM_NVTX_CORE = 1, PTXLOOM_NVTX_CORE2 = 5, PTXLOOM_NVTX_LEN = 16 };
struct ptxloom_nvtx {
	int state; /* 0: the library was not opened yet, 1: another thread does it, 2: it was */
	ptxloom_nvtx_function core[PTXLOOM_NVTX_LEN], core2[PTXLOOM_NVTX_LEN];
	ptxloom_nvtx_function *at[2][PTXLOOM_NVTX_LEN];
};
__attribute__((weak)) struct ptxloom_nvtx ptxloom_nvtx_state;

static __inline__ int ptxloom_nvtx_functions(int module, ptxloom_nvtx_function ***at, unsigned *len)
{
	struct ptxloom_nvtx *n = &ptxloom_nvtx_state;
	int second = module == PTXLOOM_NVTX_CORE2;

	if (module != PTXLOOM_NVTX_CORE && !second)
		return 0;
	for (int i = 0; i < PTXLOOM_NVTX_LEN; i++)
		n->at[second][i] = second ? &n->core2[i] : &n->core[i];
	*at = n->at[second];
	*len = PTXLOOM_NVTX_LEN;
	return 1;
}

struct ptxloom_nvtx_callbacks {
	size_t size;
	int (*functions)(int module, ptxloom_nvtx_function ***at, unsigned *len);
};
static struct ptxloom_nvtx_callbacks ptxloom_nvtx_callbacks = {
	sizeof(struct ptxloom_nvtx_callbacks), ptxloom_nvtx_functions};

static __inline__ const void *ptxloom_nvtx_table(uint32_t id)
{
	return id == 1 ? &ptxloom_nvtx_callbacks : NULL;
}

static __inline__ struct ptxloom_nvtx *ptxloom_nvtx_get(void)
{
	struct ptxloom_nvtx *n = &ptxloom_nvtx_state;
	int fresh = 0;

	if (__atomic_load_n(&n->state, __ATOMIC_ACQUIRE) == 2)
		return n;
	if (__atomic_compare_exchange_n(&n->state, &fresh, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		const char *path = getenv("NVTX_INJECTION64_PATH");
		void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
		typedef int initialize(const void *(*table)(uint32_t));
		initialize *f = library ? (initialize *)dlsym(library, "InitializeInjectionNvtx2") : NULL;

		if (f)
			f(ptxloom_nvtx_table);
		__atomic_store_n(&n->state, 2, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&n->state, __ATOMIC_ACQUIRE) != 2)
		;
	return n;
}

#define PTXLOOM_NVTX(type, name, module, number, otherwise, parameters, arguments) \
	static __inline__ type name parameters \
	{ \
		typedef type function parameters; \
		function *f = (function *)ptxloom_nvtx_get()->module[number]; \
		return f ? f arguments : otherwise; \
	}
PTXLOOM_NVTX(nvtxRangeId_t, nvtxRangeStartEx, core, 4, 0, (const nvtxEventAttributes_t *a), (a))
PTXLOOM_NVTX(nvtxRangeId_t, nvtxRangeStartA, core, 5, 0, (const char *name), (name))
PTXLOOM_NVTX(nvtxRangeId_t, nvtxRangeStartW, core, 6, 0, (const wchar_t *name), (name))
PTXLOOM_NVTX(void, nvtxRangeEnd, core, 7, (void)0, (nvtxRangeId_t id), (id))
PTXLOOM_NVTX(int, nvtxRangePushEx, core, 8, -2, (const nvtxEventAttributes_t *a), (a))
PTXLOOM_NVTX(int, nvtxRangePushA, core, 9, -2, (const char *name), (name))
PTXLOOM_NVTX(int, nvtxRangePushW, core, 10, -2, (const wchar_t *name), (name))
PTXLOOM_NVTX(int, nvtxRangePop, core, 11, -2, (void), ())
PTXLOOM_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, core2, 2, 0,
	(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
PTXLOOM_NVTX(void, nvtxDomainRangeEnd, core2, 3, (void)0, (nvtxDomainHandle_t d, nvtxRangeId_t id), (d, id))
PTXLOOM_NVTX(int, nvtxDomainRangePushEx, core2, 4, -2, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
PTXLOOM_NVTX(int, nvtxDomainRangePop, core2, 5, -2, (nvtxDomainHandle_t d), (d))
PTXLOOM_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, core2, 10, NULL,
	(nvtxDomainHandle_t d, const char *text), (d, text))
PTXLOOM_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, core2, 11, NULL,
	(nvtxDomainHandle_t d, const wchar_t *text), (d, text))
PTXLOOM_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, core2, 12, NULL, (const char *name), (name))
PTXLOOM_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, core2, 13, NULL, (const wchar_t *name), (name))
#undef PTXLOOM_NVTX

/* Marks and names are of no use to `ptxloom profile`. */
static __inline__ void nvtxMarkA(const char *name) { (void)name; }
static __inline__ void nvtxMarkEx(const nvtxEventAttributes_t *a) { (void)a; }
static __inline__ void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { (void)d, (void)a; }
static __inline__ void nvtxDomainDestroy(nvtxDomainHandle_t d) { (void)d; }
static __inline__ void nvtxNameOsThreadA(uint32_t thread, const char *name) { (void)thread, (void)name; }
static __inline__ void nvtxNameCategoryA(uint32_t category, const char *name) { (void)category, (void)name; }
static __inline__ void nvtxInitialize(const void *reserved) { (void)reserved; }
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA

#endif
