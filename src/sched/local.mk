libcore_la_SOURCES += src/sched/sched.h src/sched/sched_int.h \
	src/sched/grid.c \
	src/sched/pool.c \
	src/sched/seat.c
