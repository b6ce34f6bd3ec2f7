# Tests of kernels in CI.
unit_tests += tests/testkit/cgroup
EXTRA_DIST += tests/testkit/after.cu tests/testkit/stable.cu
EXTRA_DIST += tests/testkit/header/alone.cc tests/testkit/header/with_catch.cc \
	tests/testkit/header/with_doctest.cc tests/testkit/header/with_gtest.cc tests/testkit/header/cases.hpp \
	tests/testkit/header/kernels.ptx tests/testkit/header/source.cu \
	tests/testkit/header/project/CMakeLists.txt
dist_check_SCRIPTS += tests/testkit/expect.sh tests/testkit/header.sh tests/testkit/ktest.sh tests/testkit/project.sh tests/testkit/report.sh tests/testkit/saved.sh tests/testkit/stable.sh
TESTS += tests/testkit/expect.sh
if !SANITIZED
TESTS += tests/testkit/header.sh tests/testkit/ktest.sh tests/testkit/project.sh tests/testkit/report.sh tests/testkit/saved.sh tests/testkit/stable.sh
endif
