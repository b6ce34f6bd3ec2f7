/*
 * CUPTI as profilers use it: callbacks of both interfaces, records of calls.
 */
#include "tests/check.h"

#include <stdlib.h>

typedef unsigned u32;
typedef unsigned long long u64;

int cudaMalloc(void **p, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaFree(void *p);
int cudaDeviceSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **f, void *module, const char *name);
int cuLaunchKernelEx(const void *config, void *f, void **args, void **extra);
int cuLaunchGrid(void *f, int width, int height);
int cuFuncSetBlockShape(void *f, int x, int y, int z);
int cuLaunchKernel(void *f, u32, u32, u32, u32, u32, u32, u32, void *stream, void **args, void **);

struct data {
	u32 is_exit;
	const char *name;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	u32 context_uid;
	u64 *correlation_data;
	u32 correlation_id;
};

typedef void callback(void *user, u32 domain, u32 id, const void *data);
int cuptiSubscribe(void **out, callback *call, void *user);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(u32 enable, void *subscriber, u32 domain, u32 id);
int cuptiEnableDomain(u32 enable, void *subscriber, u32 domain);
int cuptiGetCallbackName(u32 domain, u32 id, const char **out);
int cuptiGetCallbackState(u32 *enable, void *subscriber, u32 domain, u32 id);
int cuptiGetResultString(int status, const char **out);
int cuptiGetVersion(u32 *out);
int cuptiSupportedDomains(size_t *n, const u32 **out);
int cuptiActivityEnable(u32 kind);
int cuptiActivityDisable(u32 kind);
int cuptiActivityRegisterCallbacks(void (*request)(unsigned char **, size_t *, size_t *),
				   void (*complete)(void *, u32, unsigned char *, size_t, size_t));
int cuptiActivityEnableRuntimeApi(u32 id, unsigned char enable);
int cuptiActivityFlushAll(u32 flag);
int cuptiActivityGetNextRecord(unsigned char *buffer, size_t size, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, u32 stream, size_t *out);
int cuptiActivityPushExternalCorrelationId(u32 kind, u64 id);
int cuptiActivityPopExternalCorrelationId(u32 kind, u64 *id);
int cuptiEventGroupCreate(void *context, void **out, u32 flags);

enum { DRIVER = 1, RUNTIME = 2, NOT_SUPPORTED = 27, CUDA_MALLOC = 20, CUDA_MEMCPY = 31 };

/* ---- callbacks ---- */

static struct {
	u32 calls, enters, exits, domain, id, correlation;
	u64 kept;
	size_t bytes;
	int status;
	char name[64], symbol[64];
	bool inside;
} seen;

static void on_call(void *user, u32 domain, u32 id, const void *data)
{
	const struct data *d = data;
	void *p;

	CHECK(user == &seen);
	seen.calls++;
	seen.domain = domain;
	seen.id = id;
	snprintf(seen.name, sizeof(seen.name), "%s", d->name);
	snprintf(seen.symbol, sizeof(seen.symbol), "%s", d->symbol ? d->symbol : "");
	if (!d->is_exit) {
		seen.enters++;
		seen.correlation = d->correlation_id;
		*d->correlation_data = 4711;
		if (id == CUDA_MALLOC && domain == RUNTIME)
			memcpy(&seen.bytes, (const char *)d->params + sizeof(void *),
			       sizeof(size_t));
		/* Calls that it makes itself are not reported. */
		CHECK_EQ(cudaMalloc(&p, 16), 0);
		CHECK_EQ(cudaFree(p), 0);
		return;
	}
	seen.exits++;
	seen.kept = *d->correlation_data;
	seen.status = *(int *)d->result;
	CHECK_EQ(seen.correlation, d->correlation_id);
	CHECK(d->context != NULL);
}

