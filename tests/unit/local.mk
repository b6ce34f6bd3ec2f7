# Unit tests, a line for each: the source has the program's name. They link the core and the reference engine, unless
# they say otherwise below.
unit_tests += \
	tests/unit/arch/attributes \
	tests/unit/arch/occupancy \
	tests/unit/arch/profiles \
	tests/unit/arch/user
unit_tests += \
	tests/unit/async/async \
	tests/unit/async/im2col \
	tests/unit/async/tensor \
	tests/unit/async/tensor_programs \
	tests/unit/async/tma
unit_tests += \
	tests/unit/base/base \
	tests/unit/base/l2_policy \
	tests/unit/base/mem \
	tests/unit/base/mem_arena \
	tests/unit/base/mem_array
unit_tests += \
	tests/unit/cache/kernels \
	tests/unit/cache/l1 \
	tests/unit/cache/l2 \
	tests/unit/cache/spill
unit_tests += \
	tests/unit/managed/residency
unit_tests += \
	tests/unit/dbg/lanes \
	tests/unit/dbg/libdw \
	tests/unit/dbg/lines \
	tests/unit/dbg/names \
	tests/unit/dbg/value
unit_tests += \
	tests/unit/debugger/command \
	tests/unit/debugger/link \
	tests/unit/debugger/points \
	tests/unit/debugger/look
unit_tests += \
	tests/unit/check/findings \
	tests/unit/check/known \
	tests/unit/check/rows \
	tests/unit/check/taint \
	tests/unit/check/written
unit_tests += \
	tests/unit/dev/absurd \
	tests/unit/dev/api tests/unit/dev/counters \
	tests/unit/dev/arrive \
	tests/unit/dev/cluster \
	tests/unit/dev/cooperative \
	tests/unit/dev/litmus \
	tests/unit/dev/stream \
	tests/unit/dev/system \
	tests/unit/dev/weak \
	tests/unit/dev/whole \
	tests/unit/dev/watch
unit_tests += \
	tests/unit/exec/barrier \
	tests/unit/exec/calls \
	tests/unit/exec/diff \
	tests/unit/exec/engine \
	tests/unit/exec/gather \
	tests/unit/exec/diverged \
	tests/unit/exec/ref \
	tests/unit/exec/syscalls \
	tests/unit/exec/warp
unit_tests += \
	tests/unit/image/image \
	tests/unit/image/image_damage \
	tests/unit/image/image_select
unit_tests += \
	tests/unit/lower/clocks \
	tests/unit/lower/contract \
	tests/unit/lower/fold \
	tests/unit/lower/fuse \
	tests/unit/lower/old \
	tests/unit/lower/order \
	tests/unit/lower/measure \
	tests/unit/lower/places \
	tests/unit/lower/rows \
	tests/unit/lower/vector_registers
unit_tests += \
	tests/unit/mma/matrix \
	tests/unit/mma/matrix_generations \
	tests/unit/mma/matrix_models \
	tests/unit/mma/matrix_scaled
unit_tests += \
	tests/unit/ops/affine \
	tests/unit/ops/local \
	tests/unit/ops/nan_order \
	tests/unit/ops/ops_float \
	tests/unit/ops/ops_int \
	tests/unit/ops/vectors \
	tests/unit/ops/wide
unit_tests += tests/unit/host/printf
unit_tests += \
	tests/unit/ptx/grammar_data \
	tests/unit/ptx/grammar_expr \
	tests/unit/ptx/grammar_absurd \
	tests/unit/ptx/grammar_later \
	tests/unit/ptx/grammar_limits \
	tests/unit/ptx/grammar_say \
	tests/unit/ptx/grammar_scope \
	tests/unit/ptx/ir_check \
	tests/unit/ptx/ir_link \
	tests/unit/ptx/ir_print \
	tests/unit/ptx/isa_forms \
	tests/unit/ptx/isa_matrix \
	tests/unit/ptx/isa_table
unit_tests += \
	tests/unit/sched/debug_access \
	tests/unit/sched/debug_grid \
	tests/unit/sched/debug_time \
	tests/unit/sched/sched_assertions \
	tests/unit/sched/sched_grid \
	tests/unit/sched/watch_counters \
	tests/unit/sched/watch_insns \
	tests/unit/sched/watch_tee \
	tests/unit/sched/watch_measured
unit_tests += \
	tests/unit/tex/texture \
	tests/unit/tex/texture_device
