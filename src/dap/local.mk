# The Debug Adapter Protocol, for editors.
ptxloom_SOURCES += src/dap/dap.h src/tools/dap.c \
	src/dap/answer.c \
	src/dap/breakpoints.c \
	src/dap/dap.c src/dap/dap_int.h \
	src/dap/look.c \
	src/dap/move.c \
	src/dap/request.c \
	src/dap/session.c \
	src/dap/wire.c
