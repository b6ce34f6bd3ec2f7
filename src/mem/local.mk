libcore_la_SOURCES += src/mem/mem.c src/mem/mem.h
