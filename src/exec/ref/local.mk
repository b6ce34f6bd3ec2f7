libcore_la_SOURCES += \
	src/exec/ref/ref.h src/exec/ref/ref_int.h \
	src/exec/ref/ref_decode.c \
	src/exec/ref/ref_decode_mem.c \
	src/exec/ref/ref_decode_move.c \
	src/exec/ref/ref_load.c \
	src/exec/ref/ref_run.c \
	src/exec/ref/ref_warp.c

# Handlers: never contracted, as their arithmetic is exact; once more for hosts with fused multiply-add.
ref_cflags = $(AM_CFLAGS) -O2 -fno-math-errno -fno-trapping-math -ffp-contract=off

noinst_LTLIBRARIES += libref.la
libref_la_SOURCES = \
	src/exec/ref/ref_mem.c \
	src/exec/ref/ref_ops.c \
	src/exec/ref/ref_rows.c src/exec/ref/ref_rows.def
libref_la_CPPFLAGS = $(AM_CPPFLAGS) -DREF_LEVEL=base
libref_la_CFLAGS = $(ref_cflags)
libcore_la_LIBADD += libref.la
if HOST_X86_64
noinst_LTLIBRARIES += libref_v3.la
libref_v3_la_SOURCES = src/exec/ref/ref_rows.c src/exec/ref/ref_rows.def
libref_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DREF_LEVEL=v3
libref_v3_la_CFLAGS = $(ref_cflags) -march=x86-64-v3
libcore_la_LIBADD += libref_v3.la
endif

check_PROGRAMS += tests/unit/exec_ref tests/unit/exec_diff
TESTS += tests/unit/exec_ref tests/unit/exec_diff
tests_unit_exec_ref_SOURCES = tests/unit/exec_ref.c tests/check.h
tests_unit_exec_ref_LDADD = $(UNIT_LDADD)
tests_unit_exec_diff_SOURCES = tests/unit/exec_diff.c tests/unit/exec_harness.h tests/check.h \
	tests/fuzz/progen.c tests/fuzz/progen.h tests/fuzz/progen_insn.c tests/fuzz/progen_place.c \
	tests/fuzz/progen_together.c
tests_unit_exec_diff_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/fuzz/fuzz_launch
TESTS += tests/fuzz/fuzz_launch
tests_fuzz_fuzz_launch_SOURCES = tests/fuzz/fuzz_launch.c tests/fuzz/mutate.h tests/check.h \
	tests/fuzz/progen.c tests/fuzz/progen.h tests/fuzz/progen_insn.c tests/fuzz/progen_place.c \
	tests/fuzz/progen_together.c
tests_fuzz_fuzz_launch_LDADD = $(UNIT_LDADD)
check_PROGRAMS += tests/fuzz/fuzz_tensor
TESTS += tests/fuzz/fuzz_tensor
tests_fuzz_fuzz_tensor_SOURCES = tests/fuzz/fuzz_tensor.c tests/fuzz/mutate.h tests/check.h
tests_fuzz_fuzz_tensor_LDADD = $(UNIT_LDADD)
