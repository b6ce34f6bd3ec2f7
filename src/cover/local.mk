# Coverage: counts of launches, profiles, what they say of lines, reports.
libcore_la_SOURCES += \
	src/cover/collect.c src/cover/collect.h \
	src/cover/input.c src/cover/model.c src/cover/model.h src/cover/model_int.h src/cover/model_merge.c src/cover/source.c \
	src/cover/profile.c src/cover/profile.h src/cover/profile_int.h src/cover/profile_share.c \
	src/cover/write.c src/cover/write.h src/cover/write_html.c src/cover/write_json.c src/cover/write_xml.c
