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
	src/dev/nested.c src/dev/nested_int.h src/dev/nested_memory.c src/dev/nested.def src/dev/nested.h \
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

# Programs, launches, faults; the C API.
libcore_la_SOURCES += \
	src/dev/status.c src/dev/status.h src/dev/status.def \
	src/dev/device.c src/dev/device.h src/dev/device_int.h \
	src/dev/copy.c src/dev/copy.h \
	src/dev/memory.c src/dev/memory.h \
	src/dev/memory_info.c \
	src/dev/memory_ipc.c \
	src/dev/memory_map.c \
	src/dev/memory_pool.c \
	src/dev/builtin.c src/dev/builtin.h \
	src/dev/program.c \
	src/dev/launch.c \
	src/dev/refusal.c \
	src/dev/handle.c src/dev/handle.h \
	src/dev/work.c \
	src/dev/stream.c src/dev/stream.h src/dev/stream_int.h \
	src/dev/event.c \
	src/dev/event_ipc.c \
	src/dev/capture.c \
	src/dev/graph.c src/dev/graph.h src/dev/graph_int.h \
	src/dev/graph_bytes.c src/dev/graph_device.c src/dev/graph_dot.c \
	src/dev/graph_exec.c \
	src/dev/graph_node.c \
	src/dev/graph_object.c \
	src/dev/graph_update.c \
	src/dev/cluster.c \
	src/dev/mem_op.c src/dev/mem_op.h \
	src/dev/fault.c \
	src/dev/place.c src/dev/place.h \
	src/dev/host_place.c src/dev/host_place.h \
	src/dev/whereabouts.c src/dev/whereabouts.h \
	src/dev/texref.c src/dev/texref.h \
	src/dev/texture.c src/dev/texture.h \
	src/dev/api.c src/dev/api_int.h \
	src/dev/attend.c src/dev/attend.h \
	src/dev/api_launch.c \
	src/dev/api_bind.c \
	src/dev/api_expr.c src/dev/api_expr.h

lib_LTLIBRARIES += libptxloom.la
include_HEADERS += include/ptxloom.h
libptxloom_la_SOURCES =
libptxloom_la_LIBADD = libcore.la
libptxloom_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(srcdir)/src/dev/libptxloom.map
libptxloom_la_DEPENDENCIES = libcore.la src/dev/libptxloom.map
EXTRA_DIST += src/dev/libptxloom.map

check_PROGRAMS += tests/unit/dev_litmus tests/unit/dev_arrive tests/unit/dev_cooperative tests/unit/dev_cluster tests/unit/dev_stream tests/unit/dev_system tests/unit/dev_api samples/saxpy_test samples/reduce
TESTS += tests/unit/dev_litmus tests/unit/dev_arrive tests/unit/dev_cooperative tests/unit/dev_cluster tests/unit/dev_stream tests/unit/dev_system tests/unit/dev_api tests/exec/exec.sh
dist_check_SCRIPTS += tests/exec/exec.sh
tests_unit_dev_stream_SOURCES = tests/unit/dev_stream.c tests/check.h
tests_unit_dev_stream_LDADD = $(UNIT_LDADD)
tests_unit_dev_system_SOURCES = tests/unit/dev_system.c tests/check.h
tests_unit_dev_system_LDADD = $(UNIT_LDADD)
tests_unit_dev_litmus_SOURCES = tests/unit/dev_litmus.c tests/check.h
tests_unit_dev_litmus_LDADD = $(UNIT_LDADD)

# Values between workers, and against the host.
check_PROGRAMS += tests/unit/dev_whole
TESTS += tests/unit/dev_whole
tests_unit_dev_whole_SOURCES = tests/unit/dev_whole.c tests/check.h
tests_unit_dev_whole_LDADD = $(UNIT_LDADD) -lpthread
tests_unit_dev_arrive_SOURCES = tests/unit/dev_arrive.c tests/check.h
tests_unit_dev_arrive_LDADD = $(UNIT_LDADD)
tests_unit_dev_cooperative_SOURCES = tests/unit/dev_cooperative.c tests/check.h
tests_unit_dev_cooperative_LDADD = $(UNIT_LDADD)
tests_unit_dev_cluster_SOURCES = tests/unit/dev_cluster.c tests/check.h
tests_unit_dev_cluster_LDADD = $(UNIT_LDADD)
tests_unit_dev_api_SOURCES = tests/unit/dev_api.c tests/check.h
tests_unit_dev_api_LDADD = $(UNIT_LDADD)
# The samples see what users see: the header and the library.
samples_saxpy_test_SOURCES = samples/saxpy_test.c
samples_saxpy_test_LDADD = libptxloom.la -lm
samples_reduce_SOURCES = samples/reduce.c
samples_reduce_LDADD = libptxloom.la
EXTRA_DIST += tests/exec/calls.ptx tests/exec/wrap.ptx tests/exec/contract.ptx tests/exec/cluster.ptx tests/exec/warpgroup.ptx tests/exec/limits.ptx
