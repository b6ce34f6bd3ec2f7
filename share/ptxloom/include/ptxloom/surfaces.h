/*
 * Reads and writes of surfaces. x counts bytes; T has 1, 2, 4, 8 or 16 bytes. What is outside
 * faults, or by the mode reads as zero and is not written, or is moved to the edge.
 */
#ifndef PTXLOOM_SURFACES_H
#define PTXLOOM_SURFACES_H

#define PTXLOOM_SULD(geometry, at, mode, ...)                                              \
	do {                                                                               \
		if (sizeof(T) == 1)                                                        \
			asm volatile("suld.b." geometry ".b8." mode " %[v], [%[s], {" at "}];" \
				     : [v] "=h"(h)                                         \
				     : [s] "l"(s), __VA_ARGS__                             \
				     : "memory");                                          \
		else if (sizeof(T) == 2)                                                   \
			asm volatile("suld.b." geometry ".b16." mode " %[v], [%[s], {" at "}];" \
				     : [v] "=h"(h)                                         \
				     : [s] "l"(s), __VA_ARGS__                             \
				     : "memory");                                          \
		else if (sizeof(T) == 4)                                                   \
			asm volatile("suld.b." geometry ".b32." mode " %[v], [%[s], {" at "}];" \
				     : [v] "=r"(w[0])                                      \
				     : [s] "l"(s), __VA_ARGS__                             \
				     : "memory");                                          \
		else if (sizeof(T) == 8)                                                   \
			asm volatile("suld.b." geometry ".v2.b32." mode " {%[v], %[w]}, [%[s], {" at "}];" \
				     : [v] "=r"(w[0]), [w] "=r"(w[1])                      \
				     : [s] "l"(s), __VA_ARGS__                             \
				     : "memory");                                          \
		else                                                                       \
			asm volatile("suld.b." geometry ".v4.b32." mode                    \
				     " {%[v], %[w], %[a], %[b]}, [%[s], {" at "}];"        \
				     : [v] "=r"(w[0]), [w] "=r"(w[1]), [a] "=r"(w[2]), [b] "=r"(w[3]) \
				     : [s] "l"(s), __VA_ARGS__                             \
				     : "memory");                                          \
	} while (0)
#define PTXLOOM_SUST(geometry, at, mode, ...)                                              \
	do {                                                                               \
		if (sizeof(T) == 1)                                                        \
			asm volatile("sust.b." geometry ".b8." mode " [%[s], {" at "}], %[v];" ::[v] "h"(h), \
				     [s] "l"(s), __VA_ARGS__                               \
				     : "memory");                                          \
		else if (sizeof(T) == 2)                                                   \
			asm volatile("sust.b." geometry ".b16." mode " [%[s], {" at "}], %[v];" ::[v] "h"(h), \
				     [s] "l"(s), __VA_ARGS__                               \
				     : "memory");                                          \
		else if (sizeof(T) == 4)                                                   \
			asm volatile("sust.b." geometry ".b32." mode " [%[s], {" at "}], %[v];" ::[v] "r"(w[0]), \
				     [s] "l"(s), __VA_ARGS__                               \
				     : "memory");                                          \
		else if (sizeof(T) == 8)                                                   \
			asm volatile("sust.b." geometry ".v2.b32." mode " [%[s], {" at "}], {%[v], %[w]};" ::[v] \
				     "r"(w[0]), [w] "r"(w[1]), [s] "l"(s), __VA_ARGS__     \
				     : "memory");                                          \
		else                                                                       \
			asm volatile("sust.b." geometry ".v4.b32." mode                    \
				     " [%[s], {" at "}], {%[v], %[w], %[a], %[b]};" ::[v] "r"(w[0]), \
				     [w] "r"(w[1]), [a] "r"(w[2]), [b] "r"(w[3]), [s] "l"(s), __VA_ARGS__ \
				     : "memory");                                          \
	} while (0)
