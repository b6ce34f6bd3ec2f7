/*
 * Fetches from textures. T is a type of 8, 16 or 32 bits or its vector of 2 or 4; whatever it is,
 * the instruction gives four words, of which T takes what it has.
 */
#ifndef PTXLOOM_TEXTURES_H
#define PTXLOOM_TEXTURES_H

/* ---- what T has: channels, bits, kind, and the vector of float with as many channels ---- */

template <class T> struct ptxloom_texel;
#define PTXLOOM_TEXEL(type, kind)                                                          \
	template <> struct ptxloom_texel<type> {                                           \
		enum { channels = 1, bits = 8 * sizeof(type) };                            \
		static const cudaChannelFormatKind f = kind;                               \
		typedef float as_float;                                                    \
		static __device__ __forceinline__ type make(const unsigned *v)             \
		{                                                                          \
			type t;                                                            \
                                                                                           \
			__builtin_memcpy(&t, v, sizeof(t));                                \
			return t;                                                          \
		}                                                                          \
	};
#define PTXLOOM_TEXELS(type, name, kind)                                                   \
	PTXLOOM_TEXEL(type, kind)                                                          \
	template <> struct ptxloom_texel<name##1> {                                        \
		enum { channels = 1, bits = 8 * sizeof(type) };                            \
		static const cudaChannelFormatKind f = kind;                               \
		typedef float1 as_float;                                                   \
		static __device__ __forceinline__ name##1 make(const unsigned *v)          \
		{                                                                          \
			return name##1{ptxloom_texel<type>::make(v)};                      \
		}                                                                          \
	};                                                                                 \
	template <> struct ptxloom_texel<name##2> {                                        \
		enum { channels = 2, bits = 8 * sizeof(type) };                            \
		static const cudaChannelFormatKind f = kind;                               \
		typedef float2 as_float;                                                   \
		static __device__ __forceinline__ name##2 make(const unsigned *v)          \
		{                                                                          \
			return name##2{ptxloom_texel<type>::make(v), ptxloom_texel<type>::make(v + 1)}; \
		}                                                                          \
	};                                                                                 \
	template <> struct ptxloom_texel<name##4> {                                        \
		enum { channels = 4, bits = 8 * sizeof(type) };                            \
		static const cudaChannelFormatKind f = kind;                               \
		typedef float4 as_float;                                                   \
		static __device__ __forceinline__ name##4 make(const unsigned *v)          \
		{                                                                          \
			return name##4{ptxloom_texel<type>::make(v), ptxloom_texel<type>::make(v + 1), \
				       ptxloom_texel<type>::make(v + 2), ptxloom_texel<type>::make(v + 3)}; \
		}                                                                          \
	};
