# The CUDA libraries: one runtime with all state, and beside it the names that programs ask the loader for.
pkglib_LTLIBRARIES = libptxloom-runtime.la
noinst_LTLIBRARIES += libpreload.la

libptxloom_runtime_la_SOURCES = \
	runtime/cudart/rt_context.c runtime/cudart/rt_context.h \
	runtime/cuda/batch.c \
	runtime/device_choice.c runtime/device_choice.h \
	runtime/cudart/rt_attend.c \
	runtime/cupti/cupti.c runtime/cupti/cupti.h runtime/cupti/cupti.def runtime/cupti/cupti_activity.c runtime/cupti/cupti_ids.c \
	runtime/cupti/driver_cbid.def runtime/cupti/runtime_cbid.def \
	runtime/check_calls.c runtime/check_calls.h runtime/check_heap.c \
	runtime/entry.c runtime/entry.h runtime/entry_log.c runtime/entry_log.h \
	runtime/cuda/external.c \
	runtime/inject.c runtime/inject_launch.c runtime/inject_groups.c runtime/inject_groups.h runtime/inject_result.c runtime/inject.h \
	runtime/log.c \
	runtime/nvtx.c \
	runtime/nvtx.h \
	runtime/nvtx_ranges.c \
	runtime/forked.c \
	runtime/persisting.h runtime/process.c runtime/process.h \
	runtime/cuda_types.h runtime/work.c runtime/work.h \
	runtime/cuda/drv.c runtime/cuda/drv.h \
	runtime/cuda/drv_context.c \
	runtime/cuda/drv_entry.c runtime/cuda/variants.def \
	runtime/cuda/drv_function.c \
	runtime/cuda/drv_green.c \
	runtime/cuda/drv_jit.c \
	runtime/cuda/drv_library.c \
	runtime/cuda/drv_link.c \
	runtime/cuda/drv_load.c \
	runtime/cuda/drv_symbol.c runtime/cuda/drv_tables.c \
	runtime/cuda/drv_launch.c \
	runtime/cuda/drv_tensor.c \
	runtime/cuda/drv_texture.c runtime/cuda/drv_texref.c \
	runtime/cudart/rt_array.c runtime/cudart/rt_texref.c runtime/cudart/rt_texture.c runtime/cudart/rt_texture.h \
	runtime/cuda/drv_copy.c \
	runtime/cuda/drv_map.c \
	runtime/cuda/drv_memory.c \
	runtime/cuda/drv_stream.c \
	runtime/cuda/driver.def runtime/cuda/driver_graph.def \
	runtime/cudart/runtime.def \
	runtime/cudart/rt_host.c runtime/cudart/rt_handle.c runtime/cudart/rt_handle.h \
	runtime/graph/capture_fns.c \
	runtime/graph/event_fns.c \
	runtime/graph/graph_action.c runtime/graph/graph_api.h \
	runtime/graph/graph_copy.c \
	runtime/graph/graph_copy_fns.c \
	runtime/graph/graph_fns.c \
	runtime/graph/graph_kernel.c \
	runtime/graph/graph_node_fns.c \
	runtime/rt.h \
	runtime/graph/stream_fns.c \
	runtime/cudart/rt_cluster.c \
	runtime/cudart/rt_device.c \
	runtime/cudart/rt_error.c \
	runtime/cudart/rt_last_error.c \
	runtime/cudart/rt_function.c \
	runtime/cudart/rt_image.c \
	runtime/cudart/rt_extern.c \
	runtime/cudart/rt_launch.c \
	runtime/cudart/rt_limit.c \
	runtime/cudart/rt_occupancy.c \
	runtime/cudart/rt_property.c \
	runtime/cudart/rt_report.c \
	runtime/cudart/rt_stats.c \
	runtime/cudart/rt_versions.c \
	runtime/cudart/rt_visible.c \
	runtime/cudart/rt_copy.c runtime/cudart/rt_copy.h \
	runtime/cudart/rt_memory.c \
	runtime/cudart/rt_pool.c \
	runtime/cudart/rt_guard.c \
	runtime/cudart/rt_register.c \
	runtime/cudart/rt_stream.c runtime/cudart/prop.def \
	runtime/graph/stream_attr.c runtime/graph/stream_attr.h
