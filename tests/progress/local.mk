# Programs whose threads wait for each other, in every mode of the engine.
check_PROGRAMS += tests/progress/table
TESTS += tests/progress/table
tests_progress_table_SOURCES = tests/progress/table.c tests/progress/programs.def tests/progress/modes.def \
	tests/check.h
tests_progress_table_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/progress/kernels.cu tests/progress/kernels.ptx tests/progress/kernels_60.ptx \
	tests/progress/copies.cu tests/progress/copies.ptx
