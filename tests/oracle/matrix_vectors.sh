#!/bin/sh
# The first random tiles of every form that compute capability 9.0 has, against digests of what an H200
# gave (tests/vectors/matrix_cross.tsv).
PTXLOOM_DEVICE=h200
export PTXLOOM_DEVICE
unset CUDA_VISIBLE_DEVICES
exec "$builddir/tests/oracle/matrix_cross" -c "$srcdir/tests/vectors/matrix_cross.tsv" \
	"$builddir/.libs/libcuda.so.1"
