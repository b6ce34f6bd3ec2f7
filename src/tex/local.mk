# Textures and surfaces.
libcore_la_SOURCES += \
	src/tex/tex_wide.h \
	src/tex/texture.c \
	src/tex/texture.h \
	src/tex/texture_blend.c \
	src/tex/texture_block.c \
	src/tex/texture_bptc.c \
	src/tex/texture_bptc.def \
	src/tex/texture_cube.c \
	src/tex/texture_format.c \
	src/tex/texture_level.c \
	src/tex/texture_log2.def \
	src/tex/texture_srgb.def \
	src/tex/texture_surface.c

# Built once for each host ISA level, as src/ops.
exec_sources += \
	src/tex/op_tex.c \
	src/tex/op_tex_wide.c
