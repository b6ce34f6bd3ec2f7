# Tier 2: runs of micro-ops that LLVM compiles, where it is there at run time.
libcore_la_SOURCES += \
	src/tier/emit.c \
	src/tier/emit.h \
	src/tier/emit_access.c \
	src/tier/emit_access.h \
	src/tier/emit_lane.c \
	src/tier/emit_line.c \
	src/tier/emit_move.c \
	src/tier/emit_place.c \
	src/tier/emit_value.c \
	src/tier/tier.c \
	src/tier/tier.h \
	src/tier/tier_compile.c \
	src/tier/tier_emit.c \
	src/tier/tier_int.h \
	src/tier/tier_llvm.c \
	src/tier/tier_ops.def \
	src/tier/tier_plan.c
exec_sources += src/tier/op_tier.c
