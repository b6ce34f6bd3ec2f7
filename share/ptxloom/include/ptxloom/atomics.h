/*
 * Atomic functions: the device's scope, and with _block and _system the CTA's and the system's. One
 * instruction each; what the hardware has no instruction for is a loop of compare-and-swap.
 */
#ifndef PTXLOOM_ATOMICS_H
#define PTXLOOM_ATOMICS_H

#define PTXLOOM_ATOM2(name, type, letter, text)                                            \
	PTXLOOM_ONE type name(type *p, type v)                                             \
	{                                                                                  \
		type old;                                                                  \
                                                                                           \
		asm volatile(text " %0, [%1], %2;"                                         \
			     : "=" letter(old)                                             \
			     : "l"(p), letter(v)                                           \
			     : "memory");                                                  \
		return old;                                                                \
	}
#define PTXLOOM_ATOM3(name, type, letter, text)                                            \
	PTXLOOM_ONE type name(type *p, type compare, type v)                               \
	{                                                                                  \
		type old;                                                                  \
                                                                                           \
		asm volatile(text " %0, [%1], %2, %3;"                                     \
			     : "=" letter(old)                                             \
			     : "l"(p), letter(compare), letter(v)                          \
			     : "memory");                                                  \
		return old;                                                                \
	}
/* unsigned long is unsigned long long to the instruction. */
#define PTXLOOM_SCOPE(end, scope)                                                          \
	PTXLOOM_ATOM2(atomicAdd##end, int, "r", "atom" scope ".add.s32")                   \
	PTXLOOM_ATOM2(atomicAdd##end, unsigned, "r", "atom" scope ".add.u32")              \
	PTXLOOM_ATOM2(atomicAdd##end, unsigned long long, "l", "atom" scope ".add.u64")    \
	PTXLOOM_ATOM2(atomicAdd##end, float, "f", "atom" scope ".add.f32")                 \
	PTXLOOM_ATOM2(atomicAdd##end, double, "d", "atom" scope ".add.f64")                \
	PTXLOOM_ATOM2(atomicExch##end, int, "r", "atom" scope ".exch.b32")                 \
	PTXLOOM_ATOM2(atomicExch##end, unsigned, "r", "atom" scope ".exch.b32")            \
	PTXLOOM_ATOM2(atomicExch##end, unsigned long long, "l", "atom" scope ".exch.b64")  \
	PTXLOOM_ATOM2(atomicExch##end, float, "f", "atom" scope ".exch.b32")               \
	PTXLOOM_ATOM2(atomicExch##end, double, "d", "atom" scope ".exch.b64")              \
	PTXLOOM_ATOM2(atomicMin##end, int, "r", "atom" scope ".min.s32")                   \
	PTXLOOM_ATOM2(atomicMin##end, unsigned, "r", "atom" scope ".min.u32")              \
	PTXLOOM_ATOM2(atomicMin##end, long long, "l", "atom" scope ".min.s64")             \
	PTXLOOM_ATOM2(atomicMin##end, unsigned long long, "l", "atom" scope ".min.u64")    \
	PTXLOOM_ATOM2(atomicMax##end, int, "r", "atom" scope ".max.s32")                   \
	PTXLOOM_ATOM2(atomicMax##end, unsigned, "r", "atom" scope ".max.u32")              \
	PTXLOOM_ATOM2(atomicMax##end, long long, "l", "atom" scope ".max.s64")             \
	PTXLOOM_ATOM2(atomicMax##end, unsigned long long, "l", "atom" scope ".max.u64")    \
	PTXLOOM_ATOM2(atomicInc##end, unsigned, "r", "atom" scope ".inc.u32")              \
	PTXLOOM_ATOM2(atomicDec##end, unsigned, "r", "atom" scope ".dec.u32")              \
	PTXLOOM_ATOM2(atomicAnd##end, int, "r", "atom" scope ".and.b32")                   \
	PTXLOOM_ATOM2(atomicAnd##end, unsigned, "r", "atom" scope ".and.b32")              \
	PTXLOOM_ATOM2(atomicAnd##end, unsigned long long, "l", "atom" scope ".and.b64")    \
	PTXLOOM_ATOM2(atomicOr##end, int, "r", "atom" scope ".or.b32")                     \
	PTXLOOM_ATOM2(atomicOr##end, unsigned, "r", "atom" scope ".or.b32")                \
	PTXLOOM_ATOM2(atomicOr##end, unsigned long long, "l", "atom" scope ".or.b64")      \
	PTXLOOM_ATOM2(atomicXor##end, int, "r", "atom" scope ".xor.b32")                   \
	PTXLOOM_ATOM2(atomicXor##end, unsigned, "r", "atom" scope ".xor.b32")              \
	PTXLOOM_ATOM2(atomicXor##end, unsigned long long, "l", "atom" scope ".xor.b64")    \
	PTXLOOM_ATOM3(atomicCAS##end, int, "r", "atom" scope ".cas.b32")                   \
	PTXLOOM_ATOM3(atomicCAS##end, unsigned, "r", "atom" scope ".cas.b32")              \
	PTXLOOM_ATOM3(atomicCAS##end, unsigned long long, "l", "atom" scope ".cas.b64")    \
	PTXLOOM_ATOM3(atomicCAS##end, unsigned short, "h", "atom" scope ".cas.b16")        \
	PTXLOOM_ONE int atomicSub##end(int *p, int v) { return atomicAdd##end(p, -v); }    \
	PTXLOOM_ONE unsigned atomicSub##end(unsigned *p, unsigned v) { return atomicAdd##end(p, -v); }

PTXLOOM_SCOPE(, "")
PTXLOOM_SCOPE(_block, ".cta")
PTXLOOM_SCOPE(_system, ".sys")

#undef PTXLOOM_SCOPE
#undef PTXLOOM_ATOM2
#undef PTXLOOM_ATOM3


#endif
