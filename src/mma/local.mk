# Matrix products and fragments.
# Built once for each host ISA level, as src/ops.
exec_sources += \
	src/mma/block.c \
	src/mma/mma.h \
	src/mma/mma_plane.h \
	src/mma/mma_vec.h \
	src/mma/op_matrix.c \
	src/mma/op_mma.c \
	src/mma/op_mma_quads.c \
	src/mma/op_mma_tile.c \
	src/mma/op_wgmma.c \
	src/mma/place.h \
	src/mma/plane_dense.c \
	src/mma/plane_sparse.c \
	src/mma/product.c \
	src/mma/product_double.c \
	src/mma/product_int.c \
	src/mma/product_scaled.c \
	src/mma/tile_decode.c \
	src/mma/tile_sum.c
