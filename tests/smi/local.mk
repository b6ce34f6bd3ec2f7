# NVML, nvidia-smi, and what else programs ask before they begin.
check_PROGRAMS += tests/smi/nvml
TESTS += tests/smi/nvml
tests_smi_nvml_SOURCES = tests/smi/nvml.c tests/check.h $(api_common)
tests_smi_nvml_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/share/ptxloom/include
tests_smi_nvml_LDADD = .libs/libnvidia-ml.so.1 $(api_link)
tests_smi_nvml_LDFLAGS = $(api_flags)
tests_smi_nvml_DEPENDENCIES = $(cuda_names)
dist_check_SCRIPTS += tests/smi/pynvml.sh tests/smi/smi.sh
if !SANITIZED
TESTS += tests/smi/pynvml.sh tests/smi/smi.sh
endif
