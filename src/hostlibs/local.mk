# What the host computes in place of NVIDIA's libraries: products of matrices, transforms. Of the preloaded library.
hostlibs_sources = src/hostlibs/blas.c src/hostlibs/blas.h src/hostlibs/fft.c src/hostlibs/fft.h src/hostlibs/gemm.c \
	src/hostlibs/gemm.h src/hostlibs/gemm_body.inc src/hostlibs/lu.c src/hostlibs/lu.h src/hostlibs/number.c src/hostlibs/number.h \
	src/hostlibs/reduce.c src/hostlibs/reduce.h src/hostlibs/svd.c src/hostlibs/svd.h
