libcore_la_SOURCES += \
	src/managed/managed.c src/managed/managed.h \
	src/managed/residency.c src/managed/residency.h \
	src/managed/touched.c src/managed/touched.h
