# The Debug Adapter Protocol, for editors; needs libcjson.
dap_sources = \
	src/dap/answer.c \
	src/dap/breakpoints.c \
	src/dap/dap.c src/dap/dap_int.h \
	src/dap/look.c \
	src/dap/move.c \
	src/dap/request.c \
	src/dap/session.c \
	src/dap/wire.c
ptxloom_SOURCES += src/dap/dap.h src/tools/dap.c
if HAVE_CJSON
ptxloom_SOURCES += $(dap_sources)
ptxloom_CPPFLAGS += $(CJSON_CFLAGS)
ptxloom_LDADD += $(CJSON_LIBS)
EXTRA_DIST += src/dap/none.c
else
ptxloom_SOURCES += src/dap/none.c
EXTRA_DIST += $(dap_sources)
endif
