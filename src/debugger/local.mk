# The debugger: the interpreter of its commands, in the debugged process and in the front end.
noinst_LTLIBRARIES += libdebugger.la
libdebugger_la_SOURCES = \
	src/debugger/command.c src/debugger/commands.def \
	src/debugger/complete.c \
	src/debugger/debugger.c src/debugger/debugger.h src/debugger/debugger_int.h \
	src/debugger/frames.c \
	src/debugger/look.c src/debugger/look.h \
	src/debugger/look_disassemble.c \
	src/debugger/look_display.c \
	src/debugger/look_focus.c \
	src/debugger/look_groups.c \
	src/debugger/look_lanes.c \
	src/debugger/look_list.c \
	src/debugger/look_memory.c \
	src/debugger/look_print.c \
	src/debugger/look_source.c \
	src/debugger/look_stack.c \
	src/debugger/look_symbol.c \
	src/debugger/look_value.h \
	src/debugger/machine.c \
	src/debugger/link.c src/debugger/link.h \
	src/debugger/modules.c \
	src/debugger/say.c \
	src/debugger/state.c \
	src/debugger/table.c
