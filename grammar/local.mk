libcore_la_SOURCES += \
	grammar/build.c grammar/build.h \
	grammar/build_debug.c \
	grammar/build_decl.c \
	grammar/build_expr.c \
	grammar/build_func.c \
	grammar/build_init.c \
	grammar/build_insn.c \
	grammar/build_lex.c \
	grammar/build_limits.c \
	grammar/build_private.c \
	grammar/build_say.c \
	grammar/parse.c grammar/parse.h

# Generated code is compiled apart: it need not pass our warnings.
noinst_LTLIBRARIES += libgrammar.la
libgrammar_la_SOURCES =
nodist_libgrammar_la_SOURCES = grammar/ptx.tab.c grammar/ptx.yy.c
libgrammar_la_CFLAGS = $(AM_CFLAGS) -Wno-conversion -Wno-shadow -Wno-missing-prototypes -Wno-unused -Wno-sign-compare
libcore_la_LIBADD += libgrammar.la
EXTRA_DIST += grammar/ptx.l grammar/ptx.y
BUILT_SOURCES += grammar/ptx.tab.h
CLEANFILES += grammar/ptx.tab.c grammar/ptx.tab.h grammar/ptx.yy.c

grammar/ptx.tab.c: grammar/ptx.y
	$(AM_V_YACC)$(MKDIR_P) grammar && $(BISON) -Wall -Wno-yacc -Werror -d -o grammar/ptx.tab.c $(srcdir)/grammar/ptx.y
grammar/ptx.tab.h: grammar/ptx.tab.c
grammar/ptx.yy.c: grammar/ptx.l
	$(AM_V_LEX)$(MKDIR_P) grammar && $(FLEX) -o grammar/ptx.yy.c $(srcdir)/grammar/ptx.l

grammar_tests = tests/unit/grammar_say tests/unit/grammar_expr tests/unit/grammar_scope tests/unit/grammar_data tests/unit/grammar_limits
check_PROGRAMS += $(grammar_tests) tests/fuzz/fuzz_ptx
TESTS += $(grammar_tests) tests/fuzz/fuzz_ptx
ptx_test_headers = tests/unit/ptx_text.h tests/unit/ptx_exercise.h tests/check.h
tests_unit_grammar_say_SOURCES = tests/unit/grammar_say.c tests/check.h
tests_unit_grammar_say_LDADD = $(UNIT_LDADD)
tests_unit_grammar_expr_SOURCES = tests/unit/grammar_expr.c $(ptx_test_headers)
tests_unit_grammar_expr_LDADD = $(UNIT_LDADD)
tests_unit_grammar_scope_SOURCES = tests/unit/grammar_scope.c $(ptx_test_headers)
tests_unit_grammar_scope_LDADD = $(UNIT_LDADD)
tests_unit_grammar_data_SOURCES = tests/unit/grammar_data.c $(ptx_test_headers)
tests_unit_grammar_data_LDADD = $(UNIT_LDADD)
tests_unit_grammar_limits_SOURCES = tests/unit/grammar_limits.c $(ptx_test_headers)
tests_unit_grammar_limits_LDADD = $(UNIT_LDADD)
tests_fuzz_fuzz_ptx_SOURCES = tests/fuzz/fuzz_ptx.c tests/fuzz/mutate.h tests/unit/ptx_exercise.h tests/check.h
tests_fuzz_fuzz_ptx_LDADD = $(UNIT_LDADD)
