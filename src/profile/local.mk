libcore_la_SOURCES += \
	src/profile/budget.c src/profile/budget.h \
	src/profile/pick.c src/profile/pick.h \
	src/profile/choice.c src/profile/choice.h \
	src/profile/collect.c src/profile/collect.h src/profile/collect_int.h src/profile/collect_sum.c \
	src/profile/columns.def src/profile/values.def \
	src/profile/describe.c src/profile/describe.h \
	src/profile/json.c src/profile/json.h \
	src/profile/metrics.c src/profile/metrics.def src/profile/metrics.h \
	src/profile/profile.c src/profile/profile.h \
	src/profile/lines.c src/profile/lines.h \
	src/profile/page.c src/profile/page.h src/profile/page_csv.c src/profile/page_source.c src/profile/page_text.c \
	src/profile/sections.c src/profile/sections.def src/profile/sections.h \
	src/profile/report.c src/profile/report_write.c src/profile/report.h
