/*
 * __nv_atomic_*: atomic functions that are told their order and scope, as the CUDA C++ guide has
 * them. Each is a relaxed instruction of that scope between the fences that the order asks for;
 * orders and scopes are constants as a rule, so that the others vanish.
 */
#ifndef PTXLOOM_ATOMIC_ORDERS_H
#define PTXLOOM_ATOMIC_ORDERS_H

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4


#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define PTXLOOM_RELAXED(text, scope) text ".volatile"
#define PTXLOOM_RELAXED_ATOM(scope) "atom" scope
#define PTXLOOM_FENCE_SC(scope, membar) membar
#define PTXLOOM_FENCE(scope, membar) membar
#else
#define PTXLOOM_RELAXED(text, scope) text ".relaxed" scope
#define PTXLOOM_RELAXED_ATOM(scope) "atom.relaxed" scope
#define PTXLOOM_FENCE_SC(scope, membar) "fence.sc" scope ";"
#define PTXLOOM_FENCE(scope, membar) "fence.acq_rel" scope ";"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define PTXLOOM_CLUSTER ".gpu"
#else
#define PTXLOOM_CLUSTER ".cluster"
#endif

/* one(scope, membar): the statement for the scope that is asked for. */
#define PTXLOOM_EACH_SCOPE(one)                                                            \
	switch (scope) {                                                                   \
	case __NV_THREAD_SCOPE_THREAD:                                                     \
	case __NV_THREAD_SCOPE_BLOCK:                                                      \
		one(".cta", "membar.cta;");                                                \
		break;                                                                     \
	case __NV_THREAD_SCOPE_CLUSTER:                                                    \
		one(PTXLOOM_CLUSTER, "membar.gl;");                                        \
		break;                                                                     \
	case __NV_THREAD_SCOPE_DEVICE:                                                     \
		one(".gpu", "membar.gl;");                                                 \
		break;                                                                     \
	default:                                                                           \
		one(".sys", "membar.sys;");                                                \
	}

#define PTXLOOM_ONE_SC(scope, membar) asm volatile(PTXLOOM_FENCE_SC(scope, membar) : : : "memory")
#define PTXLOOM_ONE_FENCE(scope, membar) asm volatile(PTXLOOM_FENCE(scope, membar) : : : "memory")

PTXLOOM_ONE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	if (order == __NV_ATOMIC_SEQ_CST) {
		PTXLOOM_EACH_SCOPE(PTXLOOM_ONE_SC)
	} else if (order != __NV_ATOMIC_RELAXED) {
		PTXLOOM_EACH_SCOPE(PTXLOOM_ONE_FENCE)
	}
}

PTXLOOM_ONE void ptxloom_fence_before(int order, int scope)
{
	if (order >= __NV_ATOMIC_RELEASE)
		__nv_atomic_thread_fence(order, scope);
}

PTXLOOM_ONE void ptxloom_fence_behind(int order, int scope)
{
	if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE)
		__nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, scope);
}

/* ---- words of each size ---- */

template <unsigned long bytes> struct ptxloom_word;

