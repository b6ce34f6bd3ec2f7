bin_PROGRAMS += ptxloom
ptxloom_SOURCES = src/tools/main.c src/tools/tools.h src/tools/commands.def
# The command line of compute-sanitizer.
noinst_DATA += ptxloom-sanitizer
CLEANFILES += ptxloom-sanitizer
ptxloom-sanitizer: ptxloom
	$(AM_V_GEN)rm -f $@ && $(LN_S) ptxloom $@
ptxloom_LDADD = libnvml.la libdebugger.la libdbg.la libcore.la $(CJSON_LIBS)
ptxloom_SOURCES += src/tools/explore/answer.c src/tools/explore/arguments.c src/tools/explore/exhaust.c src/tools/explore/explore.c src/tools/explore/explore.h src/tools/explore/minimise.c src/tools/explore/notes.c src/tools/explore/plan.c src/tools/explore/report.c src/tools/explore/runs.c src/tools/explore/search.c
ptxloom_SOURCES += src/tools/lint.c src/tools/env.c src/tools/inject/inject.c src/tools/inject/inject.h src/tools/inject/runs.c src/tools/inject/sites.c src/tools/inject/sweep.c src/tools/trial.c src/tools/trial.h src/tools/run.c src/tools/check.c src/tools/sanitizer/sanitizer.c src/tools/sanitizer/sanitizer.def src/tools/check_options.c src/tools/check_options.h src/tools/paths.c src/tools/start.c
ptxloom_SOURCES += src/tools/coverage/coverage.c
ptxloom_SOURCES += $(profile_pages) src/tools/profile/ncu_options.def src/tools/profile/options.c src/tools/profile/options.h src/tools/profile/profile.c
ptxloom_SOURCES += src/tools/learn/learn.c src/tools/images.c src/tools/images.h src/tools/ls.c src/tools/ptx.c
ptxloom_SOURCES += src/tools/devices.c src/tools/supervise.c src/tools/supervise.h
ptxloom_CPPFLAGS = $(AM_CPPFLAGS) $(CJSON_CFLAGS) -DPTXLOOM_SOURCE_INCLUDE='"$(abs_srcdir)/share/ptxloom/include"' \
	-DPTXLOOM_SOURCE_PYTHON='"$(abs_srcdir)/python/torch"'
ptxloom_SOURCES += src/tools/exec.c src/tools/exec_args.c src/tools/exec_job.h src/tools/exec_data.c src/tools/exec_data.h
ptxloom_SOURCES += src/tools/exec_watch.c src/tools/exec_watch.h src/tools/exec_replay.c src/tools/exec_replay.h
ptxloom_SOURCES += src/tools/kit/calc.c src/tools/kit/calc.h src/tools/kit/compare.c src/tools/kit/compare.h src/tools/kit/expect.c src/tools/kit/expect.h src/tools/kit/many.c src/tools/kit/many.h src/tools/kit/saved.c src/tools/kit/saved.h
ptxloom_SOURCES += src/tools/kit/junit.c src/tools/kit/junit.h src/tools/kit/ktest.c src/tools/kit/ktest.h src/tools/kit/test.c src/tools/kit/test.h src/tools/kit/test_images.c src/tools/kit/test_metrics.c
ptxloom_SOURCES += src/tools/kit/ktest_lines.c src/tools/kit/ktest_reader.h src/tools/kit/ktest_words.c
ptxloom_SOURCES += src/tools/interrupt.c src/tools/interrupt.h
ptxloom_SOURCES += src/tools/toolkit/device_link.c src/tools/toolkit/device_link.h src/tools/toolkit/link_files.c src/tools/toolkit/objects.c src/tools/toolkit/objects.h src/tools/toolkit/statics.c
ptxloom_SOURCES += src/tools/cc/arguments.c src/tools/cc/build.h src/tools/cc/cc.c src/tools/cc/cc.h src/tools/cc/clang.c src/tools/cc/link.c src/tools/cc/missing.c src/tools/cc/passes.c
ptxloom_SOURCES += src/tools/toolkit/nvcc.c src/tools/toolkit/toolkit.c src/tools/toolkit/toolkit.h
ptxloom_SOURCES += src/tools/smi/fields.c src/tools/smi/fields.def src/tools/smi/log.c src/tools/smi/log.def src/tools/smi/query.c src/tools/smi/smi.c src/tools/smi/smi.h src/tools/smi/table.c src/tools/smi/topology.c
ptxloom_SOURCES += src/tools/report/covered.c src/tools/report/metrics.c src/tools/report/read.c src/tools/report/report.c src/tools/report/report.h src/tools/report/write.c
# `ptxloom debug`: the front end; what runs in the program is src/debugger.
ptxloom_SOURCES += src/tools/debug/code.c src/tools/debug/code.h src/tools/debug/colour.c src/tools/debug/debug.c src/tools/debug/front.c src/tools/debug/front.h src/tools/debug/layout.c src/tools/debug/line.c \
	src/tools/debug/program.c src/tools/debug/program.h src/tools/debug/script.c src/tools/debug/script.h \
	src/tools/debug/session.c src/tools/debug/verbs.c
