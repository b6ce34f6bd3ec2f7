# What answers for the engines that decode and encode video.
cuda_names += .libs/libnvcuvid.so.1 .libs/libnvidia-encode.so.1
EXTRA_DIST += runtime/video/video.c
.libs/libnvcuvid.so.1: runtime/video/video.c Makefile
	@$(MKDIR_P) .libs
	$(AM_V_CCLD)$(cuda_link) -DVIDEO_DECODE -Wl,-soname,libnvcuvid.so.1 -Wl,-z,defs -o $@ $(srcdir)/runtime/video/video.c
.libs/libnvidia-encode.so.1: runtime/video/video.c Makefile
	@$(MKDIR_P) .libs
	$(AM_V_CCLD)$(cuda_link) -DVIDEO_ENCODE -Wl,-soname,libnvidia-encode.so.1 -Wl,-z,defs -o $@ $(srcdir)/runtime/video/video.c
