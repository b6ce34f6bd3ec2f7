# Tests of kernels in CI.
unit_tests += tests/testkit/cgroup
EXTRA_DIST += tests/testkit/after.cu tests/testkit/stable.cu
dist_check_SCRIPTS += tests/testkit/expect.sh tests/testkit/ktest.sh tests/testkit/stable.sh
TESTS += tests/testkit/expect.sh
if !SANITIZED
TESTS += tests/testkit/ktest.sh tests/testkit/stable.sh
endif
