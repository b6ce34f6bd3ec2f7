# Drop-ins for NVIDIA's libraries, of the preloaded library.
libs_sources = runtime/libs/cublas.h runtime/libs/cublas_call.c runtime/libs/cublas_gemm.c runtime/libs/cublas_gemv.c runtime/libs/cublas_handle.c \
	runtime/libs/cublas_level1.c runtime/libs/cublas_level3.c runtime/libs/cublas_lt.c runtime/libs/cublas_lt.h \
	runtime/libs/cublas_lt_desc.c runtime/libs/cublas_lu.c runtime/libs/cublas_types.c runtime/libs/cufft.c runtime/libs/cufft.h runtime/libs/cufft_run.c \
	runtime/libs/curand.c runtime/libs/cusolver.c runtime/libs/nccl.c runtime/libs/nccl.h runtime/libs/nccl_comm.c runtime/libs/nccl_group.c runtime/libs/nccl_run.c runtime/libs/libs.c runtime/libs/libs.h