PTXLOOM_TEXEL(char, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(signed char, char, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(unsigned char, uchar, cudaChannelFormatKindUnsigned)
PTXLOOM_TEXELS(short, short, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(unsigned short, ushort, cudaChannelFormatKindUnsigned)
PTXLOOM_TEXELS(int, int, cudaChannelFormatKindSigned)
PTXLOOM_TEXELS(unsigned, uint, cudaChannelFormatKindUnsigned)
PTXLOOM_TEXELS(float, float, cudaChannelFormatKindFloat)
#undef PTXLOOM_TEXELS
#undef PTXLOOM_TEXEL

template <class T> static inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc()
{
	typedef ptxloom_texel<T> t;
	int b = t::bits;

	return cudaChannelFormatDesc{b, t::channels > 1 ? b : 0, t::channels > 2 ? b : 0,
				     t::channels > 2 ? b : 0, t::f};
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf()
{
	return cudaChannelFormatDesc{16, 0, 0, 0, cudaChannelFormatKindFloat};
}

/* ---- the instructions ---- */

struct ptxloom_words {
	unsigned v[4];
};

/*
 * name: of the function; op, geometry, type: of the instruction; at: its operands behind the
 * texture.
 */
#define PTXLOOM_TEX(name, op, geometry, type, at, params, call, ...)                       \
	PTXLOOM_ONE ptxloom_words ptxloom_##name params                                    \
	{                                                                                  \
		ptxloom_words w;                                                           \
                                                                                           \
		asm volatile(op "." geometry ".v4.u32." type " {%0, %1, %2, %3}, [%4, {" at ";" \
			     : "=r"(w.v[0]), "=r"(w.v[1]), "=r"(w.v[2]), "=r"(w.v[3])      \
			     : "l"(t), __VA_ARGS__);                                       \
		return w;                                                                  \
	}                                                                                  \
	template <class T> PTXLOOM_ONE T name params                                       \
	{                                                                                  \
		return ptxloom_texel<T>::make(ptxloom_##name call.v);                      \
	}
#define PTXLOOM_OUT(name, params, call)                                                    \
	template <class T> PTXLOOM_ONE void name params { *out = name<T> call; }

#define PTXLOOM_OBJECT cudaTextureObject_t t
PTXLOOM_TEX(tex1Dfetch, "tex", "1d", "s32", "%5}]", (PTXLOOM_OBJECT, int x), (t, x), "r"(x))
PTXLOOM_TEX(tex1D, "tex", "1d", "f32", "%5}]", (PTXLOOM_OBJECT, float x), (t, x), "f"(x))
PTXLOOM_TEX(tex1DLod, "tex.level", "1d", "f32", "%5}], %6", (PTXLOOM_OBJECT, float x, float level),
	    (t, x, level), "f"(x), "f"(level))
PTXLOOM_TEX(tex1DGrad, "tex.grad", "1d", "f32", "%5}], {%6}, {%7}",
	    (PTXLOOM_OBJECT, float x, float dx, float dy), (t, x, dx, dy), "f"(x), "f"(dx), "f"(dy))
PTXLOOM_TEX(tex2D, "tex", "2d", "f32", "%5, %6}]", (PTXLOOM_OBJECT, float x, float y), (t, x, y), "f"(x), "f"(y))
PTXLOOM_TEX(tex2DLod, "tex.level", "2d", "f32", "%5, %6}], %7",
	    (PTXLOOM_OBJECT, float x, float y, float level), (t, x, y, level), "f"(x), "f"(y), "f"(level))
PTXLOOM_TEX(tex2DGrad, "tex.grad", "2d", "f32", "%5, %6}], {%7, %8}, {%9, %10}",
	    (PTXLOOM_OBJECT, float x, float y, float2 dx, float2 dy), (t, x, y, dx, dy), "f"(x), "f"(y),
	    "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y))
PTXLOOM_TEX(tex3D, "tex", "3d", "f32", "%5, %6, %7, %7}]", (PTXLOOM_OBJECT, float x, float y, float z),
	    (t, x, y, z), "f"(x), "f"(y), "f"(z))
PTXLOOM_TEX(tex3DLod, "tex.level", "3d", "f32", "%5, %6, %7, %7}], %8",
	    (PTXLOOM_OBJECT, float x, float y, float z, float level), (t, x, y, z, level), "f"(x), "f"(y),
	    "f"(z), "f"(level))
PTXLOOM_TEX(tex1DLayered, "tex", "a1d", "f32", "%5, %6}]", (PTXLOOM_OBJECT, float x, int layer),
	    (t, x, layer), "r"(layer), "f"(x))
PTXLOOM_TEX(tex1DLayeredLod, "tex.level", "a1d", "f32", "%5, %6}], %7",
	    (PTXLOOM_OBJECT, float x, int layer, float level), (t, x, layer, level), "r"(layer), "f"(x),
	    "f"(level))
PTXLOOM_TEX(tex2DLayered, "tex", "a2d", "f32", "%5, %6, %7, %7}]",
	    (PTXLOOM_OBJECT, float x, float y, int layer), (t, x, y, layer), "r"(layer), "f"(x), "f"(y))
PTXLOOM_TEX(tex2DLayeredLod, "tex.level", "a2d", "f32", "%5, %6, %7, %7}], %8",
	    (PTXLOOM_OBJECT, float x, float y, int layer, float level), (t, x, y, layer, level), "r"(layer),
	    "f"(x), "f"(y), "f"(level))
PTXLOOM_TEX(texCubemap, "tex", "cube", "f32", "%5, %6, %7, %7}]",
	    (PTXLOOM_OBJECT, float x, float y, float z), (t, x, y, z), "f"(x), "f"(y), "f"(z))
PTXLOOM_TEX(texCubemapLod, "tex.level", "cube", "f32", "%5, %6, %7, %7}], %8",
	    (PTXLOOM_OBJECT, float x, float y, float z, float level), (t, x, y, z, level), "f"(x), "f"(y),
	    "f"(z), "f"(level))
PTXLOOM_TEX(texCubemapLayered, "tex", "acube", "f32", "%5, %6, %7, %8}]",
	    (PTXLOOM_OBJECT, float x, float y, float z, int layer), (t, x, y, z, layer), "r"(layer), "f"(x),
	    "f"(y), "f"(z))
PTXLOOM_OUT(tex1Dfetch, (T * out, PTXLOOM_OBJECT, int x), (t, x))
PTXLOOM_OUT(tex1D, (T * out, PTXLOOM_OBJECT, float x), (t, x))
PTXLOOM_OUT(tex2D, (T * out, PTXLOOM_OBJECT, float x, float y), (t, x, y))
PTXLOOM_OUT(tex2DLod, (T * out, PTXLOOM_OBJECT, float x, float y, float level), (t, x, y, level))
PTXLOOM_OUT(tex3D, (T * out, PTXLOOM_OBJECT, float x, float y, float z), (t, x, y, z))
PTXLOOM_OUT(tex2DLayered, (T * out, PTXLOOM_OBJECT, float x, float y, int layer), (t, x, y, layer))
PTXLOOM_OUT(texCubemap, (T * out, PTXLOOM_OBJECT, float x, float y, float z), (t, x, y, z))

/* The four texels that a filter would take, of one channel. */
#define PTXLOOM_GATHER(channel)                                                            \
	asm volatile("tld4." channel ".2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"    \
		     : "=r"(w.v[0]), "=r"(w.v[1]), "=r"(w.v[2]), "=r"(w.v[3])              \
		     : "l"(t), "f"(x), "f"(y))
template <class T> PTXLOOM_ONE T tex2Dgather(PTXLOOM_OBJECT, float x, float y, int channel = 0)
{
	ptxloom_words w;

	switch (channel) {
	case 0: PTXLOOM_GATHER("r"); break;
	case 1: PTXLOOM_GATHER("g"); break;
	case 2: PTXLOOM_GATHER("b"); break;
	default: PTXLOOM_GATHER("a"); break;
	}
	return ptxloom_texel<T>::make(w.v);
}
#undef PTXLOOM_GATHER

#include "texture_references.h"
#include "surfaces.h"

#undef PTXLOOM_OBJECT
#undef PTXLOOM_OUT
#undef PTXLOOM_TEX

#endif
