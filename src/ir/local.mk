libcore_la_SOURCES += \
	src/ir/ir.c src/ir/ir.h \
	src/ir/ir_check.c \
	src/ir/ir_dump.c