static void test_runtime(void)
{
	const char *name = NULL;
	void *s, *other, *p;
	u32 on = 7, first;

	CHECK_EQ(cuptiSubscribe(&s, NULL, NULL), 1);
	CHECK_EQ(cuptiSubscribe(&s, on_call, &seen), 0);
	CHECK_EQ(cuptiSubscribe(&other, on_call, &seen), 39);
	CHECK_EQ(cuptiEnableCallback(1, &on, RUNTIME, CUDA_MALLOC), 1);
	CHECK_EQ(cuptiEnableCallback(1, s, 99, CUDA_MALLOC), 1);
	CHECK_EQ(cuptiEnableCallback(1, s, RUNTIME, CUDA_MALLOC), 0);
	CHECK_EQ(cuptiGetCallbackState(&on, s, RUNTIME, CUDA_MALLOC), 0);
	CHECK_EQ(on, 1);
	CHECK_EQ(cudaMalloc(&p, 12345), 0);
	CHECK_EQ(seen.enters, 1);
	CHECK_EQ(seen.exits, 1);
	CHECK_EQ(seen.domain, RUNTIME);
	CHECK_EQ(seen.id, CUDA_MALLOC);
	CHECK_STR(seen.name, "cudaMalloc");
	CHECK_EQ(seen.bytes, 12345);
	CHECK_EQ(seen.kept, 4711);
	CHECK_EQ(seen.status, 0);
	first = seen.correlation;
	CHECK_EQ(cudaMalloc(&p, (size_t)1 << 60), 2);
	CHECK_EQ(seen.status, 2);
	CHECK(seen.correlation > first);
	CHECK_EQ(cudaMemcpy(p, p, 0, 3), 0);
	CHECK_EQ(seen.exits, 2); /* copies are not asked for */
	CHECK_EQ(cuptiGetCallbackName(RUNTIME, CUDA_MEMCPY, &name), 0);
	CHECK_STR(name, "cudaMemcpy_v3020");
	CHECK_EQ(cuptiGetCallbackName(DRIVER, 307, &name), 0);
	CHECK_STR(name, "cuLaunchKernel");
	CHECK_EQ(cuptiGetCallbackName(RUNTIME, 1000, &name), 1);
	CHECK_EQ(cuptiUnsubscribe(s), 0);
	CHECK_EQ(cuptiUnsubscribe(s), 1);
	CHECK_EQ(cudaMalloc(&p, 1), 0);
	CHECK_EQ(seen.exits, 2);
}

static void test_launch(void)
{
	static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				  ".visible .entry nothing() { ret; }\n";
	struct {
		u32 grid[3], block[3], shared_bytes;
		void *stream, *attributes;
		u32 len;
	} config = {{1, 1, 1}, {32, 1, 1}, 0, NULL, NULL, 0};
	void *s, *module, *f;

	CHECK_EQ(cuModuleLoadData(&module, ptx), 0);
	CHECK_EQ(cuModuleGetFunction(&f, module, "nothing"), 0);
	CHECK_EQ(cuptiSubscribe(&s, on_call, &seen), 0);
	CHECK_EQ(cuptiEnableDomain(1, s, DRIVER), 0);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), 0);
	CHECK_STR(seen.name, "cuLaunchKernel");
	CHECK_STR(seen.symbol, "nothing");
	CHECK_EQ(seen.domain, DRIVER);
	CHECK_EQ(cuLaunchKernelEx(&config, f, NULL, NULL), 0);
	CHECK_STR(seen.name, "cuLaunchKernelEx");
	CHECK_STR(seen.symbol, "nothing");
	CHECK_EQ(cuFuncSetBlockShape(f, 32, 1, 1), 0);
	CHECK_STR(seen.symbol, "");
	CHECK_EQ(cuLaunchGrid(f, 1, 1), 0);
	CHECK_STR(seen.symbol, "nothing");
	CHECK_EQ(cuptiUnsubscribe(s), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
}

/* ---- records ---- */

struct call_record {
	u32 kind, id;
	u64 begin, end;
	u32 process, thread, correlation, status;
};

static struct {
	u32 calls, externals, buffers, last;
	u64 external_id, end;
} found;

