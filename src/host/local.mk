# What device code asks of the host: printf, heap, device-side calls, host functions.
libcore_la_SOURCES += \
	src/host/heap.c \
	src/host/hostcall.c \
	src/host/print.c \
	src/host/syscall.c \
	src/host/syscall.h