#define PTXLOOM_MODES(access, geometry, at, ...)                                           \
	do {                                                                               \
		if (mode == cudaBoundaryModeTrap)                                          \
			access(geometry, at, "trap", __VA_ARGS__);                         \
		else if (mode == cudaBoundaryModeZero)                                     \
			access(geometry, at, "zero", __VA_ARGS__);                         \
		else                                                                       \
			access(geometry, at, "clamp", __VA_ARGS__);                        \
	} while (0)
#define PTXLOOM_SURFACE(end, geometry, at, coordinates, names, ...)                        \
	template <class T>                                                                 \
	PTXLOOM_ONE void surf##end##write(T value, cudaSurfaceObject_t s, PTXLOOM_UNWRAP coordinates, \
					  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
	{                                                                                  \
		unsigned w[4] = {0, 0, 0, 0};                                              \
		unsigned short h;                                                          \
                                                                                           \
		static_assert(sizeof(T) <= 16 && !(sizeof(T) & (sizeof(T) - 1)), "1, 2, 4, 8 or 16 bytes"); \
		__builtin_memcpy(w, &value, sizeof(T));                                    \
		h = (unsigned short)w[0];                                                  \
		PTXLOOM_MODES(PTXLOOM_SUST, geometry, at, __VA_ARGS__);                    \
	}                                                                                  \
	template <class T>                                                                 \
	PTXLOOM_ONE T surf##end##read(cudaSurfaceObject_t s, PTXLOOM_UNWRAP coordinates,   \
				      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
	{                                                                                  \
		unsigned w[4] = {0, 0, 0, 0};                                              \
		unsigned short h = 0;                                                      \
		T value;                                                                   \
                                                                                           \
		static_assert(sizeof(T) <= 16 && !(sizeof(T) & (sizeof(T) - 1)), "1, 2, 4, 8 or 16 bytes"); \
		PTXLOOM_MODES(PTXLOOM_SULD, geometry, at, __VA_ARGS__);                    \
		if (sizeof(T) < 4)                                                         \
			w[0] = h;                                                          \
		__builtin_memcpy(&value, w, sizeof(T));                                    \
		return value;                                                              \
	}                                                                                  \
	template <class T>                                                                 \
	PTXLOOM_ONE void surf##end##read(T *out, cudaSurfaceObject_t s, PTXLOOM_UNWRAP coordinates, \
					 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
	{                                                                                  \
		*out = surf##end##read<T>(s, PTXLOOM_UNWRAP names, mode);                  \
	}
#define PTXLOOM_UNWRAP(...) __VA_ARGS__

PTXLOOM_SURFACE(1D, "1d", "%[x]", (int x), (x), [x] "r"(x))
PTXLOOM_SURFACE(2D, "2d", "%[x], %[y]", (int x, int y), (x, y), [x] "r"(x), [y] "r"(y))
PTXLOOM_SURFACE(3D, "3d", "%[x], %[y], %[z], %[z]", (int x, int y, int z), (x, y, z), [x] "r"(x), [y] "r"(y),
		[z] "r"(z))
PTXLOOM_SURFACE(1DLayered, "a1d", "%[l], %[x]", (int x, int layer), (x, layer), [x] "r"(x), [l] "r"(layer))
PTXLOOM_SURFACE(2DLayered, "a2d", "%[l], %[x], %[y], %[y]", (int x, int y, int layer), (x, y, layer),
		[x] "r"(x), [y] "r"(y), [l] "r"(layer))
PTXLOOM_SURFACE(Cubemap, "a2d", "%[l], %[x], %[y], %[y]", (int x, int y, int face), (x, y, face), [x] "r"(x),
		[y] "r"(y), [l] "r"(face))

#undef PTXLOOM_SURFACE
#undef PTXLOOM_MODES
#undef PTXLOOM_SUST
#undef PTXLOOM_SULD
#undef PTXLOOM_UNWRAP

#endif
