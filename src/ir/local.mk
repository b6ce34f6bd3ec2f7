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
