libcore_la_SOURCES += src/sched/sched.h src/sched/debug.h src/sched/sched_int.h \
	src/sched/assertions.c src/sched/census.c \
	src/sched/clock.c \
	src/sched/debug_call.c src/sched/debug_call.h \
	src/sched/debug_grid.c src/sched/debug_int.h src/sched/debug_pick.c src/sched/debug_repeat.c src/sched/debug_look.c \
	src/sched/debug_launches.c src/sched/debug_time.c src/sched/debug_memory.c src/sched/debug_copy.c src/sched/debug_textures.c \
	src/sched/debug_watch.c \
	src/sched/grid.c \
	src/sched/pool.c src/sched/probe.c src/sched/rest.c src/sched/rest.h \
	src/sched/prints.c \
	src/sched/running.c \
	src/sched/share.c \
	src/sched/steer/schedule.c src/sched/steer/schedule.h \
	src/sched/slot.c \
	src/sched/steer/steer.c src/sched/steer/steer.h src/sched/steer/steer_notes.c src/sched/steer/steer_notes.h \
	src/sched/turns.c \
	src/sched/waiters.c src/sched/steer/weak.c src/sched/steer/weak_int.h src/sched/steer/weak_store.c src/sched/steer/weak.h
