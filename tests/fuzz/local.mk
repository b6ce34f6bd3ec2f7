# Fuzzers: a fixed number of mutants of good input in `make check`, more when asked.
fuzzers = tests/fuzz/fuzz_cover tests/fuzz/fuzz_data tests/fuzz/fuzz_dwarf tests/fuzz/fuzz_expr tests/fuzz/fuzz_image tests/fuzz/fuzz_inject tests/fuzz/fuzz_launch tests/fuzz/fuzz_ptx tests/fuzz/fuzz_record tests/fuzz/fuzz_report tests/fuzz/fuzz_schedule tests/fuzz/fuzz_signature tests/fuzz/fuzz_tensor
unit_tests += $(fuzzers)
EXTRA_DIST += tests/fuzz/mutate.h
tests_fuzz_fuzz_data_SOURCES = tests/fuzz/fuzz_data.c src/tools/exec_data.c src/tools/exec_data.h
tests_fuzz_fuzz_launch_SOURCES = tests/fuzz/fuzz_launch.c $(progen)
tests_fuzz_fuzz_dwarf_LDADD = libdbg.la $(UNIT_LDADD)
tests_fuzz_fuzz_expr_LDADD = libdbg.la $(UNIT_LDADD)
tests_fuzz_fuzz_report_SOURCES = tests/fuzz/fuzz_report.c $(profile_pages)
tests_fuzz_fuzz_report_LDADD = $(UNIT_LDADD) $(CJSON_LIBS)
tests_fuzz_fuzz_report_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS)
