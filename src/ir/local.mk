libcore_la_SOURCES += \
	src/ir/ir.c src/ir/ir.h src/ir/ir_int.h \
	src/ir/ir_check.c src/ir/ir_check_int.h \
	src/ir/ir_check_value.c \
	src/ir/ir_dump.c \
	src/ir/ir_equal.c \
	src/ir/ir_link.c \
	src/ir/ir_print.c \
	src/ir/ir_print_data.c \
	src/ir/ir_print_insn.c

ir_tests = tests/unit/ir_check tests/unit/ir_print tests/unit/ir_link tests/golden/round_trip
check_PROGRAMS += $(ir_tests)
TESTS += $(ir_tests)
tests_unit_ir_check_SOURCES = tests/unit/ir_check.c tests/check.h
tests_unit_ir_check_LDADD = $(UNIT_LDADD)
tests_unit_ir_print_SOURCES = tests/unit/ir_print.c tests/unit/ptx_text.h tests/unit/ptx_exercise.h tests/check.h
tests_unit_ir_print_LDADD = $(UNIT_LDADD)
tests_unit_ir_link_SOURCES = tests/unit/ir_link.c tests/unit/ptx_text.h tests/unit/ptx_exercise.h tests/check.h
tests_unit_ir_link_LDADD = $(UNIT_LDADD)
tests_golden_round_trip_SOURCES = tests/golden/round_trip.c tests/unit/ptx_exercise.h tests/check.h
tests_golden_round_trip_LDADD = $(UNIT_LDADD)

dist_check_SCRIPTS += tests/golden/lint.sh
TESTS += tests/golden/lint.sh
EXTRA_DIST += tests/golden/lint.ptx tests/golden/lint.out
