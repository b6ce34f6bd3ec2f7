# The debugger: the interpreter of its commands, in the debugged process and in the front end.
noinst_LTLIBRARIES += libdebugger.la
libdebugger_la_SOURCES = \
	src/debugger/commands.def \
	src/debugger/debugger.h \
	src/debugger/debugger_int.h \
	src/debugger/link.h \
	src/debugger/look.h \
	src/debugger/look_value.h \
	src/debugger/command.c \
	src/debugger/complete.c \
	src/debugger/debugger.c \
	src/debugger/frames.c \
	src/debugger/link.c \
	src/debugger/look.c \
	src/debugger/look_barriers.c \
	src/debugger/look_count.c \
	src/debugger/look_disassemble.c \
	src/debugger/look_display.c \
	src/debugger/look_focus.c \
	src/debugger/look_grid.c \
	src/debugger/look_groups.c \
	src/debugger/look_info.c \
	src/debugger/look_lanes.c \
	src/debugger/look_list.c \
	src/debugger/look_matrix.c \
	src/debugger/look_names.c \
	src/debugger/look_memory.c \
	src/debugger/look_print.c \
	src/debugger/look_source.c \
	src/debugger/look_stack.c \
	src/debugger/look_symbol.c \
	src/debugger/machine.c \
	src/debugger/modules.c \
	src/debugger/object/mbarrier.c \
	src/debugger/object/object.c \
	src/debugger/object/object.h \
	src/debugger/object/streams.c \
	src/debugger/object/tensormap.c \
	src/debugger/object/texture.c \
	src/debugger/query/query.c src/debugger/query/query.h src/debugger/query/query_int.h \
	src/debugger/query/query_code.c src/debugger/query/query_vars.c \
	src/debugger/say.c \
	src/debugger/state.c \
	src/debugger/table.c \
	src/debugger/values.c \
	src/debugger/run/attach.c \
	src/debugger/run/attach.h \
	src/debugger/run/blocks.c \
	src/debugger/run/call.c \
	src/debugger/run/call.h \
	src/debugger/run/catch.c \
	src/debugger/run/count.c src/debugger/run/count.h \
	src/debugger/run/control.c \
	src/debugger/run/found.c \
	src/debugger/run/into.c \
	src/debugger/run/into.h \
	src/debugger/run/found.h \
	src/debugger/run/lockstep.c \
	src/debugger/run/meet.c \
	src/debugger/run/meet.h \
	src/debugger/run/move.c \
	src/debugger/run/move.h \
	src/debugger/run/past.c \
	src/debugger/run/past.h \
	src/debugger/run/point_hit.c \
	src/debugger/run/point_inlined.c \
	src/debugger/run/point_place.c \
	src/debugger/run/points.c \
	src/debugger/run/points.h \
	src/debugger/run/run.c \
	src/debugger/run/run.h \
	src/debugger/run/stand.c \
	src/debugger/run/stop_say.c \
	src/debugger/run/watch.c \
	src/debugger/run/watch.h
