# Micro-ops: the tables that name them all, what is known of each, how they print.
libcore_la_SOURCES += \
	src/uop/dump.c \
	src/uop/rows.c \
	src/uop/rows.h \
	src/uop/uop.c \
	src/uop/uop.h \
	src/uop/async.h \
	src/uop/atom.h \
	src/uop/matrix.h \
	src/uop/octets.h \
	src/uop/texture.h \
	src/uop/warp.h \
	src/uop/table/all.def \
	src/uop/table/approx.def \
	src/uop/table/atom.def \
	src/uop/table/carry.def \
	src/uop/table/cmp.def \
	src/uop/table/cvt_float.def \
	src/uop/table/cvt_int.def \
	src/uop/table/f32.def \
	src/uop/table/f64.def \
	src/uop/table/fused.def \
	src/uop/table/half.def \
	src/uop/table/handlers.def \
	src/uop/table/int.def \
	src/uop/table/logic.def \
	src/uop/table/move.def \
	src/uop/table/shapes.def \
	src/uop/table/table.def \
	src/uop/table/video.def \
	src/uop/table/warp.def
