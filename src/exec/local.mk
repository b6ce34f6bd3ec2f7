# The core: gangs, the CTA loop, modes, warps, barriers, selection of the host level.
libcore_la_SOURCES += \
	src/exec/affine.h \
	src/exec/barrier.c \
	src/exec/clock.c \
	src/exec/exec.h \
	src/exec/program.h \
	src/exec/extents.c \
	src/exec/extents.h \
	src/exec/faults.def \
	src/exec/fold.c \
	src/exec/fold.h \
	src/exec/fpenv.h \
	src/exec/group.h \
	src/exec/lane_access.h \
	src/exec/observer.c \
	src/exec/observer.h \
	src/exec/diverged.c \
	src/exec/diverged.h \
	src/exec/probe.c \
	src/exec/probe.h \
	src/exec/run.c \
	src/exec/select.c \
	src/exec/sreg.c \
	src/exec/turn.h \
	src/exec/warp.c
