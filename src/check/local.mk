libcore_la_SOURCES += \
	src/check/apart.c src/check/apart.h \
	src/check/checks.c src/check/checks.h \
	src/check/clock.c src/check/clock.h \
	src/check/fault.c src/check/fault.h \
	src/check/finding.c src/check/finding.def src/check/finding.h \
	src/check/format.c src/check/format.h \
	src/check/init/init.c src/check/init/init.h src/check/init/init_int.h \
	src/check/init/init_flow.c src/check/init/init_memory.c src/check/init/init_memory.h \
	src/check/init/init_report.c \
	src/check/known.c src/check/known.h \
	src/check/race.c src/check/race.h src/check/race_access.c \
	src/check/race_int.h src/check/race_sync.c \
	src/check/report.c src/check/report.h \
	src/check/shadow.c src/check/shadow.h \
	src/check/suppress.c src/check/suppress.h \
	src/check/sync.c src/check/sync.h src/check/sync_int.h \
	src/check/sync_barrier.c src/check/sync_cluster.c src/check/sync_copy.c \
	src/check/sync_flow.c src/check/sync_mbar.c src/check/sync_lanes.c src/check/sync_report.c \
	src/check/init/taint.c src/check/init/taint.h \
	src/check/init/written.c src/check/init/written.h
