# Pure arithmetic of single values: rounding, approximations, conversions. Headers alone.
libcore_la_SOURCES += \
	src/num/mufu.h \
	src/num/mufu_tables.def \
	src/num/numeric.h \
	src/num/numeric_all.h \
	src/num/numeric_bits.h \
	src/num/numeric_cmp.h \
	src/num/numeric_cvt.h \
	src/num/numeric_f32.h \
	src/num/numeric_f64.h \
	src/num/numeric_half.h \
	src/num/numeric_int.h \
	src/num/numeric_mini.h \
	src/num/numeric_video.h
