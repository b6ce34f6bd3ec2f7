dist_check_SCRIPTS += tests/cover/counts.sh tests/cover/programs.sh
EXTRA_DIST += tests/cover/clock.ptx tests/cover/counts.ptx tests/cover/coverage-04.dtd tests/cover/ends.cu \
	tests/cover/lines.ptx tests/cover/lines.txt
TESTS += tests/cover/counts.sh
if !SANITIZED
TESTS += tests/cover/programs.sh
endif
