# Programs whose threads wait for each other, in every mode of the engine.
check_PROGRAMS += tests/progress/table tests/progress/writers
dist_check_SCRIPTS += tests/progress/table.sh tests/progress/brief.sh tests/progress/ends.sh
TESTS += tests/progress/table.sh tests/progress/brief.sh tests/progress/writers
if !SANITIZED
TESTS += tests/progress/ends.sh
endif
tests_progress_writers_SOURCES = tests/progress/writers.c tests/check.h
tests_progress_writers_LDADD = $(UNIT_LDADD) -lpthread
tests_progress_table_SOURCES = tests/progress/table.c tests/progress/programs.def tests/progress/modes.def \
	tests/progress/programs.h tests/memory/programs.def tests/check.h
tests_progress_table_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/progress/kernels.cu tests/progress/kernels.ptx tests/progress/kernels_60.ptx \
	tests/progress/copies.cu tests/progress/copies.ptx
