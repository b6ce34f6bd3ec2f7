# Sessions of `ptxloom debug`, and the front end as a process.
debug_tests = tests/debug/attach.sh tests/debug/brief.sh tests/debug/counters.sh tests/debug/findings.sh tests/debug/front.sh tests/debug/gdb.sh tests/debug/modes.sh \
	tests/debug/programs.sh tests/debug/sessions.sh \
	tests/debug/terminal.sh tests/debug/tutorial.sh
dist_check_SCRIPTS += $(debug_tests)
EXTRA_DIST += tests/debug/fake.py tests/debug/sessions.inc.sh tests/debug/sessions.py tests/debug/terminal.py \
	tests/debug/tutorial.nvcc tests/debug/tutorial.py
EXTRA_DIST += tests/debug/checks.txt tests/debug/deadlock.cu tests/debug/diverge.cu tests/debug/fault.cu \
	tests/debug/forks.cu tests/debug/loader.c tests/debug/race.cu tests/debug/spin.cu tests/debug/collatz.ptx \
	tests/debug/truth.h tests/debug/nvcc/deadlock.ptx tests/debug/nvcc/diverge.ptx tests/debug/nvcc/fault.ptx \
	tests/debug/nvcc/make.sh
dist_check_SCRIPTS += tests/debug/moves.sh
EXTRA_DIST += tests/debug/findings.txt tests/debug/apart.txt tests/debug/apart/one.cu tests/debug/apart/two.cu
EXTRA_DIST += tests/debug/values.cu tests/debug/values.py tests/debug/values.txt
EXTRA_DIST += tests/debug/lines.cu tests/debug/lines.txt
EXTRA_DIST += tests/debug/arrive.cu tests/debug/fragments.cu tests/debug/fragments.txt tests/debug/quads.cu \
	tests/debug/targets.cu tests/debug/twice.cu
EXTRA_DIST += tests/debug/dynamic.cu tests/debug/look.cu tests/debug/look.txt tests/debug/objects.cu
EXTRA_DIST += tests/debug/languages.txt tests/debug/names.cu tests/debug/recurse.cu tests/debug/shapes.cu \
	tests/debug/nvcc/moving.ptx tests/debug/nvcc/names.ptx tests/debug/nvcc/recurse.ptx tests/debug/nvcc/shapes.ptx \
	tests/debug/nvcc/symbols.ptx tests/debug/symbols.cu
EXTRA_DIST += tests/debug/calls.cu tests/debug/family.ptx tests/debug/front_end.py tests/debug/invoke.cu tests/debug/moves.txt
EXTRA_DIST += tests/debug/gaps.txt tests/debug/inlined.cu tests/debug/mixed.cu tests/debug/mixed.txt \
	tests/debug/moving.cu tests/debug/moving.txt
EXTRA_DIST += tests/debug/launches.cu tests/debug/textures.cu tests/debug/writers.cu tests/debug/writers.h
EXTRA_DIST += tests/debug/clusters.txt tests/debug/grid.cu tests/debug/groups.txt tests/debug/nvcc/cluster.cu \
	tests/debug/nvcc/cluster.ptx
if !SANITIZED
TESTS += tests/debug/moves.sh $(debug_tests)
endif
