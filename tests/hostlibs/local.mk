# The host in place of NVIDIA's libraries.
hostlibs_tests = tests/hostlibs/cublas.sh tests/hostlibs/cublas_lt.sh tests/hostlibs/cufft.sh tests/hostlibs/curand.sh tests/hostlibs/cusolver.sh \
	tests/hostlibs/nccl.sh tests/hostlibs/vectors.sh
dist_check_SCRIPTS += $(hostlibs_tests)
if !SANITIZED
TESTS += $(hostlibs_tests)
endif
EXTRA_DIST += tests/hostlibs/hostlibs.sh tests/hostlibs/device.h tests/hostlibs/cublas.c tests/hostlibs/cublas_level2.c tests/hostlibs/cublas_lt.c tests/hostlibs/cublas_types.c tests/hostlibs/cufft.c \
	tests/hostlibs/curand.c tests/hostlibs/cusolver.c tests/hostlibs/h100.txt tests/hostlibs/nccl.c tests/hostlibs/vectors.c tests/hostlibs/standin.c tests/hostlibs/user.c
