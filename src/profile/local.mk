libcore_la_SOURCES += \
	src/profile/budget.c src/profile/budget.h \
	src/profile/pick.c src/profile/pick.h \
	src/profile/choice.c src/profile/choice.h \
	src/profile/collect.c src/profile/collect.h src/profile/collect_int.h src/profile/collect_sum.c \
	src/profile/columns.def src/profile/values.def \
	src/profile/page/diff.c src/profile/page/diff.h src/profile/page/page_json.c \
	src/profile/describe.c src/profile/describe.h \
	src/profile/json.c src/profile/json.h \
	src/profile/metrics.c src/profile/metrics.def src/profile/metrics.h \
	src/profile/profile.c src/profile/profile.h \
	src/profile/page/lines.c src/profile/page/lines.h \
	src/profile/page/page.c src/profile/page/page.h src/profile/page/page_csv.c src/profile/page/page_source.c src/profile/page/page_text.c \
	src/profile/page/sections.c src/profile/page/sections.def src/profile/page/sections.h \
	src/profile/report.c src/profile/report_write.c src/profile/report.h
