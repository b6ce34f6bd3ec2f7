libcore_la_SOURCES += src/mem/array.c src/mem/array.h src/mem/guard.c src/mem/guard.h src/mem/mem.c src/mem/mem.h \
	src/mem/mappings.c src/mem/mappings.h \
	src/mem/mem_system.c src/mem/shared.c src/mem/shared.h src/mem/near.c src/mem/near.h src/mem/place.h src/mem/pools.c src/mem/pools.h src/mem/marks.c src/mem/marks.h \
	src/mem/room.c src/mem/room.h