/* carried: what the instruction's register holds */
#define PTXLOOM_WORD(size, word, carried)                                                  \
	template <> struct ptxloom_word<size / 8> {                                        \
		typedef word type;                                                         \
	};                                                                                 \
	PTXLOOM_ONE word ptxloom_load(const word *p, int scope)                             \
	{                                                                                  \
		carried v;                                                                 \
                                                                                           \
		PTXLOOM_EACH_SCOPE(PTXLOOM_LOAD_##size)                                    \
		return (word)v;                                                            \
	}                                                                                  \
	PTXLOOM_ONE void ptxloom_store(word *p, word value, int scope)                      \
	{                                                                                  \
		carried v = value;                                                         \
                                                                                           \
		PTXLOOM_EACH_SCOPE(PTXLOOM_STORE_##size)                                   \
	}
#define PTXLOOM_LOAD(text, letter, scope)                                                  \
	asm volatile(PTXLOOM_RELAXED("ld", scope) text " %0, [%1];" : "=" letter(v) : "l"(p) : "memory")
#define PTXLOOM_STORE(text, letter, scope)                                                 \
	asm volatile(PTXLOOM_RELAXED("st", scope) text " [%0], %1;" : : "l"(p), letter(v) : "memory")
#define PTXLOOM_LOAD_8(scope, membar) PTXLOOM_LOAD(".u8", "h", scope)
#define PTXLOOM_LOAD_16(scope, membar) PTXLOOM_LOAD(".u16", "h", scope)
#define PTXLOOM_LOAD_32(scope, membar) PTXLOOM_LOAD(".u32", "r", scope)
#define PTXLOOM_LOAD_64(scope, membar) PTXLOOM_LOAD(".u64", "l", scope)
#define PTXLOOM_STORE_8(scope, membar) PTXLOOM_STORE(".u8", "h", scope)
#define PTXLOOM_STORE_16(scope, membar) PTXLOOM_STORE(".u16", "h", scope)
#define PTXLOOM_STORE_32(scope, membar) PTXLOOM_STORE(".u32", "r", scope)
#define PTXLOOM_STORE_64(scope, membar) PTXLOOM_STORE(".u64", "l", scope)

PTXLOOM_WORD(8, unsigned char, unsigned short)
PTXLOOM_WORD(16, unsigned short, unsigned short)
PTXLOOM_WORD(32, unsigned, unsigned)
PTXLOOM_WORD(64, unsigned long long, unsigned long long)

/* Compare and swap, of words of 16 bits, too; the rest has 32 and 64. */
#define PTXLOOM_CAS(word, one)                                                             \
	PTXLOOM_ONE word ptxloom_cas(word *p, word expected, word desired, int scope)       \
	{                                                                                  \
		word old;                                                                  \
                                                                                           \
		PTXLOOM_EACH_SCOPE(one)                                                    \
		return old;                                                                \
	}
#define PTXLOOM_CAS_ASM(text, letter, scope)                                               \
	asm volatile(PTXLOOM_RELAXED_ATOM(scope) ".cas" text " %0, [%1], %2, %3;"          \
		     : "=" letter(old)                                                     \
		     : "l"(p), letter(expected), letter(desired)                           \
		     : "memory")
#define PTXLOOM_CAS_16(scope, membar) PTXLOOM_CAS_ASM(".b16", "h", scope)
#define PTXLOOM_CAS_32(scope, membar) PTXLOOM_CAS_ASM(".b32", "r", scope)
#define PTXLOOM_CAS_64(scope, membar) PTXLOOM_CAS_ASM(".b64", "l", scope)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
PTXLOOM_CAS(unsigned short, PTXLOOM_CAS_16)
#endif
PTXLOOM_CAS(unsigned, PTXLOOM_CAS_32)
PTXLOOM_CAS(unsigned long long, PTXLOOM_CAS_64)

/* ---- read, change, write ---- */

#define PTXLOOM_CHANGE_ASM(text, letter, scope)                                            \
	asm volatile(PTXLOOM_RELAXED_ATOM(scope) text " %0, [%1], %2;"                     \
		     : "=" letter(old)                                                     \
		     : "l"(p), letter(v)                                                   \
		     : "memory")
#define PTXLOOM_CHANGE(name, type, one)                                                    \
	PTXLOOM_ONE type name(type *p, type v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) \
	{                                                                                  \
		type old;                                                                  \
                                                                                           \
		ptxloom_fence_before(order, scope);                                        \
		PTXLOOM_EACH_SCOPE(one)                                                    \
		ptxloom_fence_behind(order, scope);                                        \
		return old;                                                                \
	}
#define PTXLOOM_EXCH_32(scope, membar) PTXLOOM_CHANGE_ASM(".exch.b32", "r", scope)
#define PTXLOOM_EXCH_64(scope, membar) PTXLOOM_CHANGE_ASM(".exch.b64", "l", scope)
PTXLOOM_CHANGE(ptxloom_exchange, unsigned, PTXLOOM_EXCH_32)
PTXLOOM_CHANGE(ptxloom_exchange, unsigned long long, PTXLOOM_EXCH_64)

#define PTXLOOM_ADD_U32(scope, membar) PTXLOOM_CHANGE_ASM(".add.u32", "r", scope)
#define PTXLOOM_ADD_U64(scope, membar) PTXLOOM_CHANGE_ASM(".add.u64", "l", scope)
#define PTXLOOM_ADD_F32(scope, membar) PTXLOOM_CHANGE_ASM(".add.f32", "f", scope)
#define PTXLOOM_ADD_F64(scope, membar) PTXLOOM_CHANGE_ASM(".add.f64", "d", scope)
#define PTXLOOM_AND_32(scope, membar) PTXLOOM_CHANGE_ASM(".and.b32", "r", scope)
#define PTXLOOM_AND_64(scope, membar) PTXLOOM_CHANGE_ASM(".and.b64", "l", scope)
#define PTXLOOM_OR_32(scope, membar) PTXLOOM_CHANGE_ASM(".or.b32", "r", scope)
#define PTXLOOM_OR_64(scope, membar) PTXLOOM_CHANGE_ASM(".or.b64", "l", scope)
#define PTXLOOM_XOR_32(scope, membar) PTXLOOM_CHANGE_ASM(".xor.b32", "r", scope)
#define PTXLOOM_XOR_64(scope, membar) PTXLOOM_CHANGE_ASM(".xor.b64", "l", scope)
#define PTXLOOM_MIN_S32(scope, membar) PTXLOOM_CHANGE_ASM(".min.s32", "r", scope)
#define PTXLOOM_MIN_U32(scope, membar) PTXLOOM_CHANGE_ASM(".min.u32", "r", scope)
#define PTXLOOM_MIN_S64(scope, membar) PTXLOOM_CHANGE_ASM(".min.s64", "l", scope)
#define PTXLOOM_MIN_U64(scope, membar) PTXLOOM_CHANGE_ASM(".min.u64", "l", scope)
#define PTXLOOM_MAX_S32(scope, membar) PTXLOOM_CHANGE_ASM(".max.s32", "r", scope)
#define PTXLOOM_MAX_U32(scope, membar) PTXLOOM_CHANGE_ASM(".max.u32", "r", scope)
#define PTXLOOM_MAX_S64(scope, membar) PTXLOOM_CHANGE_ASM(".max.s64", "l", scope)
#define PTXLOOM_MAX_U64(scope, membar) PTXLOOM_CHANGE_ASM(".max.u64", "l", scope)

#define PTXLOOM_FETCH(operation, type, one)                                                \
	PTXLOOM_CHANGE(__nv_atomic_fetch_##operation, type, one)                           \
	PTXLOOM_ONE void __nv_atomic_##operation(type *p, type v, int order,                \
						int scope = __NV_THREAD_SCOPE_SYSTEM)      \
	{                                                                                  \
		__nv_atomic_fetch_##operation(p, v, order, scope);                         \
	}
/* What is signed is added and joined as what is not. */
#define PTXLOOM_FETCH_BITS(operation, narrow, wide)                                        \
	PTXLOOM_FETCH(operation, int, narrow)                                              \
	PTXLOOM_FETCH(operation, unsigned, narrow)                                         \
	PTXLOOM_FETCH(operation, long, wide)                                               \
	PTXLOOM_FETCH(operation, unsigned long, wide)                                      \
	PTXLOOM_FETCH(operation, long long, wide)                                          \
	PTXLOOM_FETCH(operation, unsigned long long, wide)
PTXLOOM_FETCH_BITS(add, PTXLOOM_ADD_U32, PTXLOOM_ADD_U64)
PTXLOOM_FETCH(add, float, PTXLOOM_ADD_F32)
PTXLOOM_FETCH(add, double, PTXLOOM_ADD_F64)
PTXLOOM_FETCH_BITS(and, PTXLOOM_AND_32, PTXLOOM_AND_64)
PTXLOOM_FETCH_BITS(or, PTXLOOM_OR_32, PTXLOOM_OR_64)
PTXLOOM_FETCH_BITS(xor, PTXLOOM_XOR_32, PTXLOOM_XOR_64)
#define PTXLOOM_FETCH_LEAST(operation, s32, u32, s64, u64)                                 \
	PTXLOOM_FETCH(operation, int, s32)                                                 \
	PTXLOOM_FETCH(operation, unsigned, u32)                                            \
	PTXLOOM_FETCH(operation, long, s64)                                                \
	PTXLOOM_FETCH(operation, unsigned long, u64)                                       \
	PTXLOOM_FETCH(operation, long long, s64)                                           \
	PTXLOOM_FETCH(operation, unsigned long long, u64)
PTXLOOM_FETCH_LEAST(min, PTXLOOM_MIN_S32, PTXLOOM_MIN_U32, PTXLOOM_MIN_S64, PTXLOOM_MIN_U64)
PTXLOOM_FETCH_LEAST(max, PTXLOOM_MAX_S32, PTXLOOM_MAX_U32, PTXLOOM_MAX_S64, PTXLOOM_MAX_U64)

template <typename T> struct ptxloom_same {
	typedef T type;
};
#define PTXLOOM_SAME(T) typename ptxloom_same<T>::type

template <typename T>
PTXLOOM_ONE T __nv_atomic_fetch_sub(T *p, PTXLOOM_SAME(T) v, int order,
				   int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	return __nv_atomic_fetch_add(p, (T)-v, order, scope);
}

template <typename T>
PTXLOOM_ONE void __nv_atomic_sub(T *p, PTXLOOM_SAME(T) v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	__nv_atomic_fetch_add(p, (T)-v, order, scope);
}

/* ---- values of any type of 1, 2, 4 and 8 bytes ---- */

#define PTXLOOM_BITS(T) typename ptxloom_word<sizeof(T)>::type

template <typename To, typename From> PTXLOOM_ONE To ptxloom_as(const From &from)
{
	To to;

	__builtin_memcpy(&to, &from, sizeof(to));
	return to;
}

template <typename T>
PTXLOOM_ONE T __nv_atomic_load_n(const T *p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	if (order == __NV_ATOMIC_SEQ_CST)
		__nv_atomic_thread_fence(order, scope);
	PTXLOOM_BITS(T) v = ptxloom_load((const PTXLOOM_BITS(T) *)p, scope);
	ptxloom_fence_behind(order, scope);
	return ptxloom_as<T>(v);
}

template <typename T>
PTXLOOM_ONE void __nv_atomic_load(const T *p, T *result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	*result = __nv_atomic_load_n(p, order, scope);
}

template <typename T>
PTXLOOM_ONE void __nv_atomic_store_n(T *p, PTXLOOM_SAME(T) v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	ptxloom_fence_before(order, scope);
	ptxloom_store((PTXLOOM_BITS(T) *)p, ptxloom_as<PTXLOOM_BITS(T)>(v), scope);
}

template <typename T>
PTXLOOM_ONE void __nv_atomic_store(T *p, T *v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	__nv_atomic_store_n(p, *v, order, scope);
}

template <typename T>
PTXLOOM_ONE T __nv_atomic_exchange_n(T *p, PTXLOOM_SAME(T) v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	return ptxloom_as<T>(ptxloom_exchange((PTXLOOM_BITS(T) *)p, ptxloom_as<PTXLOOM_BITS(T)>(v), order, scope));
}

template <typename T>
PTXLOOM_ONE void __nv_atomic_exchange(T *p, T *v, T *result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	*result = __nv_atomic_exchange_n(p, *v, order, scope);
}

/* None is weak. What fails has at most the order of what does not. */
template <typename T>
PTXLOOM_ONE bool __nv_atomic_compare_exchange_n(T *p, T *expected, PTXLOOM_SAME(T) desired, bool, int order, int,
					       int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	PTXLOOM_BITS(T) before = ptxloom_as<PTXLOOM_BITS(T)>(*expected), old;

	ptxloom_fence_before(order, scope);
	old = ptxloom_cas((PTXLOOM_BITS(T) *)p, before, ptxloom_as<PTXLOOM_BITS(T)>(desired), scope);
	ptxloom_fence_behind(order, scope);
	if (old == before)
		return true;
	*expected = ptxloom_as<T>(old);
	return false;
}

template <typename T>
PTXLOOM_ONE bool __nv_atomic_compare_exchange(T *p, T *expected, T *desired, bool weak, int order, int failing,
					     int scope = __NV_THREAD_SCOPE_SYSTEM)
{
	return __nv_atomic_compare_exchange_n(p, expected, *desired, weak, order, failing, scope);
}

#endif
