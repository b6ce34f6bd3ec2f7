# The CUDA libraries: one runtime with all state, and beside it the names that programs ask the loader for.
pkglib_LTLIBRARIES = libptxloom-runtime.la
noinst_LTLIBRARIES += libpreload.la

libptxloom_runtime_la_SOURCES = \
	runtime/rt_context.c runtime/rt_context.h \
	runtime/batch.c \
	runtime/rt_attend.c \
	runtime/entry.c runtime/entry.h \
	runtime/external.c \
	runtime/log.c \
	runtime/cuda_types.h \
	runtime/drv.c runtime/drv.h \
	runtime/drv_context.c \
	runtime/drv_entry.c runtime/variants.def \
	runtime/drv_function.c \
	runtime/drv_green.c \
	runtime/drv_jit.c \
	runtime/drv_library.c \
	runtime/drv_link.c \
	runtime/drv_load.c \
	runtime/drv_symbol.c \
	runtime/drv_event.c \
	runtime/drv_launch.c \
	runtime/drv_tensor.c \
	runtime/drv_texture.c runtime/drv_texref.c \
	runtime/rt_array.c runtime/rt_texref.c runtime/rt_texture.c runtime/rt_texture.h \
	runtime/drv_copy.c \
	runtime/drv_map.c \
	runtime/drv_memory.c \
	runtime/drv_stream.c \
	runtime/driver.def runtime/driver_graph.def \
	runtime/runtime.def \
	runtime/rt_handle.c runtime/rt_handle.h \
	runtime/capture_fns.c \
	runtime/graph_action.c runtime/graph_api.h \
	runtime/graph_copy.c \
	runtime/graph_copy_fns.c \
	runtime/graph_fns.c \
	runtime/graph_kernel.c \
	runtime/graph_node_fns.c \
	runtime/rt.h \
	runtime/stream_fns.c \
	runtime/rt_cluster.c \
	runtime/rt_device.c \
	runtime/rt_error.c \
	runtime/rt_last_error.c \
	runtime/rt_function.c \
	runtime/rt_image.c \
	runtime/rt_event.c \
	runtime/rt_extern.c \
	runtime/rt_launch.c \
	runtime/rt_limit.c \
	runtime/rt_occupancy.c \
	runtime/rt_property.c \
	runtime/rt_report.c \
	runtime/rt_versions.c \
	runtime/rt_visible.c \
	runtime/rt_copy.c runtime/rt_copy.h \
	runtime/rt_memory.c \
	runtime/rt_pool.c \
	runtime/rt_guard.c \
	runtime/rt_register.c \
	runtime/rt_stream.c runtime/prop.def \
	runtime/stream_attr.c runtime/stream_attr.h
libptxloom_runtime_la_LIBADD = libcore.la
libptxloom_runtime_la_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,defs -module -avoid-version -shared -Wl,--version-script=$(srcdir)/runtime/runtime.map

# It is linked like the names below, as its soname is not that of its file.
libpreload_la_SOURCES = src/base/file.c src/base/file.h src/base/nearest.c src/base/nearest.h src/base/setting.c src/base/setting.def \
	src/base/setting.h src/base/text.c src/base/text.h runtime/jitlink.c runtime/loader.c runtime/loader.h runtime/nvrtc.c runtime/names.h runtime/nvrtc.h runtime/preload.c runtime/preload_names.c \
	runtime/redirect.c runtime/redirect.h runtime/redirect_code.c runtime/redirect_code.h

shared_runtimes = .libs/libcudart.so.13 .libs/libcudart.so.12 .libs/libcudart.so.11.0
cuda_names = $(shared_runtimes) .libs/libcuda.so.1 .libs/libptxloom-preload.so
names_use = runtime/names.h runtime/entry.h runtime/cuda_types.h runtime/cudart_names.inc runtime/runtime.def runtime/driver.def \
	runtime/driver_graph.def
# A name jumps to its entry point; what is not optimised would call it.
cuda_link = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) -std=gnu11 $(CFLAGS) $(PL_CFLAGS) -O2 $(PL_LDFLAGS) -shared -fPIC -nostartfiles -Wl,-z,origin '-Wl,-rpath,$$ORIGIN'
EXTRA_DIST += runtime/cudart.c runtime/cudart_names.inc runtime/cuda.c runtime/preload.map runtime/cudart11.map runtime/cudart12.map runtime/cudart13.map runtime/cuda.map runtime/runtime.map
noinst_DATA = $(cuda_names)
CLEANFILES += $(cuda_names) $(cuda_short)

