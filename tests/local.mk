# Tests that belong to no single folder.
# They need the CUDA libraries in front of programs that were not built with a sanitizer.
dist_check_SCRIPTS += tests/programs/stripped.sh tests/programs/groups.sh tests/programs/textures.sh tests/programs/samples.sh tests/programs/ways.sh tests/programs/streams.sh tests/programs/loading.sh tests/programs/limits.sh tests/programs/install.sh
EXTRA_DIST += tests/programs/stats.c tests/programs/small.c tests/programs/stripped_runtime.c tests/programs/runtime_standin.c tests/programs/runtime_user.c tests/programs/opener.c tests/programs/last_errors.c tests/programs/nvrtc_standin.c tests/programs/compilers.c
EXTRA_DIST += tests/programs/try.h tests/programs/clusters.cu tests/programs/groups.cu tests/programs/textures.cu tests/programs/conditions.cu tests/programs/device_graphs.cu tests/programs/driver_streams.c tests/programs/event_ipc.cu tests/programs/graph_memory.cu \
	tests/programs/graphs.cu tests/programs/per_thread.cu tests/programs/streams.cu
EXTRA_DIST += tests/programs/shared_reach.cu tests/programs/jacobi.cu tests/programs/jitlink.c tests/programs/linked.cu tests/programs/nested.cu tests/programs/nvrtc.c tests/programs/plugin.cu \
	tests/programs/plugin_host.c
dist_check_SCRIPTS += tests/exec/order.sh tests/programs/order.sh tests/programs/attend.sh tests/programs/forks.sh tests/programs/writers.sh
EXTRA_DIST += tests/programs/writers.cu tests/programs/forks.cu tests/exec/order.ptx tests/programs/order.cu tests/programs/blocking.cu tests/programs/hang.cu
dist_check_SCRIPTS += tests/programs/cc.sh tests/programs/stats.sh tests/programs/record.sh tests/programs/faults.sh tests/programs/refusals.sh tests/programs/hints.sh \
	tests/exec/settings.sh tests/exec/caches.sh tests/exec/hints.sh tests/exec/completion.sh tests/exec/pkgconfig.sh tests/exec/hosts.sh tests/exec/handlers.sh tests/exec/sums.sh tests/exec/tier.sh
EXTRA_DIST += tests/exec/handlers.ptx tests/exec/sums.ptx tests/exec/tier.cu tests/exec/tier.ptx tests/exec/tier_forms.ptx tests/programs/llvm_standin.c
EXTRA_DIST += tests/programs/refusals.cu tests/programs/faults.cu tests/programs/inlined.ptx
EXTRA_DIST += tests/programs/cc_math.cu tests/programs/cc_language.cu tests/programs/cc_headers.cu tests/programs/cc_orders.cu
if !SANITIZED
TESTS += tests/exec/order.sh tests/programs/order.sh tests/programs/attend.sh tests/programs/forks.sh tests/programs/writers.sh
TESTS += tests/exec/settings.sh tests/exec/caches.sh tests/exec/hints.sh tests/exec/completion.sh tests/exec/pkgconfig.sh tests/exec/hosts.sh tests/exec/handlers.sh tests/exec/sums.sh tests/exec/tier.sh tests/programs/faults.sh \
	tests/programs/record.sh tests/programs/refusals.sh tests/programs/hints.sh tests/programs/cc.sh tests/programs/groups.sh tests/programs/textures.sh tests/programs/samples.sh tests/programs/ways.sh tests/programs/streams.sh
TESTS += tests/programs/stripped.sh tests/programs/loading.sh tests/programs/limits.sh tests/programs/install.sh
endif

dist_check_SCRIPTS += tests/debug/python.sh tests/dap/dap.sh tests/dap/protocol.sh tests/dap/clients.sh
EXTRA_DIST += tests/debug/scale.py tests/debug/softmax.py tests/dap/client.py tests/dap/emacs.el tests/dap/nvim.lua tests/dap/sessions.py editors/vscode/README.md \
	editors/vscode/extension.js editors/vscode/package.json
if !SANITIZED
TESTS += tests/debug/python.sh tests/dap/dap.sh tests/dap/protocol.sh tests/dap/clients.sh
endif

# The same libraries, where they are built with a sanitizer.
dist_check_SCRIPTS += tests/programs/sanitized.sh
if SANITIZED
TESTS += tests/programs/sanitized.sh
endif

