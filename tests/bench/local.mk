# Measurements: `make bench` builds and runs them; they are no tests.
EXTRA_PROGRAMS += tests/bench/parse
CLEANFILES += tests/bench/templates.ptx
tests_bench_parse_SOURCES = tests/bench/parse.c
tests_bench_parse_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/bench/parse.sh tests/bench/templates.cu

bench: tests/bench/parse
	@$(SHELL) $(srcdir)/tests/bench/parse.sh $(srcdir)/tests/bench tests/bench
.PHONY: bench
