#!/bin/sh
# The first random tiles of every form that compute capability 9.0 has, against digests of what an H200
# gave (tests/vectors/matrix_cross.tsv). With VECTOR_PARTS=N, every Nth form alone.
PTXLOOM_DEVICE=h200
export PTXLOOM_DEVICE
unset CUDA_VISIBLE_DEVICES
[ "${VECTOR_PARTS:-1}" -eq 1 ] || echo "# one form of $VECTOR_PARTS alone"
exec "$builddir/tests/oracle/matrix_cross" -c "$srcdir/tests/vectors/matrix_cross.tsv" \
	-p "0/${VECTOR_PARTS:-1}" "$builddir/.libs/libcuda.so.1"