EXTRA_DIST += tests/unit/dev/litmus_h100.tsv
EXTRA_DIST += tests/unit/debugger/stage.h tests/check.h \
	tests/skip.h \
	tests/unit/async/tensor_words.h \
	tests/unit/dbg/fake.h \
	tests/unit/dbg/data/make_data.sh \
	tests/unit/dbg/data/shapes.clang.ptx \
	tests/unit/dbg/data/shapes.cu \
	tests/unit/dbg/data/shapes.lineinfo.ptx \
	tests/unit/dbg/data/shapes.nvcc.ptx \
	tests/unit/debug_run.h \
	tests/unit/sched/debug_kernels.h \
	tests/unit/exec_harness.h \
	tests/unit/vector_kernel.h \
	tests/unit/vectors.h \
	tests/unit/words.h \
	tests/unit/image/image_exercise.h \
	tests/unit/image/image_make.h \
	tests/unit/lower/fold.def \
	tests/unit/mma/dot_model.h \
	tests/unit/mma/matrix_numbers.h \
	tests/unit/ops/ops_float.def \
	tests/unit/ptx/ptx_exercise.h \
	tests/unit/ptx/ptx_text.h \
	tests/unit/tex/texture.def \
	tests/unit/tex/texture_device.def \
	tests/counters/access.h \
	tests/counters/access.def

tests_unit_dbg_libdw_LDADD = libdbg.la $(UNIT_LDADD)
tests_unit_dbg_lines_LDADD = libdbg.la $(UNIT_LDADD)
tests_unit_dbg_names_LDADD = libdbg.la $(UNIT_LDADD)
tests_unit_dbg_value_LDADD = libdbg.la $(UNIT_LDADD)
tests_unit_dbg_lanes_LDADD = libdbg.la $(UNIT_LDADD)
tests_unit_debugger_look_LDADD = libdebugger.la libdbg.la $(UNIT_LDADD)
tests_unit_debugger_command_LDADD = libdebugger.la libdbg.la $(UNIT_LDADD)
tests_unit_debugger_link_LDADD = libdebugger.la libdbg.la $(UNIT_LDADD)
tests_unit_debugger_points_LDADD = libdebugger.la libdbg.la $(UNIT_LDADD)

# Device code calls functions of the test itself.
tests_unit_exec_syscalls_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

dot_model = tests/unit/mma/dot_model.c
tests_unit_mma_matrix_models_SOURCES = tests/unit/mma/matrix_models.c $(dot_model)
tests_unit_mma_matrix_scaled_SOURCES = tests/unit/mma/matrix_scaled.c $(dot_model)

progen = tests/fuzz/progen.c tests/fuzz/progen.h tests/fuzz/progen_insn.c tests/fuzz/progen_place.c \
	tests/fuzz/progen_together.c
weak_programs = tests/unit/dev/axioms.c tests/unit/dev/axioms.h tests/unit/dev/weak_programs.c \
	tests/unit/dev/weak_programs.h
tests_unit_dev_weak_SOURCES = tests/unit/dev/weak.c $(weak_programs)
tests_unit_exec_diff_SOURCES = tests/unit/exec/diff.c $(progen)

unit_tests += tests/unit/runtime/redirect
tests_unit_runtime_redirect_SOURCES = tests/unit/runtime/redirect.c \
	runtime/preload/recognise.c runtime/preload/recognise.h runtime/preload/redirect.c runtime/preload/redirect.h \
	runtime/preload/redirect_code.c runtime/preload/redirect_code.h
# The loader's own data, not a copy of them.
tests_unit_runtime_redirect_CFLAGS = $(AM_CFLAGS) -fPIC
tests_unit_runtime_redirect_LDADD = $(UNIT_LDADD) -ldl
EXTRA_tests_unit_runtime_redirect_DEPENDENCIES = tests/unit/runtime/redirect_library.la
# What it loads.
check_LTLIBRARIES += tests/unit/runtime/redirect_library.la
tests_unit_runtime_redirect_library_la_SOURCES = tests/unit/runtime/redirect_library.c
tests_unit_runtime_redirect_library_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
tests_unit_runtime_redirect_library_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default

# The two ways to multiply matrices, and lane loops of the primitives, for the levels the core is built for.
unit_tests += tests/unit/mma/product
tests_unit_mma_product_CFLAGS = $(exec_cflags)
if HOST_X86_64
unit_tests += tests/unit/mma/product_v2 tests/unit/mma/product_v3 tests/unit/mma/product_v4
tests_unit_mma_product_v2_SOURCES = tests/unit/mma/product.c
tests_unit_mma_product_v2_CPPFLAGS = $(AM_CPPFLAGS) -DPRODUCT_NEED='"sse4.2"'
tests_unit_mma_product_v2_CFLAGS = $(exec_cflags) -march=x86-64-v2
tests_unit_mma_product_v3_SOURCES = tests/unit/mma/product.c
tests_unit_mma_product_v3_CPPFLAGS = $(AM_CPPFLAGS) -DPRODUCT_NEED='"fma"'
tests_unit_mma_product_v3_CFLAGS = $(exec_cflags) -march=x86-64-v3
tests_unit_mma_product_v4_SOURCES = tests/unit/mma/product.c
tests_unit_mma_product_v4_CPPFLAGS = $(AM_CPPFLAGS) -DPRODUCT_NEED='"avx512vl"'
tests_unit_mma_product_v4_CFLAGS = $(exec_cflags) -march=x86-64-v4 -mprefer-vector-width=512
endif