libptxloom_runtime_la_LIBADD = libdebugger.la libdbg.la libcore.la
libptxloom_runtime_la_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,defs -Wl,-z,nodelete -module -avoid-version -shared -Wl,--version-script=$(srcdir)/runtime/runtime.map

# It is linked like the names below, as its soname is not that of its file.
libpreload_la_SOURCES = $(hostlibs_sources) $(libs_sources) src/base/file.c src/base/file.h src/base/nearest.c src/base/nearest.h src/base/setting.c src/base/setting.def \
	src/base/setting.h src/base/text.c src/base/text.h src/base/utf8.c src/base/utf8.h runtime/preload/jitlink.c runtime/loader.c runtime/loader.h runtime/preload/nvrtc.c runtime/names.h runtime/preload/nvrtc.h runtime/preload/preload.c runtime/preload/children.c runtime/preload/children.h \
	runtime/preload/recognise.c runtime/preload/recognise.h runtime/preload/redirect.c runtime/preload/redirect.h runtime/preload/redirect_code.c runtime/preload/redirect_code.h

shared_runtimes = .libs/libcudart.so.13 .libs/libcudart.so.12 .libs/libcudart.so.11.0
# Loaded with the preloaded library: frameworks name the folder of theirs in a way that goes before all others.
cupti_names = .libs/libcupti.so.13 .libs/libcupti.so.12
cuda_names = $(cupti_names) $(shared_runtimes) .libs/libcuda.so.1 .libs/libptxloom-preload.so
names_use = runtime/names.h runtime/entry.h runtime/cuda_types.h runtime/cudart_names.inc runtime/cudart/runtime.def runtime/cuda/driver.def \
	runtime/cuda/driver_graph.def
# A name jumps to its entry point; what is not optimised would call it.
cuda_link = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) -std=gnu11 $(CFLAGS) $(PL_CFLAGS) -O2 $(PL_LDFLAGS) -shared -fPIC -nostartfiles -Wl,-z,origin '-Wl,-rpath,$$ORIGIN'
EXTRA_DIST += runtime/preload/preload_names.c runtime/cudart/cudart.c runtime/cudart_names.inc runtime/cuda/cuda.c runtime/preload.map runtime/cudart11.map runtime/cudart12.map runtime/cudart13.map runtime/cuda.map runtime/runtime.map
noinst_DATA = $(cuda_names)
CLEANFILES += $(cuda_names) $(cuda_short)

# What programs that open the libraries themselves may ask for.
cuda_short = .libs/libcuda.so .libs/libcudart.so .libs/libnvidia-ml.so
noinst_DATA += $(cuda_short)
.libs/libcuda.so: .libs/libcuda.so.1
	$(AM_V_GEN)rm -f $@ && $(LN_S) libcuda.so.1 $@
.libs/libnvidia-ml.so: .libs/libnvidia-ml.so.1
	$(AM_V_GEN)rm -f $@ && $(LN_S) libnvidia-ml.so.1 $@
.libs/libcudart.so: .libs/libcudart.so.13
	$(AM_V_GEN)rm -f $@ && $(LN_S) libcudart.so.13 $@

.libs/libcudart.so.13: runtime/cudart/cudart.c $(names_use) runtime/cudart13.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -DCUDART_MAJOR=13 -Wl,-soname,libcudart.so.13 -Wl,--version-script=$(srcdir)/runtime/cudart13.map \
		-o $@ $(srcdir)/runtime/cudart/cudart.c .libs/libptxloom-runtime.so
.libs/libcudart.so.12: runtime/cudart/cudart.c $(names_use) runtime/cudart12.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -DCUDART_MAJOR=12 -Wl,-soname,libcudart.so.12 -Wl,--version-script=$(srcdir)/runtime/cudart12.map \
		-o $@ $(srcdir)/runtime/cudart/cudart.c .libs/libptxloom-runtime.so
