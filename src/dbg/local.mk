# The debugger's knowledge of programs: lines, names, types, values, expressions.
noinst_LTLIBRARIES += libdbg.la
libdbg_la_SOURCES = \
	src/dbg/dbg.c src/dbg/dbg.h \
	src/dbg/dwarf_int.h \
	src/dbg/expr.h src/dbg/expr/expr_int.h \
	src/dbg/expr/expr_arith.c \
	src/dbg/expr/expr_eval.c \
	src/dbg/expr/expr_lanes.c \
	src/dbg/expr/expr_lex.c \
	src/dbg/expr/expr_name.c \
	src/dbg/expr/expr_parse.c \
	src/dbg/expr/expr_type.c \
	src/dbg/flow.c src/dbg/flow.h \
	src/dbg/format.c \
	src/dbg/host/host_lines.h \
	src/dbg/lines.c src/dbg/lines.h \
	src/dbg/names.c src/dbg/names.h src/dbg/names_int.h \
	src/dbg/names_ptx.c \
	src/dbg/session.c \
	src/dbg/type.c src/dbg/type.h \
	src/dbg/type_print.c \
	src/dbg/value.c src/dbg/value.h \
	src/dbg/value_set.c
dwarf_sources = \
	src/dbg/dwarf_die.inc \
	src/dbg/dwarf_image.c src/dbg/dwarf_image.h \
	src/dbg/dwarf_index.c \
	src/dbg/dwarf_info.h \
	src/dbg/dwarf_list.c \
	src/dbg/dwarf_scope.c \
	src/dbg/dwarf_symbols.c \
	src/dbg/dwarf_type.c \
	src/dbg/host/host_lines.c \
	src/dbg/libdw.c src/dbg/libdw.def src/dbg/libdw.inc
if HAVE_DW
libdbg_la_SOURCES += $(dwarf_sources)
EXTRA_DIST += src/dbg/dwarf_none.c src/dbg/host/host_lines_none.c
else
libdbg_la_SOURCES += src/dbg/dwarf_none.c src/dbg/host/host_lines_none.c
EXTRA_DIST += $(dwarf_sources)
endif
