# NVML, nvidia-smi, and what else programs ask before they begin.
check_PROGRAMS += tests/smi/nvml
TESTS += tests/smi/nvml
tests_smi_nvml_SOURCES = tests/smi/nvml.c tests/check.h $(api_common)
tests_smi_nvml_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/share/ptxloom/include
tests_smi_nvml_LDADD = .libs/libnvidia-ml.so.1 $(api_link)
tests_smi_nvml_LDFLAGS = $(api_flags)
tests_smi_nvml_DEPENDENCIES = $(cuda_names)
check_PROGRAMS += tests/smi/cupti
TESTS += tests/smi/cupti
tests_smi_cupti_SOURCES = tests/smi/cupti.c tests/check.h $(api_common)
tests_smi_cupti_LDADD = .libs/libcupti.so.13 $(api_link)
tests_smi_cupti_LDFLAGS = $(api_flags)
tests_smi_cupti_DEPENDENCIES = $(cuda_names)
check_PROGRAMS += tests/smi/hold
tests_smi_hold_SOURCES = tests/smi/hold.c $(api_common)
tests_smi_hold_LDADD = $(api_link)
tests_smi_hold_LDFLAGS = $(api_flags)
tests_smi_hold_DEPENDENCIES = $(cuda_names)
dist_check_SCRIPTS += tests/smi/children.sh
if !SANITIZED
TESTS += tests/smi/children.sh
endif
dist_check_SCRIPTS += tests/smi/pynvml.sh tests/smi/smi.sh tests/smi/made_for.sh tests/smi/video.sh
EXTRA_DIST += tests/smi/made_for.c tests/smi/video.c
if !SANITIZED
TESTS += tests/smi/pynvml.sh tests/smi/smi.sh tests/smi/made_for.sh tests/smi/video.sh
endif
