# The handlers of micro-ops and the tables that name them, built once for each host ISA level.
# One symbol of each file is seen outside. Other folders with handlers add to the list.
exec_sources += \
	src/ops/access.h \
	src/ops/address_form.h \
	src/ops/address_kind.h \
	src/ops/gather_rows.h \
	src/ops/lane_moves.h \
	src/ops/lane_shapes.h \
	src/ops/lanes.h \
	src/ops/local.h \
	src/ops/memory_form.inc \
	src/ops/mode.h \
	src/ops/mode_tables.inc \
	src/ops/observe.h \
	src/ops/move_rows.h \
	src/ops/op_affine.c \
	src/ops/op_apart.c \
	src/ops/op_approx.c \
	src/ops/op_atom.c \
	src/ops/op_call.c \
	src/ops/op_cmp.c \
	src/ops/op_control.c \
	src/ops/op_count.c \
	src/ops/op_cvt.c \
	src/ops/op_float.c \
	src/ops/op_half.c \
	src/ops/op_lane.c \
	src/ops/op_local.c \
	src/ops/op_logic.c \
	src/ops/op_mem.c \
	src/ops/op_diverged.c \
	src/ops/op_sreg.c \
	src/ops/op_video.c \
	src/ops/op_warp.c \
	src/ops/op_watch.c \
	src/ops/part_rows.h \
	src/ops/tables.h \
	src/ops/value_rows.h

# clang says so when a loop stays scalar; some are meant to. Threads of a kernel may race as they like:
# that is no race of ours, so ThreadSanitizer does not look in here.
# -fwrapv: integers of lanes wrap around, as on the device.
exec_cflags = $(AM_CFLAGS) -O3 -fwrapv -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=off -Wno-conversion \
	-Wno-pass-failed -fno-sanitize=thread

noinst_LTLIBRARIES += libexec_base.la
libexec_base_la_SOURCES = $(exec_sources)
libexec_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_BASE
libexec_base_la_CFLAGS = $(exec_cflags)
libcore_la_LIBADD += libexec_base.la
if HOST_X86_64
noinst_LTLIBRARIES += libexec_v2.la libexec_v3.la libexec_v4.la
libexec_v2_la_SOURCES = $(exec_sources)
libexec_v2_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_V2
libexec_v2_la_CFLAGS = $(exec_cflags) -march=x86-64-v2
libexec_v3_la_SOURCES = $(exec_sources)
libexec_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_V3
libexec_v3_la_CFLAGS = $(exec_cflags) -march=x86-64-v3
libexec_v4_la_SOURCES = $(exec_sources)
libexec_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -DEXEC_V4
# Tuned for processors that gather: the tables of approximations are read so.
libexec_v4_la_CFLAGS = $(exec_cflags) -march=x86-64-v4 -mtune=icelake-server -mprefer-vector-width=512
libcore_la_LIBADD += libexec_v2.la libexec_v3.la libexec_v4.la
AM_CPPFLAGS += -DHOST_X86_64=1
endif
