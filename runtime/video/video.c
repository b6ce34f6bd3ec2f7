/*
 * libnvcuvid.so.1 and libnvidia-encode.so.1: the emulated devices have no engines for video, and
 * programs that link or open these libraries get their answers for that. Built once for each of
 * them (VIDEO_DECODE, VIDEO_ENCODE).
 *
 * Sources: the public headers of the Video Codec SDK for NVDECODE and NVENCODE.
 */
#include <stdio.h>
#include <string.h>

#define VIDEO_API __attribute__((visibility("default")))

static void say_no(const char *function, const char *answer)
{
	static int said;

	if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		fprintf(stderr,
			"ptxloom: emulated devices have no engines for video: %s answers %s.\n",
			function, answer);
}

#ifdef VIDEO_DECODE

enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 };

/* Of CUVIDDECODECAPS: where what is answered begins, and its size. */
enum { CAPS_ANSWERS = 24, CAPS_BYTES = 88 };

/* No codec is supported, of no size. */
VIDEO_API int cuvidGetDecoderCaps(void *caps);
int cuvidGetDecoderCaps(void *caps)
{
	if (!caps)
		return CUDA_ERROR_INVALID_VALUE;
	memset((char *)caps + CAPS_ANSWERS, 0, CAPS_BYTES - CAPS_ANSWERS);
	return CUDA_SUCCESS;
}

/* Arguments are not read; the calling convention allows that. */
#define NO_DECODER(name)                                                                           \
	VIDEO_API int name(void);                                                                  \
	int name(void)                                                                             \
	{                                                                                          \
		say_no(#name, "CUDA_ERROR_NOT_SUPPORTED");                                         \
		return CUDA_ERROR_NOT_SUPPORTED;                                                   \
	}
NO_DECODER(cuvidCreateDecoder)
NO_DECODER(cuvidDestroyDecoder)
NO_DECODER(cuvidDecodePicture)
NO_DECODER(cuvidGetDecodeStatus)
NO_DECODER(cuvidReconfigureDecoder)
NO_DECODER(cuvidMapVideoFrame)
NO_DECODER(cuvidMapVideoFrame64)
NO_DECODER(cuvidUnmapVideoFrame)
NO_DECODER(cuvidUnmapVideoFrame64)
NO_DECODER(cuvidCtxLockCreate)
NO_DECODER(cuvidCtxLockDestroy)
NO_DECODER(cuvidCtxLock)
NO_DECODER(cuvidCtxUnlock)
NO_DECODER(cuvidCreateVideoSource)
NO_DECODER(cuvidCreateVideoSourceW)
NO_DECODER(cuvidDestroyVideoSource)
NO_DECODER(cuvidSetVideoSourceState)
NO_DECODER(cuvidGetSourceVideoFormat)
NO_DECODER(cuvidGetSourceAudioFormat)
NO_DECODER(cuvidCreateVideoParser)
NO_DECODER(cuvidParseVideoData)
NO_DECODER(cuvidDestroyVideoParser)

/* It returns a state, not a status. */
VIDEO_API int cuvidGetVideoSourceState(void *source);
int cuvidGetVideoSourceState(void *source)
{
	(void)source;
	return -1; /* cudaVideoState_Error */
}

#endif
#ifdef VIDEO_ENCODE

enum { NV_ENC_SUCCESS = 0, NV_ENC_ERR_NO_ENCODE_DEVICE = 1, NV_ENC_ERR_INVALID_PTR = 6 };

/* What the driver whose version is told supports: 13.0. */
#define ENCODE_VERSION (13u << 4 | 0u)

VIDEO_API int NvEncodeAPIGetMaxSupportedVersion(unsigned *version);
int NvEncodeAPIGetMaxSupportedVersion(unsigned *version)
{
	if (!version)
		return NV_ENC_ERR_INVALID_PTR;
	*version = ENCODE_VERSION;
	return NV_ENC_SUCCESS;
}

VIDEO_API int NvEncodeAPICreateInstance(void *functions);
int NvEncodeAPICreateInstance(void *functions)
{
	if (!functions)
		return NV_ENC_ERR_INVALID_PTR;
	say_no("NvEncodeAPICreateInstance", "NV_ENC_ERR_NO_ENCODE_DEVICE");
	return NV_ENC_ERR_NO_ENCODE_DEVICE;
}

#endif
