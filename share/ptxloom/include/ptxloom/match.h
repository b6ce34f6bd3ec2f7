/*
 * Which lanes of a warp have the same value: match.sync (sm_70 and higher).
 */
#ifndef PTXLOOM_MATCH_H
#define PTXLOOM_MATCH_H

#define PTXLOOM_MATCH(type, bits, letter)                                                  \
	static __device__ __forceinline__ unsigned __match_any_sync(unsigned mask, type v) \
	{                                                                                  \
		unsigned r;                                                                \
                                                                                           \
		asm volatile("match.any.sync.b" bits " %0, %1, %2;" : "=r"(r) : letter(v), "r"(mask)); \
		return r;                                                                  \
	}                                                                                  \
	static __device__ __forceinline__ unsigned __match_all_sync(unsigned mask, type v, int *same) \
	{                                                                                  \
		unsigned r, p;                                                             \
                                                                                           \
		asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b" bits                 \
			     " %0|p, %2, %3;\n\tselp.u32 %1, 1, 0, p;\n\t}"                \
			     : "=r"(r), "=r"(p)                                            \
			     : letter(v), "r"(mask));                                      \
		*same = (int)p;                                                            \
		return r;                                                                  \
	}
PTXLOOM_MATCH(int, "32", "r")
PTXLOOM_MATCH(unsigned, "32", "r")
PTXLOOM_MATCH(float, "32", "f")
PTXLOOM_MATCH(long, "64", "l")
PTXLOOM_MATCH(unsigned long, "64", "l")
PTXLOOM_MATCH(long long, "64", "l")
PTXLOOM_MATCH(unsigned long long, "64", "l")
PTXLOOM_MATCH(double, "64", "d")
#undef PTXLOOM_MATCH

#endif
