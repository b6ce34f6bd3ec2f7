# One rule for each kind of instruction: how it becomes micro-ops.
libcore_la_SOURCES += \
	src/lower/rules/lower_async.c \
	src/lower/rules/lower_call.c \
	src/lower/rules/lower_cmp.c \
	src/lower/rules/lower_cvt.c \
	src/lower/rules/lower_float.c \
	src/lower/rules/lower_fragment.c \
	src/lower/rules/lower_hint.c \
	src/lower/rules/lower_fragment.h \
	src/lower/rules/lower_logic.c \
	src/lower/rules/lower_matrix.c \
	src/lower/rules/lower_mem.c \
	src/lower/rules/lower_mma.c \
	src/lower/rules/lower_rules.c \
	src/lower/rules/lower_sync.c \
	src/lower/rules/lower_tensor.c \
	src/lower/rules/lower_tex.c \
	src/lower/rules/lower_video.c \
	src/lower/rules/lower_warp.c
