dist_check_SCRIPTS += tests/check/race.sh tests/check/modes.sh
EXTRA_DIST += tests/check/race.inc.sh tests/check/race.cu tests/check/race.ptx
if !SANITIZED
TESTS += tests/check/race.sh tests/check/modes.sh
endif
