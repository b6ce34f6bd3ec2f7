libcore_la_SOURCES += src/sched/sched.h src/sched/sched_int.h \
	src/sched/assertions.c \
	src/sched/clock.c \
	src/sched/grid.c \
	src/sched/pool.c src/sched/probe.c src/sched/rest.c src/sched/rest.h \
	src/sched/prints.c \
	src/sched/running.c \
	src/sched/seat.c \
	src/sched/waiters.c

check_PROGRAMS += tests/unit/sched_grid
TESTS += tests/unit/sched_grid
tests_unit_sched_grid_SOURCES = tests/unit/sched_grid.c tests/check.h
tests_unit_sched_grid_LDADD = $(UNIT_LDADD)
# Indices and guards of launch values, through the pool.
check_PROGRAMS += tests/unit/exec_affine
TESTS += tests/unit/exec_affine
tests_unit_exec_affine_SOURCES = tests/unit/exec_affine.c tests/check.h
tests_unit_exec_affine_LDADD = $(UNIT_LDADD)
check_PROGRAMS += tests/unit/sched_assertions
TESTS += tests/unit/sched_assertions
tests_unit_sched_assertions_SOURCES = tests/unit/sched_assertions.c tests/check.h
tests_unit_sched_assertions_LDADD = $(UNIT_LDADD)
