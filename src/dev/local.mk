# Sources of src/dev.
libcore_la_SOURCES += \
	src/dev/image.c src/dev/image.h src/dev/image_int.h \
	src/dev/image_ar.c \
	src/dev/image_elf.c \
	src/dev/image_fatbin.c \
	src/dev/image_read.c \
	src/dev/image_scan.c \
	src/dev/image_select.c \
	src/dev/image_write.c
