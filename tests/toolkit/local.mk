dist_check_SCRIPTS += tests/toolkit/relocatable.sh tests/toolkit/toolkit.sh
EXTRA_DIST += tests/toolkit/project/CMakeLists.txt tests/toolkit/project/scale.cu tests/toolkit/project/scale_test.cpp
if !SANITIZED
TESTS += tests/toolkit/relocatable.sh tests/toolkit/toolkit.sh
endif
