# The numeric primitives: headers alone, their tests and their bench.
libcore_la_SOURCES += \
	src/exec/numeric.h src/exec/numeric_f32.h src/exec/numeric_f64.h src/exec/numeric_half.h \
	src/exec/numeric_cvt.h src/exec/numeric_mini.h src/exec/numeric_int.h src/exec/numeric_bits.h \
	src/exec/numeric_cmp.h src/exec/numeric_video.h src/exec/mufu.h src/exec/mufu_tables.def

# What lane loops are built with: no trap is ever read, and products and sums stay apart.
NUMERIC_CFLAGS = -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=off \
	-Wno-pass-failed
numeric_eval = tests/unit/exec_numeric_eval.h tests/unit/exec_numeric_eval_int.h \
	tests/unit/exec_numeric_eval_cvt.h
numeric_lanes = tests/unit/exec_numeric_lanes.h tests/unit/exec_numeric_lanes.def

check_PROGRAMS += tests/unit/exec_numeric_vectors
TESTS += tests/unit/exec_numeric_vectors
tests_unit_exec_numeric_vectors_SOURCES = tests/unit/exec_numeric_vectors.c $(numeric_eval) tests/check.h
tests_unit_exec_numeric_vectors_CFLAGS = $(AM_CFLAGS) -O1 -fno-math-errno -ffp-contract=off
tests_unit_exec_numeric_vectors_LDADD = -lm

check_PROGRAMS += tests/unit/exec_numeric_mini
TESTS += tests/unit/exec_numeric_mini
tests_unit_exec_numeric_mini_SOURCES = tests/unit/exec_numeric_mini.c tests/check.h
tests_unit_exec_numeric_mini_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_unit_exec_numeric_mini_LDADD = -lm

check_PROGRAMS += tests/unit/exec_numeric_edges
TESTS += tests/unit/exec_numeric_edges
tests_unit_exec_numeric_edges_SOURCES = tests/unit/exec_numeric_edges.c tests/check.h
tests_unit_exec_numeric_edges_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_unit_exec_numeric_edges_LDADD = -lm

check_PROGRAMS += tests/unit/exec_numeric_lanes
TESTS += tests/unit/exec_numeric_lanes
tests_unit_exec_numeric_lanes_SOURCES = tests/unit/exec_numeric_lanes.c $(numeric_lanes) tests/check.h
tests_unit_exec_numeric_lanes_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_unit_exec_numeric_lanes_LDADD = -lm

# The same loops for the levels the core is built for.
if HOST_X86_64
check_PROGRAMS += tests/unit/exec_numeric_lanes_v2 tests/unit/exec_numeric_lanes_v3 tests/unit/exec_numeric_lanes_v4
TESTS += tests/unit/exec_numeric_lanes_v2 tests/unit/exec_numeric_lanes_v3 tests/unit/exec_numeric_lanes_v4
tests_unit_exec_numeric_lanes_v2_SOURCES = tests/unit/exec_numeric_lanes.c $(numeric_lanes) tests/check.h
tests_unit_exec_numeric_lanes_v2_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_NEED='"sse4.2"'
tests_unit_exec_numeric_lanes_v2_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS) -march=x86-64-v2
tests_unit_exec_numeric_lanes_v2_LDADD = -lm
tests_unit_exec_numeric_lanes_v3_SOURCES = tests/unit/exec_numeric_lanes.c $(numeric_lanes) tests/check.h
tests_unit_exec_numeric_lanes_v3_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_NEED='"fma"'
tests_unit_exec_numeric_lanes_v3_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS) -march=x86-64-v3
tests_unit_exec_numeric_lanes_v3_LDADD = -lm
tests_unit_exec_numeric_lanes_v4_SOURCES = tests/unit/exec_numeric_lanes.c $(numeric_lanes) tests/check.h
tests_unit_exec_numeric_lanes_v4_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_NEED='"avx512vl"'
tests_unit_exec_numeric_lanes_v4_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS) -march=x86-64-v4
tests_unit_exec_numeric_lanes_v4_LDADD = -lm
endif

# On request: make tests/bench/exec_numeric_bench, tests/long/mufu_sweep.
EXTRA_PROGRAMS += tests/bench/exec_numeric_bench tests/long/mufu_sweep
tests_bench_exec_numeric_bench_SOURCES = tests/bench/exec_numeric_bench.c $(numeric_lanes)
tests_bench_exec_numeric_bench_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_bench_exec_numeric_bench_LDADD = -lm
tests_long_mufu_sweep_SOURCES = tests/long/mufu_sweep.c
tests_long_mufu_sweep_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_long_mufu_sweep_LDADD = -lm

EXTRA_DIST += tests/vectors/abs.vec tests/vectors/add.vec tests/vectors/add_pair.vec \
	tests/vectors/and.vec tests/vectors/bfe.vec tests/vectors/bfi.vec tests/vectors/bfind.vec \
	tests/vectors/bmsk.vec tests/vectors/brev.vec tests/vectors/carry.vec tests/vectors/clz.vec \
	tests/vectors/cnot.vec tests/vectors/copysign.vec tests/vectors/cos.vec tests/vectors/cvt.vec \
	tests/vectors/div.vec tests/vectors/dp2a.vec tests/vectors/dp4a.vec tests/vectors/ex2.vec \
	tests/vectors/fma.vec tests/vectors/fns.vec tests/vectors/lg2.vec tests/vectors/lop3.vec \
	tests/vectors/mad.vec tests/vectors/mad24.vec tests/vectors/max.vec tests/vectors/min.vec \
	tests/vectors/mul.vec tests/vectors/mul24.vec tests/vectors/neg.vec tests/vectors/not.vec \
	tests/vectors/or.vec tests/vectors/popc.vec tests/vectors/prmt.vec tests/vectors/rcp.vec \
	tests/vectors/rem.vec tests/vectors/rsqrt.vec tests/vectors/sad.vec tests/vectors/selp.vec \
	tests/vectors/set.vec tests/vectors/setp.vec tests/vectors/shf.vec tests/vectors/shl.vec \
	tests/vectors/shr.vec tests/vectors/sin.vec tests/vectors/slct.vec tests/vectors/sqrt.vec \
	tests/vectors/sub.vec tests/vectors/szext.vec tests/vectors/tanh.vec tests/vectors/testp.vec \
	tests/vectors/vabsdiff.vec tests/vectors/vabsdiff2.vec tests/vectors/vabsdiff4.vec \
	tests/vectors/vadd.vec tests/vectors/vadd2.vec tests/vectors/vadd4.vec tests/vectors/vavrg2.vec \
	tests/vectors/vavrg4.vec tests/vectors/vmad.vec tests/vectors/vmax.vec tests/vectors/vmax2.vec \
	tests/vectors/vmax4.vec tests/vectors/vmin.vec tests/vectors/vmin2.vec tests/vectors/vmin4.vec \
	tests/vectors/vset.vec tests/vectors/vset2.vec tests/vectors/vset4.vec tests/vectors/vshl.vec \
	tests/vectors/vshr.vec tests/vectors/vsub.vec tests/vectors/vsub2.vec tests/vectors/vsub4.vec \
	tests/vectors/xor.vec