.libs/libcudart.so.11.0: runtime/cudart/cudart.c $(names_use) runtime/cudart11.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -DCUDART_MAJOR=11 -Wl,-soname,libcudart.so.11.0 -Wl,--version-script=$(srcdir)/runtime/cudart11.map \
		-o $@ $(srcdir)/runtime/cudart/cudart.c .libs/libptxloom-runtime.so
.libs/libcupti.so.13: runtime/cupti/cupti_names.c runtime/cupti/cupti.def $(names_use) runtime/cupti/cupti13.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -Wl,-soname,libcupti.so.13 -Wl,--version-script=$(srcdir)/runtime/cupti/cupti13.map \
		-o $@ $(srcdir)/runtime/cupti/cupti_names.c .libs/libptxloom-runtime.so
.libs/libcupti.so.12: runtime/cupti/cupti_names.c runtime/cupti/cupti.def $(names_use) runtime/cupti/cupti12.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -Wl,-soname,libcupti.so.12 -Wl,--version-script=$(srcdir)/runtime/cupti/cupti12.map \
		-o $@ $(srcdir)/runtime/cupti/cupti_names.c .libs/libptxloom-runtime.so
EXTRA_DIST += runtime/cupti/cupti_names.c runtime/cupti/cupti12.map runtime/cupti/cupti13.map
.libs/libcuda.so.1: runtime/cuda/cuda.c $(names_use) runtime/cuda.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -Wl,-soname,libcuda.so.1 -Wl,--version-script=$(srcdir)/runtime/cuda.map \
		-o $@ $(srcdir)/runtime/cuda/cuda.c .libs/libptxloom-runtime.so

# Before everything else that the loader looks for in folders that others name: our own folder. Before all
# other constructors: its own, which finds nothing to be bound later.
preload_flags = -Wl,--disable-new-dtags -Wl,-z,initfirst -Wl,-z,now -Wl,-soname,libcuda.so.1 -Wl,--version-script=$(srcdir)/runtime/preload.map
.libs/libptxloom-preload.so: libpreload.la runtime/preload/preload_names.c $(names_use) runtime/preload.map $(shared_runtimes) $(cupti_names)
	$(AM_V_CCLD)$(cuda_link) $(preload_flags) -o $@ $(srcdir)/runtime/preload/preload_names.c -Wl,--whole-archive .libs/libpreload.a -Wl,--no-whole-archive \
		-Wl,--no-as-needed .libs/libptxloom-runtime.so -L.libs $(shared_runtimes:.libs/%=-l:%) $(cupti_names:.libs/%=-l:%)

install-exec-hook:
	$(MKDIR_P) $(DESTDIR)$(pkglibdir)
	for f in $(cuda_names); do $(INSTALL_PROGRAM) $$f $(DESTDIR)$(pkglibdir)/ || exit 1; done
	cd $(DESTDIR)$(pkglibdir) && rm -f libcuda.so libcudart.so libnvidia-ml.so && $(LN_S) libcuda.so.1 libcuda.so && $(LN_S) libcudart.so.13 libcudart.so && $(LN_S) libnvidia-ml.so.1 libnvidia-ml.so
	rm -f $(DESTDIR)$(pkglibdir)/libptxloom-runtime.la
	cd $(DESTDIR)$(bindir) && rm -f ptxloom-sanitizer && $(LN_S) ptxloom ptxloom-sanitizer
	$(MAKE) $(AM_MAKEFLAGS) install_toolkit install_front
uninstall-hook:
	$(MAKE) $(AM_MAKEFLAGS) uninstall_toolkit uninstall_front
	rm -f $(DESTDIR)$(bindir)/ptxloom-sanitizer
	for f in $(cuda_names) $(cuda_short); do rm -f $(DESTDIR)$(pkglibdir)/$${f##*/}; done
	rm -f $(DESTDIR)$(pkglibdir)/libptxloom-runtime.so