EXTRA_DIST += .ci/run tests/extend.sh tests/packages.sh tests/mutate tests/totals.awk tests/coverage.sh tests/tap.sh
style_tests = tests/style/format.sh tests/style/limits.sh tests/style/includes.sh tests/style/names.sh tests/style/words.sh \
	tests/style/docs.sh tests/style/manual.sh tests/style/mutate.sh \
	tests/style/quick.sh tests/style/architecture.sh tests/style/dist.sh
dist_check_SCRIPTS += $(style_tests)
# They read sources: once is enough, sanitizers have nothing to find there. A slip shows at once if they are first.
if !SANITIZED
first_tests = $(style_tests)
else
first_tests =
endif

# Under thirty seconds on two processors: every test but those that are named here, each of which takes more than
# two seconds and has a quicker one of its kind. tests/style/quick.sh judges the list.
slow_tests = tests/check/host_places.sh tests/check/hopper.sh tests/check/library.sh tests/check/modes.sh tests/check/planted.sh tests/check/streams.sh tests/dap/clients.sh tests/dap/dap.sh tests/debug/attach.sh tests/debug/findings.sh tests/debug/front.sh tests/debug/modes.sh tests/debug/moves.sh \
	tests/debug/programs.sh tests/debug/sessions.sh tests/debug/terminal.sh tests/debug/tutorial.sh \
	tests/exec/completion.sh tests/exec/exec.sh tests/exec/handlers.sh tests/exec/sums.sh tests/exec/tier.sh tests/exec/order.sh tests/explore/explore.sh \
	tests/fuzz/fuzz_dwarf tests/fuzz/fuzz_image tests/fuzz/fuzz_launch tests/fuzz/fuzz_ptx \
	tests/oracle/api_cross.sh tests/oracle/forms.sh tests/oracle/matrix_vectors.sh tests/progress/table.sh \
	tests/progress/ends.sh tests/progress/writers tests/style/architecture.sh tests/style/docs.sh tests/style/includes.sh tests/style/mutate.sh tests/testkit/header.sh tests/testkit/project.sh tests/toolkit/relocatable.sh \
	$(slow_programs:%=tests/programs/%.sh)
slow_programs = attend cc groups hints install limits loading order refusals samples sanitized streams textures ways writers
# without WORDS: those that are not in slow_tests.
quick_words = without() { for word; do case " $(slow_tests) " in *" $$word "*) ;; *) echo $$word ;; esac; done; }
check-list:
	@for test in $(TESTS); do echo $$test; done
slow-list:
	@for test in $(slow_tests); do echo $$test; done
# Files and folders of the tarball, from the source folder.
dist-list:
	@for file in $(DISTFILES); do echo $$file; done | sed 's|^$(top_srcdir)/||; s|^\.\./||'
quick-list:
	@$(quick_words); without $(TESTS)
check-quick: all
	@$(quick_words); tests=`without $(TESTS)`; programs=`without $(check_PROGRAMS)`; \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="`echo $$tests`" check_PROGRAMS="`echo $$programs`"
.PHONY: check-list slow-list dist-list quick-list check-quick

# Instructions that are added to a copy of the sources, which takes a build of its own.
check-extend:
	@srcdir=$(srcdir) builddir=. $(SHELL) $(srcdir)/tests/extend.sh
.PHONY: check-extend

# Packages of this build, and the files for jobs of CI.
check-packages: all
	@srcdir=$(srcdir) builddir=. $(SHELL) $(srcdir)/tests/packages.sh
.PHONY: check-packages

# Only in a build with --enable-gcov.
coverage: check
	@$(SHELL) $(srcdir)/tests/coverage.sh $(srcdir) $(builddir)
.PHONY: coverage

# What a GPU shows of short programs, by hand too: tests/oracle/litmus_cross LIBCUDA; tests/unit/dev/weak.c compares.
check_PROGRAMS += tests/oracle/litmus_cross
tests_oracle_litmus_cross_SOURCES = tests/oracle/litmus_cross.c $(weak_programs)
tests_oracle_litmus_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_litmus_cross_LDADD = -ldl
# Runs a measured suite offline, to be called by hand: tests/oracle/run_suite DIR
check_PROGRAMS += tests/oracle/run_suite
tests_oracle_run_suite_SOURCES = tests/oracle/run_suite.c tests/oracle/suite_image.h \
	tests/unit/exec_harness.h
