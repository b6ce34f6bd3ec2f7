# Tests of both CUDA interfaces as programs see them: through the libraries' names. Adding one: a line in
# api_tests and two below.
api_tests = tests/api/errors tests/api/misuse tests/api/modules tests/api/devices tests/api/nested tests/api/versions \
	tests/api/memory tests/api/memory_shared tests/api/texrefs tests/api/batches
api_flags = $(AM_LDFLAGS) -Wl,--no-as-needed -Wl,-rpath,$(abs_builddir)/.libs
api_link = .libs/libcudart.so.13 .libs/libcuda.so.1 -ldl
check_PROGRAMS += $(api_tests)
tests_api_errors_SOURCES = tests/api/errors.c tests/check.h
tests_api_errors_LDADD = $(api_link)
tests_api_errors_LDFLAGS = $(api_flags)
tests_api_errors_DEPENDENCIES = $(cuda_names)
tests_api_misuse_SOURCES = tests/api/misuse.c tests/check.h
tests_api_misuse_LDADD = $(api_link)
tests_api_misuse_LDFLAGS = $(api_flags)
tests_api_misuse_DEPENDENCIES = $(cuda_names)
tests_api_modules_SOURCES = tests/api/modules.c tests/check.h
tests_api_modules_LDADD = $(api_link)
tests_api_modules_LDFLAGS = $(api_flags)
tests_api_modules_DEPENDENCIES = $(cuda_names)
tests_api_devices_SOURCES = tests/api/devices.c tests/check.h
tests_api_devices_LDADD = $(api_link)
tests_api_devices_LDFLAGS = $(api_flags)
tests_api_devices_DEPENDENCIES = $(cuda_names)
tests_api_nested_SOURCES = tests/api/nested.c tests/check.h
tests_api_nested_LDADD = $(api_link)
tests_api_nested_LDFLAGS = $(api_flags)
tests_api_nested_DEPENDENCIES = $(cuda_names)
tests_api_versions_SOURCES = tests/api/versions.c tests/check.h
tests_api_versions_LDADD = $(api_link)
tests_api_versions_LDFLAGS = $(api_flags)
tests_api_versions_DEPENDENCIES = $(cuda_names)
tests_api_texrefs_SOURCES = tests/api/texrefs.c tests/check.h
tests_api_texrefs_LDADD = $(api_link)
tests_api_texrefs_LDFLAGS = $(api_flags)
tests_api_texrefs_DEPENDENCIES = $(cuda_names)
tests_api_memory_SOURCES = tests/api/memory.c tests/api/memory.h tests/check.h
tests_api_memory_LDADD = $(api_link)
tests_api_memory_LDFLAGS = $(api_flags)
tests_api_memory_DEPENDENCIES = $(cuda_names)
tests_api_memory_shared_SOURCES = tests/api/memory_shared.c tests/api/memory.h tests/check.h
tests_api_memory_shared_LDADD = $(api_link)
tests_api_memory_shared_LDFLAGS = $(api_flags)
tests_api_memory_shared_DEPENDENCIES = $(cuda_names)
tests_api_batches_SOURCES = tests/api/batches.c tests/check.h
tests_api_batches_LDADD = $(api_link)
tests_api_batches_LDFLAGS = $(api_flags)
tests_api_batches_DEPENDENCIES = $(cuda_names)
if !SANITIZED
TESTS += $(api_tests)
endif
