/*
 * LLVM, by its C interface and its language: loaded when the first run is compiled, if it is there.
 * Nothing of it is needed to build this.
 */
#include "src/tier/tier_int.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

typedef void *llvm;

/* SYMBOL(result, name, parameters) of what is called. */
#define SYMBOLS                                                                                    \
	SYMBOL(llvm, LLVMContextCreate, (void))                                                    \
	SYMBOL(void, LLVMContextDispose, (llvm))                                                   \
	SYMBOL(llvm, LLVMCreateMemoryBufferWithMemoryRangeCopy,                                    \
	       (const char *, size_t, const char *))                                               \
	SYMBOL(int, LLVMParseIRInContext, (llvm, llvm, llvm *, char **))                           \
	SYMBOL(void, LLVMDisposeModule, (llvm))                                                    \
	SYMBOL(void, LLVMDisposeMessage, (char *))                                                 \
	SYMBOL(void, LLVMInitializeX86TargetInfo, (void))                                          \
	SYMBOL(void, LLVMInitializeX86Target, (void))                                              \
	SYMBOL(void, LLVMInitializeX86TargetMC, (void))                                            \
	SYMBOL(void, LLVMInitializeX86AsmPrinter, (void))                                          \
	SYMBOL(void, LLVMLinkInMCJIT, (void))                                                      \
	SYMBOL(int, LLVMCreateMCJITCompilerForModule, (llvm *, llvm, void *, size_t, char **))     \
	SYMBOL(void, LLVMInitializeMCJITCompilerOptions, (void *, size_t))                         \
	SYMBOL(u64, LLVMGetFunctionAddress, (llvm, const char *))                                  \
	SYMBOL(void, LLVMDisposeExecutionEngine, (llvm))                                           \
	SYMBOL(llvm, LLVMGetExecutionEngineTargetMachine, (llvm))                                  \
	SYMBOL(llvm, LLVMCreatePassBuilderOptions, (void))                                         \
	SYMBOL(void, LLVMDisposePassBuilderOptions, (llvm))                                        \
	SYMBOL(llvm, LLVMRunPasses, (llvm, const char *, llvm, llvm))                              \
	SYMBOL(char *, LLVMGetErrorMessage, (llvm))                                                \
	SYMBOL(void, LLVMDisposeErrorMessage, (char *))

static struct {
#define SYMBOL(result, name, parameters) result(*name) parameters;
	SYMBOLS
#undef SYMBOL
	bool ready, opaque;
} lib;

struct tier_code {
	llvm context, engine;
};

static const struct {
	const char *name;
	bool opaque; /* pointers have no type */
} names[] = {{"libLLVM-14.so.1", false}, {"libLLVM-15.so.1", true}, {"libLLVM-16.so.1", true},
	     {"libLLVM-17.so.1", true},  {"libLLVM.so.18.1", true}, {"libLLVM.so.19.1", true},
	     {"libLLVM.so.20.1", true}};

static bool find_library(void *at)
{
	bool all = true;

#define SYMBOL(result, name, parameters)                                                           \
	*(void **)&lib.name = dlsym(at, #name);                                                    \
	all &= lib.name != NULL;
	SYMBOLS
#undef SYMBOL
	return all;
}

#ifdef HOST_X86_64
#define HOST_FITS true
#else
#define HOST_FITS false
#endif

static void load(void)
{
	for (u32 i = 0; HOST_FITS && i < ARRAY_LEN(names) && !lib.ready; i++) {
		void *at = dlopen(names[i].name, RTLD_NOW | RTLD_LOCAL);

		if (!at)
			continue;
		lib.ready = find_library(at);
		lib.opaque = names[i].opaque;
		if (!lib.ready)
			dlclose(at);
	}
	if (!lib.ready)
		return;
	lib.LLVMInitializeX86TargetInfo();
	lib.LLVMInitializeX86Target();
	lib.LLVMInitializeX86TargetMC();
	lib.LLVMInitializeX86AsmPrinter();
	lib.LLVMLinkInMCJIT();
}

bool tier_llvm_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return lib.ready;
}

bool tier_llvm_opaque(void)
{
	return lib.opaque;
}

/* What the header declares as LLVMMCJITCompilerOptions; its size is passed along. */
struct mcjit_options {
	unsigned level;
	int code_model, no_frame_pointer, fast_isel;
	llvm memory;
};

static bool optimise(llvm module, llvm engine, struct text *why)
{
	llvm options = lib.LLVMCreatePassBuilderOptions(), error;

	error = lib.LLVMRunPasses(module,
				  "function(early-cse,instcombine,simplifycfg,loop-simplify,"
				  "loop-mssa(licm),early-cse,instcombine)",
				  lib.LLVMGetExecutionEngineTargetMachine(engine), options);
	lib.LLVMDisposePassBuilderOptions(options);
	if (error) {
		char *text = lib.LLVMGetErrorMessage(error);

		text_puts(why, text);
		lib.LLVMDisposeErrorMessage(text);
	}
	return !error;
}

struct tier_code *tier_llvm_compile(const char *text, size_t len, struct text *why)
{
	struct tier_code *c = calloc(1, sizeof(*c));
	struct mcjit_options options;
	llvm module = NULL, buffer;
	char *message = NULL;

	if (!c)
		return NULL;
	c->context = lib.LLVMContextCreate();
	buffer = lib.LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len, "runs");
	if (lib.LLVMParseIRInContext(c->context, buffer, &module, &message))
		goto fail;
	lib.LLVMInitializeMCJITCompilerOptions(&options, sizeof(options));
	options.level = 2;
	if (lib.LLVMCreateMCJITCompilerForModule(&c->engine, module, &options, sizeof(options),
						 &message)) {
		c->engine = NULL;
		goto fail;
	}
	if (optimise(module, c->engine, why))
		return c;
fail:
	if (message) {
		text_puts(why, message);
		lib.LLVMDisposeMessage(message);
	}
	tier_llvm_free(c);
	return NULL;
}

tier_function *tier_llvm_function(struct tier_code *c, const char *name)
{
	u64 at = lib.LLVMGetFunctionAddress(c->engine, name);
	tier_function *f;

	memcpy(&f, &at, sizeof(f));
	return f;
}

void tier_llvm_free(struct tier_code *c)
{
	if (!c)
		return;
	if (c->engine)
		lib.LLVMDisposeExecutionEngine(c->engine);
	lib.LLVMContextDispose(c->context);
	free(c);
}
