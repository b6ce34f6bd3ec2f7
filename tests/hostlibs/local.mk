# The host in place of NVIDIA's libraries.
dist_check_SCRIPTS += tests/hostlibs/cublas.sh
TESTS += tests/hostlibs/cublas.sh
EXTRA_DIST += tests/hostlibs/device.h tests/hostlibs/cublas.c tests/hostlibs/h100.txt tests/hostlibs/vectors.c tests/hostlibs/standin.c tests/hostlibs/user.c
