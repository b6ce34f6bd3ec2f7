/*
 * Functions of the device's runtime that are written in PTX: those of a grid's threads together.
 * Compilers that have no header for cooperative groups call them (CUDA Runtime API "CUDA Device
 * Runtime", cuda_device_runtime_api.h of the toolkit); NVIDIA's library of them is machine code.
 *
 * A grid's handle is the address of its workspace, which only a cooperative launch has. The barrier
 * counts in its second word: each CTA adds 1, the first one so much that all together change the
 * highest bit.
 */
#include "src/dev/module/builtin.h"

static const char *const names[] = {
	"cudaCGGetIntrinsicHandle", "cudaCGGetRank",         "cudaCGGetSize",
	"cudaCGSynchronize",        "cudaCGSynchronizeGrid",
};

#define INVALID_VALUE "1"

/* 0, or an error where there is no grid to wait for. */
#define SYNCHRONIZE(name)                                                                          \
	".visible .func (.param .b32 status) " name "(.param .b64 handle, .param .b32 flags)\n"    \
	"{\n"                                                                                      \
	"	.reg .pred %none, %other, %first, %waits;\n"                                             \
	"	.reg .b32 %r<8>;\n"                                                                      \
	"	.reg .b64 %at;\n"                                                                        \
	"	ld.param.u64 %at, [handle];\n"                                                           \
	"	setp.eq.u64 %none, %at, 0;\n"                                                            \
	"	@%none bra refuse;\n"                                                                    \
	"	barrier.sync 0;\n"                                                                       \
	"	mov.u32 %r1, %tid.x;\n"                                                                  \
	"	mov.u32 %r2, %tid.y;\n"                                                                  \
	"	or.b32 %r1, %r1, %r2;\n"                                                                 \
	"	mov.u32 %r2, %tid.z;\n"                                                                  \
	"	or.b32 %r1, %r1, %r2;\n"                                                                 \
	"	setp.ne.u32 %other, %r1, 0;\n"                                                           \
	"	@%other bra meet;\n"                                                                     \
	"	mov.u32 %r1, %nctaid.x;\n"                                                               \
	"	mov.u32 %r2, %nctaid.y;\n"                                                               \
	"	mul.lo.u32 %r1, %r1, %r2;\n"                                                             \
	"	mov.u32 %r2, %nctaid.z;\n"                                                               \
	"	mul.lo.u32 %r1, %r1, %r2;\n"                                                             \
	"	sub.u32 %r1, 0x80000001, %r1;\n"                                                         \
	"	mov.u32 %r2, %ctaid.x;\n"                                                                \
	"	mov.u32 %r3, %ctaid.y;\n"                                                                \
	"	or.b32 %r2, %r2, %r3;\n"                                                                 \
	"	mov.u32 %r3, %ctaid.z;\n"                                                                \
	"	or.b32 %r2, %r2, %r3;\n"                                                                 \
	"	setp.eq.u32 %first, %r2, 0;\n"                                                           \
	"	selp.b32 %r1, %r1, 1, %first;\n"                                                         \
	"	membar.gl;\n"                                                                            \
	"	atom.add.u32 %r2, [%at+4], %r1;\n"                                                       \
	"wait:\n"                                                                                  \
	"	ld.volatile.u32 %r3, [%at+4];\n"                                                         \
	"	xor.b32 %r3, %r3, %r2;\n"                                                                \
	"	setp.ge.s32 %waits, %r3, 0;\n"                                                           \
	"	@%waits bra wait;\n"                                                                     \
	"	membar.gl;\n"                                                                            \
	"meet:\n"                                                                                  \
	"	barrier.sync 0;\n"                                                                       \
	"	st.param.b32 [status], 0;\n"                                                             \
	"	ret;\n"                                                                                  \
	"refuse:\n"                                                                                \
	"	st.param.b32 [status], " INVALID_VALUE ";\n"                                       \
	"	ret;\n"                                                                                  \
	"}\n"

