include src/exec/numeric.mk
include src/exec/meet.mk

libcore_la_SOURCES += \
	src/exec/exec.h src/exec/faults.def src/exec/fpenv.h \
	src/exec/async.c src/exec/async.h \
	src/exec/tensor.c src/exec/tensor_encode.c src/exec/tensor.h src/exec/lower_tensor.c \
	src/exec/texture.c src/exec/texture_blend.c src/exec/texture_block.c src/exec/texture_bptc.c \
	src/exec/texture_cube.c src/exec/texture_level.c \
	src/exec/texture_format.c src/exec/texture_surface.c src/exec/texture.h \
	src/exec/texture_srgb.def src/exec/texture_bptc.def src/exec/texture_log2.def \
	src/exec/lower_tex.c \
	src/exec/barrier.c \
	src/exec/lower.c src/exec/lower_build.c src/exec/lower_int.h \
	src/exec/lower_call.c src/exec/lower_contract.c src/exec/lower_fold.c src/exec/lower_graph.c \
	src/exec/lower_made.c \
	src/exec/heap.c src/exec/hostcall.c src/exec/print.c src/exec/syscall.c src/exec/syscall.h \
	src/exec/lower_float.c \
	src/exec/lower_async.c \
	src/exec/lower_cmp.c src/exec/lower_cvt.c src/exec/lower_logic.c src/exec/lower_video.c \
	src/exec/lower_mem.c src/exec/lower_mma.c src/exec/lower_matrix.c \
	src/exec/lower_fragment.c src/exec/lower_fragment.h \
	src/exec/lower_rows.c src/exec/lower_order.c src/exec/lower_order.h src/exec/lower_flow.c src/exec/lower_flow.h \
	src/exec/lower_rules.c \
	src/exec/lower_sync.c \
	src/exec/lower_warp.c \
	src/exec/dump.c src/exec/idle.c \
	src/exec/fuse.c src/exec/fuse_address.c src/exec/fuse_launch.c \
	src/exec/fuse_affine.c src/exec/fuse_int.h \
	src/exec/polls.c src/exec/probe.c src/exec/probe.h src/exec/clocks.c src/exec/estimate.c \
	src/exec/observer.c src/exec/observer.h \
	src/exec/parted.c src/exec/parted.h \
	src/exec/run.c \
	src/exec/select.c \
	src/exec/sreg.c src/exec/clock.c \
	src/exec/warp.c

# The handlers, once per host ISA level; one symbol of each is seen outside.
exec_sources = \
	src/exec/lanes.h src/exec/lane_shapes.h src/exec/mode.h src/exec/numeric_all.h \
	src/exec/op_approx.c src/exec/op_cvt.c src/exec/op_float.c src/exec/op_half.c \
	src/exec/op_cmp.c src/exec/op_logic.c src/exec/op_video.c \
	src/exec/ops/carry.def src/exec/ops/cmp.def src/exec/ops/cvt_int.def src/exec/ops/logic.def \
	src/exec/ops/video.def \
	src/exec/op_call.c \
	src/exec/op_control.c \
	src/exec/op_lane.c \
	src/exec/op_mem.c src/exec/op_affine.c src/exec/op_wide.c src/exec/op_local.c \
	src/exec/move_rows.h src/exec/part_rows.h src/exec/lane_moves.h src/exec/value_rows.h src/exec/local.h src/exec/affine.h src/exec/affine_rows.h \
	src/exec/op_sreg.c \
	src/exec/op_warp.c \
	src/exec/op_async.c src/exec/op_tensor.c src/exec/async_op.h \
	src/exec/op_tex.c src/exec/op_tex_wide.c src/exec/tex_op.h src/exec/tex_wide.h \
	src/exec/op_atom.c \
	src/exec/op_parted.c src/exec/ops/parted.def \
	src/exec/op_matrix.c src/exec/op_mma.c src/exec/op_mma_tile.c \
	src/exec/op_mma_quads.c src/exec/op_mma_scaled.c \
	src/exec/op_wgmma.c \
	src/exec/product_float.c src/exec/product_int.c \
	src/exec/mma_fused.h src/exec/mma_op.h src/exec/mma_plane.h src/exec/mma_product.h \
	src/exec/mma_sparse.h src/exec/mma_tile.h src/exec/mma_vec.h src/exec/mma_warp.h \
	src/exec/op_watch.c src/exec/tables.h src/exec/ops/table.def src/exec/ops/watched.def \
	src/exec/access.h src/exec/address_kind.h src/exec/atom_op.h src/exec/warp_op.h \
	src/exec/ops/all.def src/exec/ops/other.def src/exec/ops/shapes.def \
	src/exec/ops/approx.def src/exec/ops/cvt_float.def src/exec/ops/f32.def src/exec/ops/f64.def \
	src/exec/ops/fused.def src/exec/ops/half.def src/exec/ops/int.def src/exec/ops/move.def
