dist_check_SCRIPTS += tests/check/race.sh tests/check/formats.sh tests/check/modes.sh tests/check/calls.sh
EXTRA_DIST += tests/check/race.inc.sh tests/check/race.cu tests/check/race.ptx tests/check/calls.cu
if !SANITIZED
TESTS += tests/check/calls.sh tests/check/race.sh tests/check/formats.sh tests/check/modes.sh
endif
