dist_check_SCRIPTS += tests/explore/explore.sh tests/explore/proxies.sh
TESTS += tests/explore/proxies.sh
EXTRA_DIST += tests/explore/proxies.ptx tests/explore/drift.cu tests/explore/shapes.cu tests/explore/stuck.cu tests/explore/lanes.cu
if !SANITIZED
TESTS += tests/explore/explore.sh
endif
