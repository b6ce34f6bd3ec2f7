libcore_la_SOURCES += src/mem/array.c src/mem/array.h src/mem/guard.c src/mem/guard.h src/mem/mem.c src/mem/mem.h \
	src/mem/mem_system.c src/mem/shared.c src/mem/shared.h src/mem/near.c src/mem/near.h

check_PROGRAMS += tests/unit/mem_array tests/unit/mem_arena
TESTS += tests/unit/mem_array tests/unit/mem_arena
tests_unit_mem_array_SOURCES = tests/unit/mem_array.c tests/check.h
tests_unit_mem_array_LDADD = $(UNIT_LDADD)
tests_unit_mem_arena_SOURCES = tests/unit/mem_arena.c tests/check.h
tests_unit_mem_arena_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/mem
TESTS += tests/unit/mem
tests_unit_mem_SOURCES = tests/unit/mem.c tests/check.h
tests_unit_mem_LDADD = $(UNIT_LDADD)