# clang says so when a loop stays scalar; some are meant to. Threads of a kernel may race as they like:
# that is no race of ours, so ThreadSanitizer does not look in here.
# -fwrapv: integers of lanes wrap around, as on the device.
exec_cflags = $(AM_CFLAGS) -O3 -fwrapv -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=off -Wno-conversion \
	-Wno-pass-failed -fno-sanitize=thread

noinst_LTLIBRARIES += libexec_base.la
libexec_base_la_SOURCES = $(exec_sources)
libexec_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_LEVEL=base
libexec_base_la_CFLAGS = $(exec_cflags)
libcore_la_LIBADD += libexec_base.la
if HOST_X86_64
noinst_LTLIBRARIES += libexec_v2.la libexec_v3.la libexec_v4.la
libexec_v2_la_SOURCES = $(exec_sources)
libexec_v2_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_LEVEL=v2
libexec_v2_la_CFLAGS = $(exec_cflags) -march=x86-64-v2
libexec_v3_la_SOURCES = $(exec_sources)
libexec_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_LEVEL=v3
libexec_v3_la_CFLAGS = $(exec_cflags) -march=x86-64-v3
libexec_v4_la_SOURCES = $(exec_sources)
libexec_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_LEVEL=v4
libexec_v4_la_CFLAGS = $(exec_cflags) -march=x86-64-v4 -mprefer-vector-width=512
libcore_la_LIBADD += libexec_v2.la libexec_v3.la libexec_v4.la
AM_CPPFLAGS += -DHOST_X86_64=1
endif

# Local memory: every width, addresses in common or not, some of the lanes.
check_PROGRAMS += tests/unit/exec_local
TESTS += tests/unit/exec_local
tests_unit_exec_local_SOURCES = tests/unit/exec_local.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_local_LDADD = $(UNIT_LDADD)

# Device code calls functions of the test itself.
check_PROGRAMS += tests/unit/exec_syscalls
TESTS += tests/unit/exec_syscalls
tests_unit_exec_syscalls_SOURCES = tests/unit/exec_syscalls.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_syscalls_LDADD = $(UNIT_LDADD)
tests_unit_exec_syscalls_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

check_PROGRAMS += tests/unit/exec_calls
TESTS += tests/unit/exec_calls
tests_unit_exec_calls_SOURCES = tests/unit/exec_calls.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_calls_LDADD = $(UNIT_LDADD)
check_PROGRAMS += tests/unit/exec_vector_registers
TESTS += tests/unit/exec_vector_registers
tests_unit_exec_vector_registers_SOURCES = tests/unit/exec_vector_registers.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_vector_registers_LDADD = $(UNIT_LDADD)
check_PROGRAMS += tests/unit/exec_old
TESTS += tests/unit/exec_old
tests_unit_exec_old_SOURCES = tests/unit/exec_old.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_old_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_fold
TESTS += tests/unit/exec_fold
tests_unit_exec_fold_SOURCES = tests/unit/exec_fold.c tests/unit/exec_fold.def tests/check.h
tests_unit_exec_fold_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_nan_order
TESTS += tests/unit/exec_nan_order
EXTRA_DIST += tests/vectors/nan_order_gh100.tsv
tests_unit_exec_nan_order_SOURCES = tests/unit/exec_nan_order.c tests/check.h
tests_unit_exec_nan_order_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_wide
TESTS += tests/unit/exec_wide
tests_unit_exec_wide_SOURCES = tests/unit/exec_wide.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_wide_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_order
TESTS += tests/unit/exec_order
tests_unit_exec_order_SOURCES = tests/unit/exec_order.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_order_LDADD = $(UNIT_LDADD)
check_PROGRAMS += tests/unit/exec_parted
TESTS += tests/unit/exec_parted
tests_unit_exec_parted_SOURCES = tests/unit/exec_parted.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_parted_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_rows
TESTS += tests/unit/exec_rows
tests_unit_exec_rows_SOURCES = tests/unit/exec_rows.c tests/check.h
tests_unit_exec_rows_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_fuse
TESTS += tests/unit/exec_fuse
tests_unit_exec_fuse_SOURCES = tests/unit/exec_fuse.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_fuse_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_contract
TESTS += tests/unit/exec_contract
tests_unit_exec_contract_SOURCES = tests/unit/exec_contract.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_contract_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_engine
TESTS += tests/unit/exec_engine
tests_unit_exec_engine_SOURCES = tests/unit/exec_engine.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_engine_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_ops_float
TESTS += tests/unit/exec_ops_float
tests_unit_exec_ops_float_SOURCES = tests/unit/exec_ops_float.c tests/unit/exec_ops_float.def tests/unit/exec_harness.h \
	tests/check.h
