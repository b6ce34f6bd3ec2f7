bin_PROGRAMS += ptxloom
ptxloom_SOURCES = src/tools/main.c src/tools/tools.h src/tools/commands.def
ptxloom_LDADD = libcore.la
