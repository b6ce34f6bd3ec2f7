dist_check_SCRIPTS += tests/inject/inject.sh
EXTRA_DIST += tests/inject/devices.cu tests/inject/driver.c tests/inject/order.cu tests/inject/pair.cu tests/inject/flips.cu
if !SANITIZED
TESTS += tests/inject/inject.sh
endif
