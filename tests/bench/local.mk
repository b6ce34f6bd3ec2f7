# Measurements: `make bench` runs them. They are no tests, but have to compile: `make check` builds them, but with
# sanitizers, which would change what they measure.
bench_programs = tests/bench/parse tests/bench/engine tests/bench/launch tests/bench/mma tests/bench/meet \
	tests/bench/texture tests/bench/memory tests/bench/kinds
if !SANITIZED
check_PROGRAMS += $(bench_programs)
endif
CLEANFILES += tests/bench/templates.ptx
tests_bench_parse_SOURCES = tests/bench/parse.c
tests_bench_parse_LDADD = $(UNIT_LDADD)
tests_bench_engine_SOURCES = tests/bench/engine.c tests/bench/engine.h tests/bench/pocl.c tests/bench/pocl.h
tests_bench_engine_LDADD = $(UNIT_LDADD) -lm
if HOST_X86_64
check_LTLIBRARIES += tests/bench/libunchecked.la
tests_bench_libunchecked_la_SOURCES = tests/bench/unchecked.c tests/bench/unchecked_affine.c \
	tests/bench/unchecked.h
tests_bench_libunchecked_la_CFLAGS = $(exec_cflags) -march=x86-64-v4 -mprefer-vector-width=512
tests_bench_engine_LDADD += tests/bench/libunchecked.la
endif
# The host's own code, as compilers make it without options for the processor.
check_LTLIBRARIES += tests/bench/libnative.la
tests_bench_libnative_la_SOURCES = tests/bench/native.c tests/bench/native.h
tests_bench_libnative_la_CFLAGS = $(AM_CFLAGS) -O3
tests_bench_kinds_SOURCES = tests/bench/kinds.c tests/bench/pocl.c tests/bench/pocl.h
tests_bench_kinds_LDADD = tests/bench/libnative.la libptxloom.la $(UNIT_LDADD)
tests_bench_launch_SOURCES = tests/bench/launch.c
tests_bench_launch_LDADD = -ldl -lpthread
tests_bench_mma_SOURCES = tests/bench/mma.c tests/unit/exec_harness.h
tests_bench_mma_LDADD = $(UNIT_LDADD)
tests_bench_meet_SOURCES = tests/bench/meet.c
tests_bench_meet_LDADD = $(UNIT_LDADD)
tests_bench_texture_SOURCES = tests/bench/texture.c tests/unit/exec_harness.h
tests_bench_texture_LDADD = $(UNIT_LDADD)
tests_bench_memory_SOURCES = tests/bench/memory.c tests/unit/exec_harness.h
tests_bench_memory_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/bench/check.sh tests/bench/debug.sh tests/bench/parse.sh tests/bench/profile.sh tests/bench/start.sh tests/bench/templates.cu \
	tests/bench/kernels/bench.cl tests/bench/kernels/bench.cu tests/bench/kernels/bench.ptx \
	tests/bench/kernels/fold.ptx tests/bench/kernels/kinds.cl tests/bench/kernels/kinds.cu tests/bench/kernels/kinds.ptx \
	tests/bench/kernels/profile.cu tests/bench/kernels/profile.ptx \
	tests/bench/kernels/race.cu tests/bench/kernels/race.ptx tests/bench/kernels/radix.ptx tests/bench/kernels/scan.ptx

bench: all
	@$(MAKE) $(AM_MAKEFLAGS) $(bench_programs)
	@$(SHELL) $(srcdir)/tests/bench/parse.sh $(srcdir)/tests/bench tests/bench
	tests/bench/engine $(srcdir)/tests/bench/kernels/bench.ptx
	tests/bench/kinds $(srcdir)/tests/bench/kernels/kinds.ptx
	tests/bench/mma
	tests/bench/meet
	tests/bench/texture
	tests/bench/memory
	tests/bench/launch .libs
	@$(SHELL) $(srcdir)/tests/bench/debug.sh ./ptxloom $(srcdir)/tests/bench/kernels
	@$(SHELL) $(srcdir)/tests/bench/check.sh ./ptxloom $(srcdir)/tests/bench/kernels
	@$(SHELL) $(srcdir)/tests/bench/profile.sh ./ptxloom $(srcdir)/tests/bench/kernels
	@$(SHELL) $(srcdir)/tests/bench/start.sh $(srcdir)/samples .
.PHONY: bench
