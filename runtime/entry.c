/*
 * The entry points of both interfaces. Each is a jump to the function's body, in front of which stand the
 * checks that entry.def lists: in what order a wrong argument, a missing context and a fault are found is
 * seen by programs and differs from function to function.
 *
 * A record is the checks' text, the body and the function's name. The common part saves the arguments' registers, asks
 * entry_check and either returns its answer or goes on to the body as if nothing had been.
 */
#include "runtime/entry.h"
#include "runtime/drv.h"

#include <stdlib.h>

#define CHECKED(check, body, name, checks)                                                         \
	__asm__(".set checked_" #name ", 1\n"                                                      \
		".macro checks_" #name "\n"                                                        \
		".section .rodata.str1.1,\"aMS\",@progbits,1\n"                                    \
		"0:\t.asciz \"" checks "\"\n"                                                      \
		"2:\t.asciz \"" #name "\"\n"                                                       \
		".section .data.rel.ro,\"aw\"\n"                                                   \
		".p2align 3\n"                                                                     \
		"1:\t.quad 0b, " #body #name ", 2b\n"                                              \
		".text\n"                                                                          \
		"\tleaq 1b(%rip), %r11\n"                                                          \
		"\tjmp " #check "\n"                                                               \
		".endm\n");
#define RT(name, checks) CHECKED(entry_runtime, plrt_, name, checks)
#define DRV(name, checks) CHECKED(entry_driver, pldrv_, name, checks)
#include "runtime/entry.def"
#undef RT
#undef DRV

