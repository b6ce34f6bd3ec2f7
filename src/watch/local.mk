libcore_la_SOURCES += \
	src/watch/caches.c src/watch/caches_int.h src/watch/caches_record.c \
	src/watch/caches_value.c src/watch/caches.def src/watch/caches.h \
	src/watch/code_size.c src/watch/code_size.h \
	src/watch/counters.c src/watch/counters.h src/watch/metrics.def \
	src/watch/insns.c src/watch/insns.h \
	src/watch/lanes_apart.c src/watch/lanes_apart.h \
	src/watch/policy.c src/watch/policy.h \
	src/watch/retry.c src/watch/retry.h \
	src/watch/tee.c src/watch/tee.h \
	src/watch/texture.c src/watch/texture.h \
	src/watch/trace.c src/watch/trace.h

EXTRA_DIST += tests/counters/README.md tests/counters/textures.tsv
