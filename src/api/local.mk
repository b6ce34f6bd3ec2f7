# The C interface, include/ptxloom.h.
libcore_la_SOURCES += \
	src/api/api.c src/api/api_int.h \
	src/api/api_bind.c \
	src/api/api_expr.c src/api/api_expr.h \
	src/api/api_counters.c \
	src/api/api_findings.c \
	src/api/api_launch.c \
	src/api/api_record.c

lib_LTLIBRARIES += libptxloom.la
include_HEADERS += include/ptxloom.h include/ptxloom_test.hpp
libptxloom_la_SOURCES =
libptxloom_la_LIBADD = libcore.la
libptxloom_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(srcdir)/src/api/libptxloom.map
libptxloom_la_DEPENDENCIES = libcore.la src/api/libptxloom.map
EXTRA_DIST += src/api/libptxloom.map
