libcore_la_SOURCES += \
	src/watch/counters.c src/watch/counters.h src/watch/metrics.def \
	src/watch/tee.c src/watch/tee.h \
	src/watch/trace.c src/watch/trace.h

check_PROGRAMS += tests/unit/watch_counters
TESTS += tests/unit/watch_counters
tests_unit_watch_counters_SOURCES = tests/unit/watch_counters.c tests/unit/exec_harness.h tests/check.h
tests_unit_watch_counters_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/watch_measured
TESTS += tests/unit/watch_measured
tests_unit_watch_measured_SOURCES = tests/unit/watch_measured.c tests/counters/access.h tests/counters/access.def \
	tests/unit/exec_harness.h tests/check.h
tests_unit_watch_measured_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/counters/README.md
