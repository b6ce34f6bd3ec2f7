# Sources of src/inject: rules of fault injection.
libcore_la_SOURCES += \
	src/inject/names.c src/inject/names.h \
	src/inject/rules.c src/inject/rules.h