/* Six registers of integers at 0, two of floats at 48 (no function has more), the record at 176. */
#define COMMON(name, decide)                                                                       \
	__asm__(".text\n"                                                                          \
		".p2align 4\n"                                                                     \
		".type " #name ", @function\n" #name ":\n"                                         \
		"\t.cfi_startproc\n"                                                               \
		"\tpushq %rbp\n"                                                                   \
		"\t.cfi_def_cfa_offset 16\n"                                                       \
		"\t.cfi_offset %rbp, -16\n"                                                        \
		"\tmovq %rsp, %rbp\n"                                                              \
		"\t.cfi_def_cfa_register %rbp\n"                                                   \
		"\tsubq $192, %rsp\n"                                                              \
		"\tmovq %rdi, (%rsp)\n"                                                            \
		"\tmovq %rsi, 8(%rsp)\n"                                                           \
		"\tmovq %rdx, 16(%rsp)\n"                                                          \
		"\tmovq %rcx, 24(%rsp)\n"                                                          \
		"\tmovq %r8, 32(%rsp)\n"                                                           \
		"\tmovq %r9, 40(%rsp)\n"                                                           \
		"\tmovups %xmm0, 48(%rsp)\n"                                                       \
		"\tmovups %xmm1, 64(%rsp)\n"                                                       \
		"\tmovq %r11, 176(%rsp)\n"                                                         \
		"\tmovq (%r11), %rdi\n"                                                            \
		"\tmovq %rsp, %rsi\n"                                                              \
		"\tleaq 16(%rbp), %rdx\n"                                                          \
		"\tleaq 184(%rsp), %rcx\n"                                                         \
		"\tmovq 16(%r11), %r8\n"                                                           \
		"\tcall " #decide "\n"                                                             \
		"\ttestb %al, %al\n"                                                               \
		"\tjz 0f\n"                                                                        \
		"\tmovl 184(%rsp), %eax\n"                                                         \
		"\tleave\n"                                                                        \
		"\t.cfi_remember_state\n"                                                          \
		"\t.cfi_def_cfa %rsp, 8\n"                                                         \
		"\tret\n"                                                                          \
		"\t.cfi_restore_state\n"                                                           \
		"0:\tmovq 176(%rsp), %r11\n"                                                       \
		"\tmovq (%rsp), %rdi\n"                                                            \
		"\tmovq 8(%rsp), %rsi\n"                                                           \
		"\tmovq 16(%rsp), %rdx\n"                                                          \
		"\tmovq 24(%rsp), %rcx\n"                                                          \
		"\tmovq 32(%rsp), %r8\n"                                                           \
		"\tmovq 40(%rsp), %r9\n"                                                           \
		"\tmovups 48(%rsp), %xmm0\n"                                                       \
		"\tmovups 64(%rsp), %xmm1\n"                                                       \
		"\tleave\n"                                                                        \
		"\t.cfi_def_cfa %rsp, 8\n"                                                         \
		"\tjmp *8(%r11)\n"                                                                 \
		"\t.cfi_endproc\n"                                                                 \
		".size " #name ", . - " #name "\n");
COMMON(entry_driver, entry_check_driver)
COMMON(entry_runtime, entry_check_runtime)

/* A row's name may stand in both tables of the runtime: the first one makes it. */
#define ENTRY(body, name)                                                                          \
	__asm__(".ifndef plentry_" #name "\n"                                                      \
		".globl plentry_" #name "\n"                                                       \
		".type plentry_" #name ", @function\n"                                             \
		".p2align 4\n"                                                                     \
		"plentry_" #name ":\n"                                                             \
		".ifdef checked_" #name "\n"                                                       \
		"\tchecks_" #name "\n"                                                             \
		".else\n"                                                                          \
		"\tjmp " #body #name "@PLT\n"                                                      \
		".endif\n"                                                                         \
		".size plentry_" #name ", . - plentry_" #name "\n"                                 \
		".endif\n");
__asm__(".text\n");
#define RT(name, state) ENTRY(plrt_, name)
#include "runtime/runtime.def"
#undef RT
#define VERSIONED(name, v11, v12, v13) ENTRY(plrt_, v11) ENTRY(plrt_, v12) ENTRY(plrt_, v13)
#include "runtime/versions.def"
#undef VERSIONED
#define DRV(name, state) ENTRY(pldrv_, name)
#include "runtime/driver.def"
#undef DRV

enum { IN_REGISTERS = 6, STREAM_PER_THREAD = 2 };

/* Default streams belong to the current context: there has to be one. */
static bool has_argument(char check, u64 value)
{
	return check == 's' ? value > STREAM_PER_THREAD || rt_context_now() : value != 0;
}

/* The answer when it has not, by the letter of the check. */
static int answer_missing(char check)
{
	switch (check) {
	case 'a':
		return STATUS_INVALID_VALUE;
	case 'h':
		return STATUS_INVALID_HANDLE;
	case 'k':
		return cudaErrorInvalidDeviceFunction;
	case 'y':
		return cudaErrorInvalidSymbol;
	case 'o':
	case 's':
		return STATUS_INVALID_CONTEXT;
	case 'r':
		return cudaErrorInvalidDevice;
	default:
		return STATUS_SUCCESS;
	}
}

/* The fault of the current context, if any. */
static int fault_now(void)
{
	struct rt_context *c = rt_context_now();
	struct rt_device *d = c ? &rt_get()->device[c->device] : NULL;

	if (!d || !d->is_open)
		return STATUS_SUCCESS;
	return rt_sticky(d) ? rt_sticky(d) : (int)stream_device_error(&d->dev);
}

/* A check without argument. */
static int answer_state(char check)
{
	if (check == 'i')
		return drv_check(0) == STATUS_NOT_INITIALIZED ? STATUS_NOT_INITIALIZED : STATUS_SUCCESS;
	if (check == 'c')
		return rt_context_now() ? STATUS_SUCCESS : STATUS_INVALID_CONTEXT;
	return fault_now();
}

bool entry_check(const char *checks, const struct entry_call *call, int *status)
{
	for (const char *at = checks; *at;) {
		char check = *at++;
		unsigned n;

		if (check == '=') {
			*status = atoi(at);
			return true;
		}
		if (check == 'i' || check == 'c' || check == 'f') {
			*status = answer_state(check);
			if (*status)
				return true;
			continue;
		}
		n = (unsigned)(*at++ - '0');
		if (has_argument(check, n < IN_REGISTERS ? call->in_register[n]
							 : call->on_stack[n - IN_REGISTERS]))
			continue;
		*status = answer_missing(check);
		return true;
	}
	return false;
}

/* Both return whether the call is over. `name`: the function's. */
bool entry_check_driver(const char *checks, const u64 *in_register, const u64 *on_stack, int *status,
			const char *name);
bool entry_check_driver(const char *checks, const u64 *in_register, const u64 *on_stack, int *status,
			const char *name)
{
	if (!entry_check(checks, &(struct entry_call){in_register, on_stack}, status))
		return false;
	if (*status)
		rt_log_error(*status, name);
	return true;
}

bool entry_check_runtime(const char *checks, const u64 *in_register, const u64 *on_stack, int *status,
			 const char *name);
bool entry_check_runtime(const char *checks, const u64 *in_register, const u64 *on_stack, int *status,
			 const char *name)
{
	if (!entry_check_driver(checks, in_register, on_stack, status, name))
		return false;
	/* The log has it already. */
	rt_error_in(*status, "");
	return true;
}
