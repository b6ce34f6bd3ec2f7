libcore_la_SOURCES += \
	src/cache/constant.c src/cache/constant.h src/cache/copies.c src/cache/copies.h \
	src/cache/equal.h src/cache/l1.c src/cache/l1.h \
	src/cache/l2.c src/cache/l2.h src/cache/l2_int.h src/cache/l2_set.c \
	src/cache/places.c src/cache/play.c src/cache/play.h \
	src/cache/rules.c src/cache/rules.h src/cache/second.c src/cache/second.h \
	src/cache/shape.c src/cache/shape.h \
	src/cache/spill.c src/cache/spill.h src/cache/team.c src/cache/team.h src/cache/trace.c src/cache/trace.h \
	src/cache/window.c src/cache/window.h
