# libnvidia-ml.so.1, and the same functions for `ptxloom smi`.
noinst_LTLIBRARIES += libnvml.la
libnvml_la_SOURCES = runtime/nvml/nvml.c runtime/nvml/nvml.def runtime/nvml/nvml.h runtime/nvml/nvml_types.h runtime/nvml/nvml_device.c runtime/nvml/nvml_link.c \
	runtime/nvml/nvml_system.c runtime/nvml/nvml_use.c
EXTRA_DIST += runtime/nvml/nvml.map

# What programs find in PATH below `ptxloom run`: see src/tools/smi.
noinst_DATA += .libs/front/nvidia-smi
CLEANFILES += .libs/front/nvidia-smi
.libs/front/nvidia-smi: Makefile
	$(AM_V_GEN)$(MKDIR_P) .libs/front && $(SHELL) $(srcdir)/runtime/nvml/make_front.sh ../.. >$@ && chmod +x $@
EXTRA_DIST += runtime/nvml/make_front.sh
front_dir = $(pkglibdir)/front
install_front:
	$(MKDIR_P) $(DESTDIR)$(front_dir)
	$(SHELL) $(srcdir)/runtime/nvml/make_front.sh "$$($(seen_from)=$(front_dir) $(bindir))" >$(DESTDIR)$(front_dir)/nvidia-smi
	chmod 755 $(DESTDIR)$(front_dir)/nvidia-smi
uninstall_front:
	rm -rf $(DESTDIR)$(front_dir)
.PHONY: install_front uninstall_front

cuda_names += .libs/libnvidia-ml.so.1
.libs/libnvidia-ml.so.1: libnvml.la libcore.la runtime/nvml/nvml.map
	$(AM_V_CCLD)$(cuda_link) -Wl,-soname,libnvidia-ml.so.1 -Wl,-z,defs -Wl,--version-script=$(srcdir)/runtime/nvml/nvml.map \
		-o $@ -Wl,--whole-archive .libs/libnvml.a -Wl,--no-whole-archive .libs/libcore.a -lm -lpthread
