# Sources of src/signature: static runtimes without symbols. For the command and for the preloaded library.
noinst_LTLIBRARIES += libsignature.la
libsignature_la_SOURCES = \
	src/signature/code.c src/signature/code.h \
	src/signature/find.c src/signature/find.h src/signature/find_int.h \
	src/signature/find_names.c src/signature/find_place.c \
	src/signature/known.c src/signature/load.c src/signature/load.h \
	src/signature/signature.c src/signature/signature.h
libcore_la_SOURCES += src/signature/learn.c src/signature/learn.h
libcore_la_LIBADD += libsignature.la
libpreload_la_LIBADD = libsignature.la

# The table, as bytes of a C array.
EXTRA_DIST += src/signature/runtimes.sig
BUILT_SOURCES += src/signature/runtimes.sig.inc
CLEANFILES += src/signature/runtimes.sig.inc
src/signature/runtimes.sig.inc: src/signature/runtimes.sig
	$(AM_V_GEN)$(html_to_bytes)
$(libsignature_la_OBJECTS): src/signature/runtimes.sig.inc
