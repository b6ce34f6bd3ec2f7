bin_PROGRAMS += ptxloom
ptxloom_SOURCES = src/tools/main.c src/tools/tools.h src/tools/commands.def
ptxloom_LDADD = libcore.la
ptxloom_SOURCES += src/tools/lint.c
ptxloom_SOURCES += src/tools/images.c src/tools/images.h src/tools/ls.c src/tools/ptx.c
ptxloom_SOURCES += src/tools/devices.c