# What programs that open the libraries themselves may ask for.
cuda_short = .libs/libcuda.so .libs/libcudart.so
noinst_DATA += $(cuda_short)
.libs/libcuda.so: .libs/libcuda.so.1
	$(AM_V_GEN)rm -f $@ && $(LN_S) libcuda.so.1 $@
.libs/libcudart.so: .libs/libcudart.so.13
	$(AM_V_GEN)rm -f $@ && $(LN_S) libcudart.so.13 $@

.libs/libcudart.so.13: runtime/cudart.c $(names_use) runtime/cudart13.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -DCUDART_MAJOR=13 -Wl,-soname,libcudart.so.13 -Wl,--version-script=$(srcdir)/runtime/cudart13.map \
		-o $@ $(srcdir)/runtime/cudart.c .libs/libptxloom-runtime.so
.libs/libcudart.so.12: runtime/cudart.c $(names_use) runtime/cudart12.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -DCUDART_MAJOR=12 -Wl,-soname,libcudart.so.12 -Wl,--version-script=$(srcdir)/runtime/cudart12.map \
		-o $@ $(srcdir)/runtime/cudart.c .libs/libptxloom-runtime.so
.libs/libcudart.so.11.0: runtime/cudart.c $(names_use) runtime/cudart11.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -DCUDART_MAJOR=11 -Wl,-soname,libcudart.so.11.0 -Wl,--version-script=$(srcdir)/runtime/cudart11.map \
		-o $@ $(srcdir)/runtime/cudart.c .libs/libptxloom-runtime.so
.libs/libcuda.so.1: runtime/cuda.c $(names_use) runtime/cuda.map libptxloom-runtime.la
	$(AM_V_CCLD)$(cuda_link) -Wl,-soname,libcuda.so.1 -Wl,--version-script=$(srcdir)/runtime/cuda.map \
		-o $@ $(srcdir)/runtime/cuda.c .libs/libptxloom-runtime.so

# Before everything else that the loader looks for in folders that others name: our own folder. Before all
# other constructors: its own, which finds nothing to be bound later.
preload_flags = -Wl,--disable-new-dtags -Wl,-z,initfirst -Wl,-z,now -Wl,-soname,libcuda.so.1 -Wl,--version-script=$(srcdir)/runtime/preload.map
.libs/libptxloom-preload.so: libpreload.la runtime/preload.map $(shared_runtimes)
	$(AM_V_CCLD)$(cuda_link) $(preload_flags) -o $@ -Wl,--whole-archive .libs/libpreload.a -Wl,--no-whole-archive \
		-Wl,--no-as-needed .libs/libptxloom-runtime.so -L.libs $(shared_runtimes:.libs/%=-l:%)

install-exec-hook:
	$(MKDIR_P) $(DESTDIR)$(pkglibdir)
	for f in $(cuda_names); do $(INSTALL_PROGRAM) $$f $(DESTDIR)$(pkglibdir)/ || exit 1; done
	cd $(DESTDIR)$(pkglibdir) && rm -f libcuda.so libcudart.so && $(LN_S) libcuda.so.1 libcuda.so && $(LN_S) libcudart.so.13 libcudart.so
	rm -f $(DESTDIR)$(pkglibdir)/libptxloom-runtime.la
uninstall-hook:
	for f in $(cuda_names) $(cuda_short); do rm -f $(DESTDIR)$(pkglibdir)/$${f##*/}; done
	rm -f $(DESTDIR)$(pkglibdir)/libptxloom-runtime.so

check_PROGRAMS += tests/unit/redirect
TESTS += tests/unit/redirect
tests_unit_redirect_SOURCES = tests/unit/redirect.c tests/check.h runtime/redirect.c runtime/redirect.h runtime/redirect_code.c \
	runtime/redirect_code.h
# The loader's own data, not a copy of them.
tests_unit_redirect_CFLAGS = $(AM_CFLAGS) -fPIC
tests_unit_redirect_LDADD = $(UNIT_LDADD) -ldl
tests_unit_redirect_DEPENDENCIES = libcore.la tests/unit/redirect_library.la
# What it loads.
check_LTLIBRARIES += tests/unit/redirect_library.la
tests_unit_redirect_library_la_SOURCES = tests/unit/redirect_library.c
tests_unit_redirect_library_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
tests_unit_redirect_library_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
