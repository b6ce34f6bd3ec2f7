/*
 * Textures and surfaces for clang without NVIDIA's toolkit: the fetches that are one instruction.
 * T is a type of 8, 16 or 32 bits or its vector of 2 or 4.
 */
#ifndef PTXLOOM_TEXTURES_H
#define PTXLOOM_TEXTURES_H

/* ---- what T has: channels, bits, kind ---- */

template <class T> struct ptxloom_texel;
#define PTXLOOM_TEXEL(type, kind)                                                        \
	template <> struct ptxloom_texel<type> {                                         \
		enum { channels = 1, bits = 8 * sizeof(type) };                          \
		static const cudaChannelFormatKind f = kind;                             \
		__device__ static __forceinline__ type make(const unsigned *v) { type t; __builtin_memcpy(&t, v, sizeof(t)); return t; } \
	};
#define PTXLOOM_TEXELS(type, name, kind)                                                 \
	PTXLOOM_TEXEL(type, kind)                                                        \
	template <> struct ptxloom_texel<name##2> {                                      \
		enum { channels = 2, bits = 8 * sizeof(type) };                          \
		static const cudaChannelFormatKind f = kind;                             \
		__device__ static __forceinline__ name##2 make(const unsigned *v)                               \
		{                                                                        \
			return name##2{ptxloom_texel<type>::make(v), ptxloom_texel<type>::make(v + 1)}; \
		}                                                                        \
	};                                                                               \
	template <> struct ptxloom_texel<name##4> {                                      \
		enum { channels = 4, bits = 8 * sizeof(type) };                          \
		static const cudaChannelFormatKind f = kind;                             \
		__device__ static __forceinline__ name##4 make(const unsigned *v)                               \
		{                                                                        \
			return name##4{ptxloom_texel<type>::make(v), ptxloom_texel<type>::make(v + 1), \
				       ptxloom_texel<type>::make(v + 2), ptxloom_texel<type>::make(v + 3)}; \
		}                                                                        \
	};
PTXLOOM_TEXELS(signed char, char, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(unsigned char, uchar, cudaChannelFormatKindUnsigned)
PTXLOOM_TEXELS(short, short, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(unsigned short, ushort, cudaChannelFormatKindUnsigned)
PTXLOOM_TEXELS(int, int, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(unsigned, uint, cudaChannelFormatKindUnsigned)
PTXLOOM_TEXELS(float, float, cudaChannelFormatKindFloat)

template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
	typedef ptxloom_texel<T> t;
	int b = t::bits;

	return cudaChannelFormatDesc{b, t::channels > 1 ? b : 0, t::channels > 2 ? b : 0,
				     t::channels > 2 ? b : 0, t::f};
}

/* ---- fetches ---- */

#define PTXLOOM_FETCH(text, ...)                                                         \
	unsigned v[4];                                                                   \
	asm volatile(text : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : __VA_ARGS__); \
	return ptxloom_texel<T>::make(v)

template <class T> PTXLOOM_ONE T tex1Dfetch(cudaTextureObject_t t, int x)
{
	PTXLOOM_FETCH("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];", "l"(t), "r"(x));
}
template <class T> PTXLOOM_ONE T tex1D(cudaTextureObject_t t, float x)
{
	PTXLOOM_FETCH("tex.1d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5}];", "l"(t), "f"(x));
}
template <class T> PTXLOOM_ONE T tex2D(cudaTextureObject_t t, float x, float y)
{
	PTXLOOM_FETCH("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", "l"(t), "f"(x), "f"(y));
}
template <class T> PTXLOOM_ONE T tex2DLod(cudaTextureObject_t t, float x, float y, float level)
{
	PTXLOOM_FETCH("tex.level.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;", "l"(t), "f"(x),
		      "f"(y), "f"(level));
}
template <class T> PTXLOOM_ONE T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer)
{
	PTXLOOM_FETCH("tex.a2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "r"(layer),
		      "f"(x), "f"(y));
}
template <class T> PTXLOOM_ONE T tex3D(cudaTextureObject_t t, float x, float y, float z)
{
	PTXLOOM_FETCH("tex.3d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "f"(x),
		      "f"(y), "f"(z));
}
template <class T> PTXLOOM_ONE T texCubemap(cudaTextureObject_t t, float x, float y, float z)
{
	PTXLOOM_FETCH("tex.cube.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "f"(x),
		      "f"(y), "f"(z));
}

/* Surfaces: x counts bytes. Words only: T is a type of 32 bits. */
template <class T> PTXLOOM_ONE void surf2Dwrite(T value, cudaSurfaceObject_t s, int x, int y)
{
	unsigned v;

	static_assert(sizeof(T) == 4, "surf2Dwrite takes types of 32 bits here");
	__builtin_memcpy(&v, &value, 4);
	asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v) : "memory");
}
template <class T> PTXLOOM_ONE T surf2Dread(cudaSurfaceObject_t s, int x, int y)
{
	unsigned v;
	T value;

	static_assert(sizeof(T) == 4, "surf2Dread takes types of 32 bits here");
	asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=r"(v) : "l"(s), "r"(x), "r"(y) : "memory");
	__builtin_memcpy(&value, &v, 4);
	return value;
}

#endif