tests_unit_exec_ops_float_LDADD = $(UNIT_LDADD) -lm

check_PROGRAMS += tests/unit/exec_ops_int
TESTS += tests/unit/exec_ops_int
tests_unit_exec_ops_int_SOURCES = tests/unit/exec_ops_int.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_ops_int_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_vectors
TESTS += tests/unit/exec_vectors
tests_unit_exec_vectors_SOURCES = tests/unit/exec_vectors.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_vectors_LDADD = $(UNIT_LDADD)

# On request: make tests/bench/exec_ops.
EXTRA_PROGRAMS += tests/bench/exec_ops
tests_bench_exec_ops_SOURCES = tests/bench/exec_ops.c
tests_bench_exec_ops_LDADD = $(UNIT_LDADD) -lm

# The two ways to multiply matrices, for the levels the core is built for.
check_PROGRAMS += tests/unit/exec_product
TESTS += tests/unit/exec_product
tests_unit_exec_product_SOURCES = tests/unit/exec_product.c tests/check.h
tests_unit_exec_product_CFLAGS = $(exec_cflags)
if HOST_X86_64
check_PROGRAMS += tests/unit/exec_product_v2 tests/unit/exec_product_v3 tests/unit/exec_product_v4
TESTS += tests/unit/exec_product_v2 tests/unit/exec_product_v3 tests/unit/exec_product_v4
tests_unit_exec_product_v2_SOURCES = tests/unit/exec_product.c tests/check.h
tests_unit_exec_product_v2_CPPFLAGS = $(AM_CPPFLAGS) -DPRODUCT_NEED='"sse4.2"'
tests_unit_exec_product_v2_CFLAGS = $(exec_cflags) -march=x86-64-v2
tests_unit_exec_product_v3_SOURCES = tests/unit/exec_product.c tests/check.h
tests_unit_exec_product_v3_CPPFLAGS = $(AM_CPPFLAGS) -DPRODUCT_NEED='"fma"'
tests_unit_exec_product_v3_CFLAGS = $(exec_cflags) -march=x86-64-v3
tests_unit_exec_product_v4_SOURCES = tests/unit/exec_product.c tests/check.h
tests_unit_exec_product_v4_CPPFLAGS = $(AM_CPPFLAGS) -DPRODUCT_NEED='"avx512vl"'
tests_unit_exec_product_v4_CFLAGS = $(exec_cflags) -march=x86-64-v4 -mprefer-vector-width=512
endif

check_PROGRAMS += tests/unit/exec_texture_device
TESTS += tests/unit/exec_texture_device
tests_unit_exec_texture_device_SOURCES = tests/unit/exec_texture_device.c \
	tests/unit/exec_texture_device.def tests/check.h
tests_unit_exec_texture_device_LDADD = $(UNIT_LDADD) -lm

check_PROGRAMS += tests/unit/exec_texture
TESTS += tests/unit/exec_texture
tests_unit_exec_texture_SOURCES = tests/unit/exec_texture.c tests/unit/exec_texture.def \
	tests/unit/exec_harness.h tests/check.h
tests_unit_exec_texture_LDADD = $(UNIT_LDADD)
