# Manual pages and other documents, completion for three shells, the samples.
dist_man_MANS += man/ptxloom.1 man/ptxloom-lint.1 man/ptxloom-ls.1 man/ptxloom-ptx.1 \
	man/ptxloom-devices.1 man/ptxloom-run.1 man/ptxloom-check.1 man/ptxloom-profile.1 man/ptxloom-debug.1 man/ptxloom-dap.1 man/ptxloom-cc.1 man/ptxloom-env.1 man/ptxloom-inject.1 man/ptxloom-report.1 man/ptxloom-learn.1 man/ptxloom-test.1 man/ptxloom-explore.1 man/ptxloom-coverage.1 man/ptxloom-toolkit.1 man/ptxloom-smi.1
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = share/completion/ptxloom.bash
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = share/completion/_ptxloom
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = share/completion/ptxloom.fish
EXTRA_DIST += docs/architecture.md docs/images.md docs/engine.md docs/programs.md docs/streams.md
EXTRA_DIST += docs/glossary.md docs/memory-model.md docs/tensor-cores.md
EXTRA_DIST += docs/findings.md docs/sanitizer.md samples/checks/checks.cu
EXTRA_DIST += docs/textures.md docs/exactness.md docs/ptx.md docs/speed.md
EXTRA_DIST += docs/smi.md docs/libraries.md docs/memory.md docs/clang.md docs/using.md docs/debugging.md docs/editors.md docs/debugger-internals.md docs/record.md docs/checks.md docs/caches.md docs/profile.md docs/profile.schema.json docs/inject.md docs/explore.md docs/coverage.md docs/build-systems.md docs/python.md docs/pytorch.md docs/ci.md docs/packages.md
EXTRA_DIST += samples/pytorch/train.py samples/vector_add.ptx samples/tile_reduction.ptx samples/shuffle.ptx samples/vector_add.cu samples/walk.cu
EXTRA_DIST += samples/testkit/bank.cu samples/testkit/clamp.cu samples/testkit/fsum.cu samples/testkit/hang.cu samples/testkit/mp.cu samples/testkit/oom.cu samples/testkit/race.cu samples/testkit/saxpy.ktest
EXTRA_DIST += samples/testkit/clamp_test.cc samples/testkit/suite.cc samples/testkit/CMakeLists.txt samples/testkit/README.md \
	samples/testkit/clamp.ktest samples/testkit/run.sh samples/testkit/test_clamp.py samples/testkit/.github/workflows/kernels.yml samples/testkit/.gitlab-ci.yml
dist_man_MANS += man/ptxloom-exec.1 man/ptxloom_device_open.3 man/ptxloom_module_load.3 man/ptxloom_alloc.3 \
	man/ptxloom_launch.3 man/ptxloom_bind.3 man/ptxloom_last_fault.3 man/ptxloom_findings.3 man/ptxloom_counters.3 man/ptxloom_status_text.3
EXTRA_DIST += samples/saxpy.ptx samples/reduce.ptx
