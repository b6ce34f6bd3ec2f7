# cp.async, bulk and tensor copies, mbarriers, tensor maps.
libcore_la_SOURCES += \
	src/async/async.c \
	src/async/async.h \
	src/async/refuse.h \
	src/async/tensor.c \
	src/async/tensor.h \
	src/async/tensor_encode.c

# Built once for each host ISA level, as src/ops.
exec_sources += \
	src/async/op_async.c \
	src/async/op_tensor.c \
	src/async/op_watch_async.c
