# Sources of src/dev.
libcore_la_SOURCES += \
	src/dev/image.c src/dev/image.h src/dev/image_int.h \
	src/dev/image_ar.c \
	src/dev/image_elf.c \
	src/dev/image_fatbin.c \
	src/dev/image_read.c \
	src/dev/image_scan.c \
	src/dev/image_select.c \
	src/dev/image_write.c \
	src/dev/module.c src/dev/module.h

check_PROGRAMS += tests/unit/dev_image tests/unit/dev_image_damage tests/unit/dev_image_select tests/fuzz/fuzz_image
TESTS += tests/unit/dev_image tests/unit/dev_image_damage tests/unit/dev_image_select tests/fuzz/fuzz_image \
	tests/images/commands.sh
tests_unit_dev_image_SOURCES = tests/unit/dev_image.c tests/unit/image_make.h tests/check.h
tests_unit_dev_image_LDADD = $(UNIT_LDADD)
tests_unit_dev_image_damage_SOURCES = tests/unit/dev_image_damage.c tests/unit/image_exercise.h \
	tests/unit/image_make.h tests/check.h
tests_unit_dev_image_damage_LDADD = $(UNIT_LDADD)
tests_unit_dev_image_select_SOURCES = tests/unit/dev_image_select.c tests/unit/image_make.h tests/check.h
tests_unit_dev_image_select_LDADD = $(UNIT_LDADD)
tests_fuzz_fuzz_image_SOURCES = tests/fuzz/fuzz_image.c tests/unit/image_exercise.h tests/unit/image_make.h tests/check.h
tests_fuzz_fuzz_image_LDADD = $(UNIT_LDADD)

dist_check_SCRIPTS += tests/images/commands.sh
EXTRA_DIST += tests/images/README.md tests/images/kernels.cu tests/images/square.cu tests/images/make.sh \
	tests/images/ls.golden tests/images/json.golden tests/images/text.ptx tests/images/default.exe \
	tests/images/sass.exe tests/images/rdc.exe tests/images/rdc_lineinfo.exe tests/images/library.so \
	tests/images/archive.a tests/images/lto.obj tests/images/none.fatbin tests/images/size.fatbin \
	tests/images/speed.fatbin tests/images/balance.fatbin tests/images/targets.fatbin \
	tests/images/debug.fatbin tests/images/lineinfo.cubin
