# What launches are observed with, and metrics of them.
libcore_la_SOURCES += \
	src/profile/kept/base.c src/profile/kept/base.h \
	src/profile/kept/blame.c src/profile/kept/blame.h \
	src/profile/choice.c src/profile/choice.h \
	src/profile/kept/claim.c src/profile/kept/claim.h src/profile/kept/line.c src/profile/kept/line.h src/profile/kept/short.def \
	src/profile/collect.c src/profile/collect.h src/profile/collect_int.h src/profile/collect_sum.c \
	src/profile/columns.def src/profile/values.def \
	src/profile/describe.c src/profile/describe.h \
	src/profile/json_out.c src/profile/json_out.h \
	src/profile/kept/kept.c src/profile/kept/kept.h src/profile/kept/kept_int.h src/profile/kept/kept_snapshot.c \
	src/profile/kernels.c src/profile/kernels.h \
	src/profile/metrics.c src/profile/metrics.def src/profile/metrics.h \
	src/profile/profile.c src/profile/profile.h \
	src/profile/range_filter.c src/profile/ranges.c src/profile/ranges.h \
	src/profile/table/links.c src/profile/table/links.h src/profile/table/migrations.c src/profile/table/migrations.h src/profile/table/shared.c src/profile/table/shared.h \
	src/profile/table/variables.c src/profile/table/variables.h src/profile/trace.c src/profile/trace.h \
	src/profile/report.c src/profile/report_write.c src/profile/report.h
# Reports that are read, and pages.
profile_pages = \
	src/profile/budget.c src/profile/budget.h \
	src/profile/page/diff.c src/profile/page/diff.h \
	src/profile/page/events.c src/profile/page/events.h \
	src/profile/page/lines.c src/profile/page/lines.h \
	src/profile/page/page.c src/profile/page/page.h \
	src/profile/page/page_annotate.c src/profile/page/page_callgrind.c src/profile/page/page_csv.c src/profile/page/page_html.c src/profile/page/page_json.c src/profile/page/page_session.c src/profile/page/page_summary.c src/profile/page/page_trace.c src/profile/page/page_source.c \
	src/profile/page/page_text.c \
	src/profile/page/sections.c src/profile/page/sections.def src/profile/page/sections.h \
	src/profile/pick.c src/profile/pick.h \
	src/profile/report_read.c
# The script and the style of pages of HTML, as bytes of C arrays.
html_parts = src/profile/page/html/page.css.inc src/profile/page/html/page.js.inc
BUILT_SOURCES += $(html_parts)
CLEANFILES += $(html_parts)
EXTRA_DIST += src/profile/page/html/page.css src/profile/page/html/page.js
src/profile/page/html/page.css.inc: src/profile/page/html/page.css
	$(AM_V_GEN)$(html_to_bytes)
src/profile/page/html/page.js.inc: src/profile/page/html/page.js
	$(AM_V_GEN)$(html_to_bytes)
html_to_bytes = $(MKDIR_P) $(@D) && \
	od -An -v -tu1 $< | sed 's/  */ /g; s/^ //; s/ /,/g; s/$$/,/' >$@.new && mv $@.new $@
src/profile/page/ptxloom-page_html.$(OBJEXT): $(html_parts)