/* It may call CUDA, and of that there are no records. */
static void on_request(unsigned char **buffer, size_t *bytes, size_t *records)
{
	CHECK_EQ(cudaDeviceSynchronize(), 0);
	*bytes = 96; /* a few records */
	*buffer = malloc(*bytes);
	*records = 0;
}

static void on_complete(void *context, u32 stream, unsigned char *buffer, size_t bytes,
			size_t valid)
{
	void *record = NULL;

	(void)context, (void)stream, (void)bytes;
	found.buffers++;
	while (!cuptiActivityGetNextRecord(buffer, valid, &record)) {
		struct call_record c;
		u32 kind;

		memcpy(&kind, record, sizeof(kind));
		if (kind == 39) {
			memcpy(&found.external_id, (char *)record + 8, 8);
			found.externals++;
			continue;
		}
		memcpy(&c, record, sizeof(c));
		CHECK(c.begin <= c.end && found.end <= c.end);
		found.end = c.end;
		found.calls++;
		found.last = c.id;
	}
	free(buffer);
}

static void test_records(void)
{
	size_t dropped = 9;
	u64 id = 0;
	void *p;

	CHECK_EQ(cuptiActivityEnable(10), NOT_SUPPORTED); /* kernels */
	CHECK_EQ(cuptiActivityEnable(0), 21);
	CHECK_EQ(cuptiActivityRegisterCallbacks(on_request, on_complete), 0);
	CHECK_EQ(cuptiActivityEnable(5), 0);
	CHECK_EQ(cuptiActivityEnable(39), 0);
	CHECK_EQ(cuptiActivityPushExternalCorrelationId(3, 77), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(cudaMalloc(&p, 64), 0);
		CHECK_EQ(cudaFree(p), 0);
	}
	CHECK_EQ(cuptiActivityPopExternalCorrelationId(3, &id), 0);
	CHECK_EQ(id, 77);
	CHECK_EQ(cuptiActivityPopExternalCorrelationId(3, &id), 18);
	CHECK_EQ(cudaMalloc(&p, 64), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(found.calls, 9);
	CHECK_EQ(found.externals, 8);
	CHECK_EQ(found.external_id, 77);
	CHECK_EQ(found.last, CUDA_MALLOC);
	CHECK(found.buffers > 3);
	CHECK_EQ(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), 0);
	CHECK_EQ(dropped, 0);
	CHECK_EQ(cuptiActivityDisable(5), 0);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(found.calls, 9);
	/* One function alone, and all but one. */
	CHECK_EQ(cuptiActivityEnableRuntimeApi(5000, 1), 1);
	CHECK_EQ(cuptiActivityEnableRuntimeApi(CUDA_MALLOC, 1), 0);
	CHECK_EQ(cudaMalloc(&p, 64), 0);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(found.calls, 10);
	CHECK_EQ(found.last, CUDA_MALLOC);
	CHECK_EQ(cuptiActivityEnable(5), 0);
	CHECK_EQ(cuptiActivityEnableRuntimeApi(CUDA_MALLOC, 0), 0);
	CHECK_EQ(cudaMalloc(&p, 64), 0);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cuptiActivityFlushAll(0), 0);
	CHECK_EQ(found.calls, 11);
	CHECK(found.last != CUDA_MALLOC);
	CHECK_EQ(cuptiActivityDisable(5), 0);
}

int main(void)
{
	const char *text = NULL;
	const u32 *domains;
	u32 version = 0;
	size_t n = 0;

	CHECK_EQ(cuptiGetVersion(&version), 0);
	CHECK(version >= 130000);
	CHECK_EQ(cuptiGetResultString(NOT_SUPPORTED, &text), 0);
	CHECK_STR(text, "CUPTI_ERROR_NOT_SUPPORTED");
	CHECK_EQ(cuptiSupportedDomains(&n, &domains), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(cuptiEventGroupCreate(NULL, NULL, 0), NOT_SUPPORTED);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
	test_runtime();
	test_launch();
	test_records();
	return check_done();
}
