# PTX to micro-ops: building blocks, passes, liveness and vector registers.
libcore_la_SOURCES += \
	src/lower/callee.h \
	src/lower/clocks.c \
	src/lower/estimate.c \
	src/lower/fuse.c \
	src/lower/fuse_address.c \
	src/lower/fuse_affine.c \
	src/lower/fuse_int.h \
	src/lower/fuse_launch.c \
	src/lower/idle.c \
	src/lower/lower.c \
	src/lower/lower_bounds.c \
	src/lower/lower_build.c \
	src/lower/lower_check.c \
	src/lower/lower_contract.c \
	src/lower/lower_count.c \
	src/lower/lower_contract_int.h \
	src/lower/lower_contracted.c \
	src/lower/lower_find.c \
	src/lower/lower_flow.c \
	src/lower/lower_flow.h \
	src/lower/lower_fold.c \
	src/lower/lower_graph.c \
	src/lower/lower.h src/lower/lower_int.h \
	src/lower/lower_made.c \
	src/lower/lower_order.c \
	src/lower/lower_order.h \
	src/lower/lower_rows.c \
	src/lower/lower_turns.c \
	src/lower/places.c \
	src/lower/polls.c \
	src/lower/sites.c \
	src/lower/sites.h
