# Matrix products and fragments.
# Built once for each host ISA level, as src/ops.
exec_sources += \
	src/mma/mma_fused.h \
	src/mma/mma_plane.h \
	src/mma/mma_product.h \
	src/mma/mma_sparse.h \
	src/mma/mma_tile.h \
	src/mma/mma_vec.h \
	src/mma/mma_warp.h \
	src/mma/op_matrix.c \
	src/mma/op_mma.c \
	src/mma/op_mma_quads.c \
	src/mma/op_mma_scaled.c \
	src/mma/op_mma_tile.c \
	src/mma/op_wgmma.c \
	src/mma/product_float.c \
	src/mma/product_int.c