tests_oracle_run_suite_LDADD = $(UNIT_LDADD)
# Compares a GPU with the emulated one, by hand too: tests/oracle/matrix_cross.sh BUILD; what a GPU gave
# for the first tiles is in tests/vectors/matrix_cross.tsv, which matrix_vectors.sh compares.
check_PROGRAMS += tests/oracle/matrix_cross
tests_oracle_matrix_cross_SOURCES = tests/oracle/matrix_cross.c tests/oracle/matrix_forms.c \
	tests/oracle/matrix_forms.h tests/check.h
tests_oracle_matrix_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_matrix_cross_LDADD = -ldl
EXTRA_DIST += tests/oracle/matrix_cross.sh tests/vectors/matrix_cross.tsv
# Compares the answers of the interfaces with those of an H200.
check_PROGRAMS += tests/oracle/api_cross
tests_oracle_api_cross_SOURCES = tests/oracle/api_cross.c tests/oracle/api_script.c tests/oracle/api_script.h
tests_oracle_api_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_api_cross_LDADD = -ldl -lpthread
dist_check_SCRIPTS += tests/oracle/api_cross.sh
api_scripts = device kernels graphs streams memory modules pools sizes pointers after zeros
EXTRA_DIST += $(api_scripts:%=tests/oracle/api/%.api) $(api_scripts:%=tests/oracle/api/%.h200) tests/oracle/api/README.md tests/oracle/api/counts.api
dist_check_SCRIPTS += tests/oracle/api_sizes.sh
# Absurd counts make the interfaces read beyond what the caller has, which sanitizers report as the caller's error.
if !SANITIZED
TESTS += tests/oracle/api_cross.sh tests/oracle/api_sizes.sh
endif
dist_check_SCRIPTS += tests/oracle/matrix_vectors.sh
TESTS += tests/oracle/matrix_vectors.sh
# Counts under Nsight Compute what tests/unit/sched/watch_measured counts: tests/oracle/counters_cross.sh BUILD
check_PROGRAMS += tests/oracle/counters_cross
tests_oracle_counters_cross_SOURCES = tests/oracle/counters_cross.c tests/counters/access.h tests/counters/access.def
tests_oracle_counters_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_counters_cross_LDADD = $(UNIT_LDADD) -ldl
EXTRA_DIST += tests/oracle/counters_cross.sh tests/counters/h200.tsv
# The same for what depends on caches: tests/oracle/caches_cross.sh BUILD, compared by tests/profile/caches.sh
check_PROGRAMS += tests/oracle/caches_cross
tests_oracle_caches_cross_SOURCES = tests/oracle/caches_cross.c
tests_oracle_caches_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_caches_cross_LDADD = $(UNIT_LDADD) -ldl
EXTRA_DIST += tests/oracle/caches_cross.sh tests/counters/caches.tsv tests/counters/caches_more.tsv tests/counters/caches_h100.tsv tests/counters/prefetch.tsv tests/counters/managed.tsv \
	tests/counters/compare.awk
# The same for other instructions and for random programs: tests/oracle/form_cross.sh BUILD
check_PROGRAMS += tests/oracle/form_cross
tests_oracle_form_cross_SOURCES = tests/oracle/form_cross.c tests/oracle/form_cross.h \
	tests/oracle/form_cross_programs.c tests/oracle/cross.h tests/fuzz/formgen.c \
	tests/fuzz/formgen.h tests/fuzz/formgen_int.h tests/fuzz/formgen_place.c \
	tests/fuzz/formgen_put.c tests/fuzz/formgen_value.c tests/fuzz/progen.c tests/fuzz/progen.h \
	tests/fuzz/progen_insn.c tests/fuzz/progen_place.c tests/fuzz/progen_together.c
tests_oracle_form_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_form_cross_LDADD = $(UNIT_LDADD) -ldl
# What faults, and with which code.
check_PROGRAMS += tests/oracle/fault_cross
tests_oracle_fault_cross_SOURCES = tests/oracle/fault_cross.c tests/oracle/cross.h tests/oracle/faults.def
tests_oracle_fault_cross_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_oracle_fault_cross_LDADD = $(UNIT_LDADD) -ldl
EXTRA_DIST += tests/oracle/form_cross.sh tests/vectors/forms_gh100.tsv tests/vectors/faults_gh100.tsv
dist_check_SCRIPTS += tests/oracle/forms.sh
if !SANITIZED
TESTS += tests/oracle/forms.sh
endif
