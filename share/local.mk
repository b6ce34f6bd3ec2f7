# The headers that `ptxloom cc` gives to clang, folder by folder.
ptxloomincludedir = $(pkgdatadir)/include
dist_ptxloominclude_DATA = \
	share/ptxloom/include/builtin_types.h \
	share/ptxloom/include/channel_descriptor.h \
	share/ptxloom/include/cooperative_groups.h \
	share/ptxloom/include/cuComplex.h \
	share/ptxloom/include/cuda.h \
	share/ptxloom/include/cuda_bf16.h \
	share/ptxloom/include/cuda_device_runtime_api.h \
	share/ptxloom/include/cuda_fp16.h \
	share/ptxloom/include/cuda_profiler_api.h \
	share/ptxloom/include/cuda_runtime.h \
	share/ptxloom/include/cuda_runtime_api.h \
	share/ptxloom/include/cuda_texture_types.h \
	share/ptxloom/include/device_atomic_functions.h \
	share/ptxloom/include/device_functions.h \
	share/ptxloom/include/device_launch_parameters.h \
	share/ptxloom/include/driver_types.h \
	share/ptxloom/include/host_defines.h \
	share/ptxloom/include/math_constants.h \
	share/ptxloom/include/math_functions.h \
	share/ptxloom/include/nvToolsExt.h \
	share/ptxloom/include/nvml.h \
	share/ptxloom/include/sm_20_atomic_functions.h \
	share/ptxloom/include/sm_30_intrinsics.h \
	share/ptxloom/include/sm_32_intrinsics.h \
	share/ptxloom/include/sm_60_atomic_functions.h \
	share/ptxloom/include/sm_61_intrinsics.h \
	share/ptxloom/include/surface_functions.h \
	share/ptxloom/include/surface_types.h \
	share/ptxloom/include/texture_fetch_functions.h \
	share/ptxloom/include/texture_types.h \
	share/ptxloom/include/vector_functions.h \
	share/ptxloom/include/vector_types.h

ptxloomincludeptxloomdir = $(pkgdatadir)/include/ptxloom
dist_ptxloomincludeptxloom_DATA = \
	share/ptxloom/include/ptxloom/atomic_orders.h \
	share/ptxloom/include/ptxloom/atomics.h \
	share/ptxloom/include/ptxloom/device.h \
	share/ptxloom/include/ptxloom/device_prop.h \
	share/ptxloom/include/ptxloom/driver_api.h \
	share/ptxloom/include/ptxloom/driver_enums.h \
	share/ptxloom/include/ptxloom/float16.h \
	share/ptxloom/include/ptxloom/intrinsics.h \
	share/ptxloom/include/ptxloom/libdevice.h \
	share/ptxloom/include/ptxloom/match.h \
	share/ptxloom/include/ptxloom/ordering.h \
	share/ptxloom/include/ptxloom/math_double.h \
	share/ptxloom/include/ptxloom/math_float.h \
	share/ptxloom/include/ptxloom/math_poly.h \
	share/ptxloom/include/ptxloom/math_special.h \
	share/ptxloom/include/ptxloom/runtime_cxx.h \
	share/ptxloom/include/ptxloom/runtime_enums.h \
	share/ptxloom/include/ptxloom/surfaces.h \
	share/ptxloom/include/ptxloom/nvml_types.h \
	share/ptxloom/include/ptxloom/texture_references.h \
	share/ptxloom/include/ptxloom/textures.h

ptxloomincludebitsdir = $(pkgdatadir)/include/bits
dist_ptxloomincludebits_DATA = \
	share/ptxloom/include/bits/shared_ptr_base.h

ptxloomincludecrtdir = $(pkgdatadir)/include/crt
dist_ptxloomincludecrt_DATA = \
	share/ptxloom/include/crt/sm_70_rt.hpp

ptxloomincludecooperativegroupsdir = $(pkgdatadir)/include/cooperative_groups
dist_ptxloomincludecooperativegroups_DATA = \
	share/ptxloom/include/cooperative_groups/reduce.h \
	share/ptxloom/include/cooperative_groups/scan.h

ptxloomincludenvtx3dir = $(pkgdatadir)/include/nvtx3
dist_ptxloomincludenvtx3_DATA = \
	share/ptxloom/include/nvtx3/nvToolsExt.h

EXTRA_DIST += share/math_fit.py

# Packages, and what jobs of CI include.
EXTRA_DIST += share/packages/build_deb.sh share/packages/Containerfile share/ci/action.yml share/ci/gitlab.yml .dockerignore
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/libptxloom-dev.install debian/libptxloom-dev.manpages \
	debian/libptxloom0.install debian/ptxloom-cuda.install debian/ptxloom-cuda.lintian-overrides debian/ptxloom.lintian-overrides debian/ptxloom.links debian/ptxloom.install debian/ptxloom.manpages debian/rules \
	debian/source/format debian/tests/control debian/tests/ctest debian/tests/python debian/tests/run
deb: all
	$(SHELL) $(srcdir)/share/packages/build_deb.sh $(srcdir) . dist
.PHONY: deb
