# The reference engine: a plain interpreter of one thread at a time that tests compare the core with; not installed.
check_LTLIBRARIES += tests/ref/libref.la
tests_ref_libref_la_SOURCES = \
	tests/ref/ref.h tests/ref/ref_int.h \
	tests/ref/ref_decode.c \
	tests/ref/ref_decode_mem.c \
	tests/ref/ref_decode_move.c \
	tests/ref/ref_load.c \
	tests/ref/ref_run.c \
	tests/ref/ref_warp.c

# Handlers: never contracted, as their arithmetic is exact; once more for hosts with fused multiply-add.
ref_cflags = $(AM_CFLAGS) -O2 -fno-math-errno -fno-trapping-math -ffp-contract=off

check_LTLIBRARIES += tests/ref/libref_base.la
tests_ref_libref_base_la_SOURCES = \
	tests/ref/ref_mem.c \
	tests/ref/ref_ops.c \
	tests/ref/ref_rows.c tests/ref/ref_rows.def
tests_ref_libref_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DREF_LEVEL=base
tests_ref_libref_base_la_CFLAGS = $(ref_cflags)
tests_ref_libref_la_LIBADD = tests/ref/libref_base.la
if HOST_X86_64
check_LTLIBRARIES += tests/ref/libref_v3.la
tests_ref_libref_v3_la_SOURCES = tests/ref/ref_rows.c tests/ref/ref_rows.def
tests_ref_libref_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DREF_LEVEL=v3
tests_ref_libref_v3_la_CFLAGS = $(ref_cflags) -march=x86-64-v3
tests_ref_libref_la_LIBADD += tests/ref/libref_v3.la
endif
