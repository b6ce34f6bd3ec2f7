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
	grammar/build_operand.c \
	grammar/build_private.c \
	grammar/build_register.c \
	grammar/build_say.c \
	grammar/parse.c grammar/parse.h \
	grammar/skim.c grammar/skim.h

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

