libcore_la_SOURCES += src/sched/sched.h src/sched/sched_int.h \
	src/sched/grid.c \
	src/sched/pool.c \
	src/sched/seat.c

check_PROGRAMS += tests/unit/sched_grid
TESTS += tests/unit/sched_grid
tests_unit_sched_grid_SOURCES = tests/unit/sched_grid.c tests/check.h
tests_unit_sched_grid_LDADD = $(UNIT_LDADD)
