/*
 * Stands in for LLVM's library where ptxloom loads that: all that it asks for is there, but no
 * module is accepted. -DINCOMPLETE: one function is missing.
 */
#include <stdlib.h>
#include <string.h>

/* LLVM's strings are disposed of by its own function, below. */
int LLVMParseIRInContext(void *context, void *buffer, void **module, char **message)
{
	(void)context;
	(void)buffer;
	*module = NULL;
	*message = strdup("<stand-in>: no module is good enough");
	return 1;
}

void LLVMDisposeMessage(char *text)
{
	free(text);
}

#define NOTHING(name)                                                                              \
	void *name(void);                                                                          \
	void *name(void)                                                                           \
	{                                                                                          \
		return NULL;                                                                       \
	}
NOTHING(LLVMContextCreate)
NOTHING(LLVMContextDispose)
NOTHING(LLVMCreateMemoryBufferWithMemoryRangeCopy)
NOTHING(LLVMDisposeModule)
NOTHING(LLVMInitializeX86TargetInfo)
NOTHING(LLVMInitializeX86Target)
NOTHING(LLVMInitializeX86TargetMC)
NOTHING(LLVMInitializeX86AsmPrinter)
NOTHING(LLVMLinkInMCJIT)
NOTHING(LLVMCreateMCJITCompilerForModule)
NOTHING(LLVMInitializeMCJITCompilerOptions)
NOTHING(LLVMGetFunctionAddress)
NOTHING(LLVMDisposeExecutionEngine)
NOTHING(LLVMGetExecutionEngineTargetMachine)
NOTHING(LLVMCreatePassBuilderOptions)
NOTHING(LLVMDisposePassBuilderOptions)
NOTHING(LLVMRunPasses)
NOTHING(LLVMGetErrorMessage)
#ifndef INCOMPLETE
NOTHING(LLVMDisposeErrorMessage)
#endif
