/*
 * Texture references, as CUDA had them until version 11: variables that the host binds to memory.
 */
#ifndef PTXLOOM_TEXTURE_REFERENCES_H
#define PTXLOOM_TEXTURE_REFERENCES_H

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0c
#define cudaTextureType1DLayered 0xf1
#define cudaTextureType2DLayered 0xf2
#define cudaTextureTypeCubemapLayered 0xfc

struct textureReference {
	int normalized;
	cudaTextureFilterMode filterMode;
	cudaTextureAddressMode addressMode[3];
	cudaChannelFormatDesc channelDesc;
	int sRGB;
	unsigned maxAnisotropy;
	cudaTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	int disableTrilinearOptimization, reserved[14];
};

template <class T, int kind = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __device_builtin_texture_type__ texture : public textureReference {
	__host__ texture(int norm = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
			 cudaTextureAddressMode address = cudaAddressModeClamp)
		: texture(norm, filter, address, cudaCreateChannelDesc<T>())
	{
	}
	__host__ texture(int norm, cudaTextureFilterMode filter, cudaTextureAddressMode address,
			 cudaChannelFormatDesc desc)
	{
		__builtin_memset((void *)this, 0, sizeof(*this));
		normalized = norm;
		filterMode = filter;
		addressMode[0] = addressMode[1] = addressMode[2] = address;
		channelDesc = desc;
	}
};

extern "C" {
cudaError_t cudaBindTexture(size_t *, const textureReference *, const void *, const cudaChannelFormatDesc *,
			    size_t);
cudaError_t cudaBindTexture2D(size_t *, const textureReference *, const void *, const cudaChannelFormatDesc *,
			      size_t, size_t, size_t);
cudaError_t cudaBindTextureToArray(const textureReference *, cudaArray_const_t,
				   const cudaChannelFormatDesc *);
cudaError_t cudaUnbindTexture(const textureReference *);
cudaError_t cudaGetTextureAlignmentOffset(size_t *, const textureReference *);
}

#define PTXLOOM_REFERENCE template <class T, int kind, cudaTextureReadMode mode> static inline __host__ cudaError_t
#define PTXLOOM_TEXTURE const texture<T, kind, mode> &t
PTXLOOM_REFERENCE cudaBindTexture(size_t *offset, PTXLOOM_TEXTURE, const void *p,
				  const cudaChannelFormatDesc &desc, size_t size = 0xffffffffu)
{
	return cudaBindTexture(offset, &t, p, &desc, size);
}
PTXLOOM_REFERENCE cudaBindTexture(size_t *offset, PTXLOOM_TEXTURE, const void *p, size_t size = 0xffffffffu)
{
	return cudaBindTexture(offset, &t, p, &t.channelDesc, size);
}
PTXLOOM_REFERENCE cudaBindTexture2D(size_t *offset, PTXLOOM_TEXTURE, const void *p,
				    const cudaChannelFormatDesc &desc, size_t width, size_t height, size_t pitch)
{
	return cudaBindTexture2D(offset, &t, p, &desc, width, height, pitch);
}
PTXLOOM_REFERENCE cudaBindTexture2D(size_t *offset, PTXLOOM_TEXTURE, const void *p, size_t width,
				    size_t height, size_t pitch)
{
	return cudaBindTexture2D(offset, &t, p, &t.channelDesc, width, height, pitch);
}
PTXLOOM_REFERENCE cudaBindTextureToArray(PTXLOOM_TEXTURE, cudaArray_const_t array,
					 const cudaChannelFormatDesc &desc)
{
	return cudaBindTextureToArray(&t, array, &desc);
}
PTXLOOM_REFERENCE cudaBindTextureToArray(PTXLOOM_TEXTURE, cudaArray_const_t array)
{
	cudaChannelFormatDesc desc;
	cudaError_t e = cudaGetChannelDesc(&desc, array);

	return e ? e : cudaBindTextureToArray(&t, array, &desc);
}
PTXLOOM_REFERENCE cudaUnbindTexture(PTXLOOM_TEXTURE) { return cudaUnbindTexture(&t); }
PTXLOOM_REFERENCE cudaGetTextureAlignmentOffset(size_t *offset, PTXLOOM_TEXTURE)
{
	return cudaGetTextureAlignmentOffset(offset, &t);
}
#undef PTXLOOM_TEXTURE
#undef PTXLOOM_REFERENCE

/* What a fetch gives: the element, or its channels as float. */
template <class T, cudaTextureReadMode mode> struct ptxloom_fetched {
	typedef T type;
};
template <class T> struct ptxloom_fetched<T, cudaReadModeNormalizedFloat> {
	typedef typename ptxloom_texel<T>::as_float type;
};
/* In device code a reference is the word that an object is. */
template <class R> PTXLOOM_ONE cudaTextureObject_t ptxloom_object(R reference)
{
	cudaTextureObject_t t;

	asm("mov.b64 %0, %1;" : "=l"(t) : "l"(reference));
	return t;
}
#define PTXLOOM_BY_REFERENCE(name, kind, params, ...)                                      \
	template <class T, cudaTextureReadMode mode>                                       \
	PTXLOOM_ONE typename ptxloom_fetched<T, mode>::type name params                    \
	{                                                                                  \
		typedef typename ptxloom_fetched<T, mode>::type type;                      \
                                                                                           \
		return ptxloom_texel<type>::make(ptxloom_##name(ptxloom_object(r), __VA_ARGS__).v); \
	}
PTXLOOM_BY_REFERENCE(tex1Dfetch, 1, (texture<T, 1, mode> r, int x), x)
PTXLOOM_BY_REFERENCE(tex1D, 1, (texture<T, 1, mode> r, float x), x)
PTXLOOM_BY_REFERENCE(tex2D, 2, (texture<T, 2, mode> r, float x, float y), x, y)
PTXLOOM_BY_REFERENCE(tex3D, 3, (texture<T, 3, mode> r, float x, float y, float z), x, y, z)
PTXLOOM_BY_REFERENCE(tex1DLayered, 0xf1, (texture<T, 0xf1, mode> r, float x, int layer), x, layer)
PTXLOOM_BY_REFERENCE(tex2DLayered, 0xf2, (texture<T, 0xf2, mode> r, float x, float y, int layer), x, y, layer)
PTXLOOM_BY_REFERENCE(texCubemap, 0x0c, (texture<T, 0x0c, mode> r, float x, float y, float z), x, y, z)
#undef PTXLOOM_BY_REFERENCE

#endif