# What lane loops are built with: no trap is ever read, and products and sums stay apart.
NUMERIC_CFLAGS = -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=off \
	-Wno-pass-failed
numeric_eval = tests/unit/num/numeric_eval.h tests/unit/num/numeric_eval_int.h \
	tests/unit/num/numeric_eval_cvt.h
numeric_lanes = tests/unit/num/numeric_lanes.h tests/unit/num/numeric_lanes.def

unit_tests += tests/unit/num/numeric_vectors
tests_unit_num_numeric_vectors_SOURCES = tests/unit/num/numeric_vectors.c $(numeric_eval)
tests_unit_num_numeric_vectors_CFLAGS = $(AM_CFLAGS) -O1 -fno-math-errno -ffp-contract=off
tests_unit_num_numeric_vectors_LDADD = -lm

unit_tests += tests/unit/num/numeric_mini
tests_unit_num_numeric_mini_SOURCES = tests/unit/num/numeric_mini.c
tests_unit_num_numeric_mini_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_unit_num_numeric_mini_LDADD = -lm

unit_tests += tests/unit/num/numeric_edges
tests_unit_num_numeric_edges_SOURCES = tests/unit/num/numeric_edges.c
tests_unit_num_numeric_edges_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_unit_num_numeric_edges_LDADD = -lm

unit_tests += tests/unit/num/numeric_lanes
tests_unit_num_numeric_lanes_SOURCES = tests/unit/num/numeric_lanes.c $(numeric_lanes)
tests_unit_num_numeric_lanes_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_unit_num_numeric_lanes_LDADD = -lm

# The same loops for the levels the core is built for.
if HOST_X86_64
unit_tests += tests/unit/num/numeric_lanes_v2 tests/unit/num/numeric_lanes_v3 tests/unit/num/numeric_lanes_v4
tests_unit_num_numeric_lanes_v2_SOURCES = tests/unit/num/numeric_lanes.c $(numeric_lanes)
tests_unit_num_numeric_lanes_v2_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_NEED='"sse4.2"'
tests_unit_num_numeric_lanes_v2_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS) -march=x86-64-v2
tests_unit_num_numeric_lanes_v2_LDADD = -lm
tests_unit_num_numeric_lanes_v3_SOURCES = tests/unit/num/numeric_lanes.c $(numeric_lanes)
tests_unit_num_numeric_lanes_v3_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_NEED='"fma"'
tests_unit_num_numeric_lanes_v3_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS) -march=x86-64-v3
tests_unit_num_numeric_lanes_v3_LDADD = -lm
tests_unit_num_numeric_lanes_v4_SOURCES = tests/unit/num/numeric_lanes.c $(numeric_lanes)
tests_unit_num_numeric_lanes_v4_CPPFLAGS = $(AM_CPPFLAGS) -DLANES_NEED='"avx512vl"'
tests_unit_num_numeric_lanes_v4_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS) -march=x86-64-v4
tests_unit_num_numeric_lanes_v4_LDADD = -lm
endif

# To be run by hand.
check_PROGRAMS += tests/bench/exec_numeric_bench tests/long/mufu_sweep
tests_bench_exec_numeric_bench_SOURCES = tests/bench/exec_numeric_bench.c $(numeric_lanes)
tests_bench_exec_numeric_bench_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_bench_exec_numeric_bench_LDADD = -lm
tests_long_mufu_sweep_SOURCES = tests/long/mufu_sweep.c
tests_long_mufu_sweep_CFLAGS = $(AM_CFLAGS) $(NUMERIC_CFLAGS)
tests_long_mufu_sweep_LDADD = -lm

check_PROGRAMS += tests/bench/exec_ops

# What was measured.
vectors = abs add add_pair and bfe bfi bfind bmsk brev carry clmad clz cnot copysign cos cvt div dp2a dp4a ex2 \
	fma fns lg2 lop3 mad mad24 max min mul mul24 neg not or popc prmt rcp rem rsqrt sad selp set \
	setp shf shl shr sin slct sqrt sub szext tanh testp vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 \
	vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 \
	vsub4 xor
EXTRA_DIST += $(vectors:%=tests/vectors/%.vec) \
	tests/vectors/nan_order_gh100.tsv tests/vectors/printf_gh100.tsv tests/vectors/tensormap.tsv \
	tests/vectors/matrix.ptx tests/vectors/matrix.tsv tests/vectors/matrix.bin tests/vectors/matrix_models.tsv
# tests/programs/tensor.ptx is made of tensor.cu by hand, as its head says.
EXTRA_DIST += tests/programs/tensor.cu tests/programs/tensor.ptx
