# The host in place of NVIDIA's libraries.
dist_check_SCRIPTS += tests/hostlibs/cublas.sh tests/hostlibs/cublas_lt.sh tests/hostlibs/cufft.sh
TESTS += tests/hostlibs/cublas.sh tests/hostlibs/cublas_lt.sh tests/hostlibs/cufft.sh
EXTRA_DIST += tests/hostlibs/device.h tests/hostlibs/cublas.c tests/hostlibs/cublas_lt.c tests/hostlibs/cufft.c \
	tests/hostlibs/standin.c tests/hostlibs/user.c
