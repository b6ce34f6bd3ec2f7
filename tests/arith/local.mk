# The engine's arithmetic against MPFR.
dist_check_SCRIPTS += tests/arith/without_mpfr.sh
if HAVE_MPFR
check_PROGRAMS += tests/arith/arith
TESTS += tests/arith/arith
tests_arith_arith_SOURCES = tests/arith/arith.c tests/arith/formats.c tests/arith/formats.h tests/check.h
tests_arith_arith_CFLAGS = $(AM_CFLAGS) $(MPFR_CFLAGS)
tests_arith_arith_LDADD = libptxloom.la $(MPFR_LIBS) -lgmp
else
TESTS += tests/arith/without_mpfr.sh
endif
