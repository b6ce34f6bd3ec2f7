# Sources of src/dev.
libcore_la_SOURCES += \
	src/dev/image/image.c src/dev/image/image.h src/dev/image/image_int.h \
	src/dev/image/image_ar.c \
	src/dev/image/image_elf.c \
	src/dev/image/image_fatbin.c \
	src/dev/image/image_read.c \
	src/dev/image/image_scan.c \
	src/dev/image/image_select.c \
	src/dev/image/image_suit.c \
	src/dev/image/image_write.c \
	src/dev/module/nested.c src/dev/module/nested_calls.c src/dev/module/nested_int.h src/dev/module/nested_memory.c src/dev/module/nested.def src/dev/module/nested.h \
	src/dev/module/module.c src/dev/module/module.h

TESTS += tests/images/commands.sh

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
	src/dev/memory/copy.c src/dev/memory/copy.h \
	src/dev/memory/memory.c src/dev/memory/memory.h \
	src/dev/memory/memory_info.c \
	src/dev/memory/memory_ipc.c \
	src/dev/memory/memory_map.c \
	src/dev/memory/memory_pool.c \
	src/dev/memory/watch.c src/dev/memory/watch.h \
	src/dev/module/builtin.c src/dev/module/builtin.h \
	src/dev/module/kernel.c \
	src/dev/module/link_check.c \
	src/dev/module/callee.h \
	src/dev/module/program.c src/dev/module/program_image.c \
	src/dev/launch.c \
	src/dev/record/record.c src/dev/record/record.h src/dev/record/record_int.h \
	src/dev/record/record_walk.c \
	src/dev/record/replay.c \
	src/dev/record/wire.c src/dev/record/wire.h \
	src/dev/refusal.c \
	src/dev/handle.c src/dev/handle.h \
	src/dev/stream/work.c \
	src/dev/stream/stream.c src/dev/stream/stream.h src/dev/stream/stream_int.h \
	src/dev/stream/stream_issue.c src/dev/stream/stream_look.c src/dev/stream/stream_wait.c src/dev/stream/streams.c \
	src/dev/stream/event.c \
	src/dev/stream/order.c src/dev/stream/order.h \
	src/dev/stream/event_ipc.c \
	src/dev/graph/capture.c \
	src/dev/graph/graph.c src/dev/graph/graph.h src/dev/graph/graph_int.h src/dev/graph/graph_stream.h \
	src/dev/graph/graph_bytes.c src/dev/graph/graph_device.c src/dev/graph/graph_dot.c \
	src/dev/graph/graph_exec.c src/dev/graph/graph_launch.c \
	src/dev/graph/graph_node.c \
	src/dev/graph/graph_object.c \
	src/dev/graph/graph_update.c \
	src/dev/cluster.c \
	src/dev/stream/mem_op.c src/dev/stream/mem_op.h \
	src/dev/fault.c \
	src/dev/place.c src/dev/place.h \
	src/dev/host_place.c src/dev/host_place.h \
	src/dev/host_trace.c src/dev/host_trace.h \
	src/dev/whereabouts.c src/dev/whereabouts.h src/dev/window.c src/dev/window.h \
	src/dev/texture/texref.c src/dev/texture/texref.h \
	src/dev/texture/texture.c src/dev/texture/texture.h \
	src/dev/attend.c src/dev/attend.h

check_PROGRAMS += samples/saxpy_test samples/reduce samples/race_test
TESTS += tests/exec/exec.sh tests/exec/record.sh
dist_check_SCRIPTS += tests/exec/exec.sh tests/exec/record.sh

# Values between workers, and against the host.
# The samples see what users see: the header and the library.
samples_saxpy_test_SOURCES = samples/saxpy_test.c
samples_saxpy_test_LDADD = libptxloom.la -lm
samples_race_test_SOURCES = samples/race_test.c
samples_race_test_LDADD = libptxloom.la
samples_reduce_SOURCES = samples/reduce.c
samples_reduce_LDADD = libptxloom.la
EXTRA_DIST += tests/exec/caches.ptx tests/exec/hints.ptx tests/exec/record.ptx tests/exec/calls.ptx tests/exec/wrap.ptx tests/exec/contract.ptx tests/exec/cluster.ptx tests/exec/warpgroup.ptx tests/exec/limits.ptx
