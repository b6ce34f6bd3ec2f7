libcore_la_SOURCES += \
	src/base/arena.c src/base/arena.h \
	src/base/cgroup.c src/base/cgroup.h \
	src/base/base.h \
	src/base/demangle.c src/base/demangle.h \
	src/base/diag.c src/base/diag.h \
	src/base/file.c src/base/file.h \
	src/base/host_line.h src/base/intern.c src/base/intern.h \
	src/base/leave.h \
	src/base/l2_policy.c src/base/l2_policy.h \
	src/base/map.c src/base/map.h \
	src/base/nearest.c src/base/nearest.h \
	src/base/setting.c src/base/setting.def src/base/setting.h \
	src/base/piece.c src/base/piece.h \
	src/base/stats.c src/base/stats.h \
	src/base/clock.h \
	src/base/text.c src/base/text.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/size.h \
	src/base/vec.h

