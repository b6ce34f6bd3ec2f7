libcore_la_SOURCES += \
	src/ir/ir.c src/ir/ir.h src/ir/ir_int.h \
	src/ir/ir_check.c src/ir/ir_check_address.c src/ir/ir_check_int.h \
	src/ir/ir_check_value.c \
	src/ir/ir_dump.c \
	src/ir/ir_equal.c \
	src/ir/ir_link.c \
	src/ir/leaving.h \
	src/ir/ir_print.c \
	src/ir/ir_print_data.c \
	src/ir/ir_print_insn.c \
	src/ir/source.c src/ir/source.h

check_PROGRAMS += tests/golden/round_trip
TESTS += tests/golden/round_trip

dist_check_SCRIPTS += tests/golden/lint.sh
TESTS += tests/golden/lint.sh
EXTRA_DIST += tests/golden/lint.ptx tests/golden/lint.out
