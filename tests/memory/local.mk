# CTAs that hand each other values, with several workers. `repeat 10000` takes minutes.
check_PROGRAMS += tests/memory/repeat
TESTS += tests/memory/repeat
tests_memory_repeat_SOURCES = tests/memory/repeat.c tests/memory/programs.def tests/progress/programs.h \
	tests/progress/programs.def tests/check.h
tests_memory_repeat_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/memory/programs.cu tests/memory/programs.ptx tests/memory/programs_60.ptx