ptxloom_LDADD += $(READLINE_LIBS)
if HAVE_READLINE
ptxloom_SOURCES += src/tools/debug/line_readline.c
EXTRA_DIST += src/tools/debug/line_none.c
else
ptxloom_SOURCES += src/tools/debug/line_none.c
EXTRA_DIST += src/tools/debug/line_readline.c
endif

# What build systems take for a CUDA toolkit, and the package of CMake: for this build, and installed with
# links that lead from folder to folder, so that an installation can be moved.
EXTRA_DIST += share/cmake/make_toolkit.sh share/cmake/make_folders.sh share/cmake/toolchain.cmake share/cmake/ptxloomConfig.cmake
toolkit_libraries = $(cuda_names:.libs/%=%) $(cuda_short:.libs/%=%) libptxloom-runtime.so
noinst_DATA += toolkit/version.json
toolkit/version.json: $(cuda_names) $(cuda_short) ptxloom share/cmake/make_toolkit.sh share/cmake/make_folders.sh share/cmake/toolchain.cmake share/cmake/ptxloomConfig.cmake
	$(AM_V_GEN)$(SHELL) $(srcdir)/share/cmake/make_toolkit.sh toolkit $(srcdir)/share/cmake ../ptxloom $(abs_srcdir)/share/ptxloom/include ../.libs $(toolkit_libraries) && \
		cp $(srcdir)/share/cmake/ptxloomConfig.cmake toolkit/lib/cmake/ptxloom/ && \
		$(SHELL) $(srcdir)/share/cmake/make_folders.sh $(abs_builddir) $(abs_srcdir)/include $(abs_builddir)/.libs >toolkit/lib/cmake/ptxloom/ptxloomFolders.cmake
toolkit_dir = $(pkglibdir)/toolkit
package_dir = $(libdir)/cmake/ptxloom
seen_from = realpath -ms --relative-to
install_toolkit:
	$(SHELL) $(srcdir)/share/cmake/make_toolkit.sh $(DESTDIR)$(toolkit_dir) $(srcdir)/share/cmake \
		"$$($(seen_from)=$(toolkit_dir) $(bindir)/ptxloom)" "$$($(seen_from)=$(toolkit_dir) $(ptxloomincludedir))" .. $(toolkit_libraries)
	$(MKDIR_P) $(DESTDIR)$(package_dir)
	$(INSTALL_DATA) $(srcdir)/share/cmake/ptxloomConfig.cmake $(DESTDIR)$(package_dir)/
	$(SHELL) $(srcdir)/share/cmake/make_folders.sh "$$($(seen_from)=$(package_dir) $(bindir))" "$$($(seen_from)=$(package_dir) $(includedir))" \
		"$$($(seen_from)=$(package_dir) $(libdir))" >$(DESTDIR)$(package_dir)/ptxloomFolders.cmake
	rmdir $(DESTDIR)$(toolkit_dir)/lib/cmake/ptxloom && ln -s "$$($(seen_from)=$(toolkit_dir)/lib/cmake $(package_dir))" $(DESTDIR)$(toolkit_dir)/lib/cmake/ptxloom
uninstall_toolkit:
	rm -rf $(DESTDIR)$(toolkit_dir) $(DESTDIR)$(package_dir)
.PHONY: install_toolkit uninstall_toolkit
clean-local: clean_toolkit
clean_toolkit:
	rm -rf toolkit
.PHONY: clean_toolkit
