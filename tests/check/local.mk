dist_check_SCRIPTS += tests/check/race.sh
EXTRA_DIST += tests/check/race.cu tests/check/race.ptx
if !SANITIZED
TESTS += tests/check/race.sh
endif
