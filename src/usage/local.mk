# Sources of src/usage.
libcore_la_SOURCES += src/usage/usage.c src/usage/usage.h
