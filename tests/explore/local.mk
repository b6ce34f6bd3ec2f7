dist_check_SCRIPTS += tests/explore/explore.sh
EXTRA_DIST += tests/explore/drift.cu tests/explore/shapes.cu tests/explore/stuck.cu
if !SANITIZED
TESTS += tests/explore/explore.sh
endif