static const char text[] =
	".version 6.0\n"
	".target sm_60\n"
	".address_size 64\n"
	".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"
	"{\n"
	"	.reg .pred %grid;\n"
	"	.reg .b32 %r<4>;\n"
	"	.reg .b64 %at;\n"
	"	ld.param.u32 %r1, [scope];\n"
	"	setp.eq.u32 %grid, %r1, 1;\n"
	"	mov.u32 %r2, %envreg1;\n"
	"	mov.u32 %r3, %envreg2;\n"
	"	mov.b64 %at, {%r3, %r2};\n"
	"	selp.b64 %at, %at, 0, %grid;\n"
	"	st.param.b64 [handle], %at;\n"
	"	ret;\n"
	"}\n"
	".visible .func (.param .b32 status) cudaCGGetSize(.param .b64 threads, .param .b64 grids, "
	".param .b64 handle)\n"
	"{\n"
	"	.reg .pred %none, %p;\n"
	"	.reg .b32 %r<4>;\n"
	"	.reg .b64 %at;\n"
	"	ld.param.u64 %at, [handle];\n"
	"	setp.eq.u64 %none, %at, 0;\n"
	"	@%none bra refuse;\n"
	"	mov.u32 %r1, %ntid.x;\n"
	"	mov.u32 %r2, %ntid.y;\n"
	"	mul.lo.u32 %r1, %r1, %r2;\n"
	"	mov.u32 %r2, %ntid.z;\n"
	"	mul.lo.u32 %r1, %r1, %r2;\n"
	"	mov.u32 %r2, %nctaid.x;\n"
	"	mul.lo.u32 %r1, %r1, %r2;\n"
	"	mov.u32 %r2, %nctaid.y;\n"
	"	mul.lo.u32 %r1, %r1, %r2;\n"
	"	mov.u32 %r2, %nctaid.z;\n"
	"	mul.lo.u32 %r1, %r1, %r2;\n"
	"	ld.param.u64 %at, [threads];\n"
	"	setp.ne.u64 %p, %at, 0;\n"
	"	@%p st.u32 [%at], %r1;\n"
	"	ld.param.u64 %at, [grids];\n"
	"	setp.ne.u64 %p, %at, 0;\n"
	"	@%p st.u32 [%at], 1;\n"
	"	st.param.b32 [status], 0;\n"
	"	ret;\n"
	"refuse:\n"
	"	st.param.b32 [status], " INVALID_VALUE ";\n"
	"	ret;\n"
	"}\n"
	".visible .func (.param .b32 status) cudaCGGetRank(.param .b64 thread, .param .b64 grid, "
	".param .b64 handle)\n"
	"{\n"
	"	.reg .pred %none, %p;\n"
	"	.reg .b32 %r<6>;\n"
	"	.reg .b64 %at;\n"
	"	ld.param.u64 %at, [handle];\n"
	"	setp.eq.u64 %none, %at, 0;\n"
	"	@%none bra refuse;\n"
	"	mov.u32 %r1, %ctaid.z;\n"
	"	mov.u32 %r2, %nctaid.y;\n"
	"	mov.u32 %r3, %ctaid.y;\n"
	"	mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	mov.u32 %r2, %nctaid.x;\n"
	"	mov.u32 %r3, %ctaid.x;\n"
	"	mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	mov.u32 %r2, %ntid.z;\n"
	"	mov.u32 %r3, %tid.z;\n"
	"	mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	mov.u32 %r2, %ntid.y;\n"
	"	mov.u32 %r3, %tid.y;\n"
	"	mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	mov.u32 %r2, %ntid.x;\n"
	"	mov.u32 %r3, %tid.x;\n"
	"	mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"	ld.param.u64 %at, [thread];\n"
	"	setp.ne.u64 %p, %at, 0;\n"
	"	@%p st.u32 [%at], %r1;\n"
	"	ld.param.u64 %at, [grid];\n"
	"	setp.ne.u64 %p, %at, 0;\n"
	"	@%p st.u32 [%at], 0;\n"
	"	st.param.b32 [status], 0;\n"
	"	ret;\n"
	"refuse:\n"
	"	st.param.b32 [status], " INVALID_VALUE ";\n"
	"	ret;\n"
	"}\n" SYNCHRONIZE("cudaCGSynchronize") SYNCHRONIZE("cudaCGSynchronizeGrid");

const struct diag_source builtin_source = {"<device runtime>", text, sizeof(text) - 1};

static bool is_open(struct ir_module *const *units, u32 len, const char *name)
{
	bool declared = false;

	for (u32 u = 0; u < len; u++) {
		const struct ir_func *f = ir_find_func(units[u], name);

		if (f && f->has_body)
			return false;
		declared |= f != NULL;
	}
	return declared;
}

bool builtin_is_needed(struct ir_module *const *units, u32 len)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (is_open(units, len, names[i]))
			return true;
	return false;
}
