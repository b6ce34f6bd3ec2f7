# Tests of what threads meet by: warp instructions, barriers, asynchronous copies.
check_PROGRAMS += tests/unit/exec_warp tests/unit/exec_barrier tests/unit/exec_async tests/unit/exec_tma
TESTS += tests/unit/exec_warp tests/unit/exec_barrier tests/unit/exec_async tests/unit/exec_tma
tests_unit_exec_warp_SOURCES = tests/unit/exec_warp.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_warp_LDADD = $(UNIT_LDADD)
tests_unit_exec_barrier_SOURCES = tests/unit/exec_barrier.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_barrier_LDADD = $(UNIT_LDADD)
tests_unit_exec_tma_SOURCES = tests/unit/exec_tma.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_tma_LDADD = $(UNIT_LDADD)
tests_unit_exec_async_SOURCES = tests/unit/exec_async.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_async_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_tensor
TESTS += tests/unit/exec_tensor
tests_unit_exec_tensor_SOURCES = tests/unit/exec_tensor.c tests/check.h
tests_unit_exec_tensor_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/vectors/tensormap.tsv

check_PROGRAMS += tests/unit/exec_matrix
TESTS += tests/unit/exec_matrix
tests_unit_exec_matrix_SOURCES = tests/unit/exec_matrix.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_matrix_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/vectors/matrix.ptx tests/vectors/matrix.tsv tests/vectors/matrix.bin

check_PROGRAMS += tests/unit/exec_matrix_generations
TESTS += tests/unit/exec_matrix_generations
tests_unit_exec_matrix_generations_SOURCES = tests/unit/exec_matrix_generations.c \
	tests/unit/exec_harness.h tests/check.h
tests_unit_exec_matrix_generations_LDADD = $(UNIT_LDADD) -lm
check_PROGRAMS += tests/unit/exec_matrix_models
TESTS += tests/unit/exec_matrix_models
EXTRA_DIST += tests/vectors/matrix_models.tsv
tests_unit_exec_matrix_models_SOURCES = tests/unit/exec_matrix_models.c tests/unit/dot_model.c \
	tests/unit/dot_model.h tests/unit/matrix_numbers.h tests/unit/exec_harness.h tests/check.h
tests_unit_exec_matrix_models_LDADD = $(UNIT_LDADD)

check_PROGRAMS += tests/unit/exec_matrix_scaled
TESTS += tests/unit/exec_matrix_scaled
tests_unit_exec_matrix_scaled_SOURCES = tests/unit/exec_matrix_scaled.c tests/unit/dot_model.c \
	tests/unit/dot_model.h tests/unit/exec_harness.h tests/check.h
tests_unit_exec_matrix_scaled_LDADD = $(UNIT_LDADD) -lm

# tests/programs/tensor.ptx is made of tensor.cu by hand, as its head says.
check_PROGRAMS += tests/unit/exec_tensor_programs
TESTS += tests/unit/exec_tensor_programs
tests_unit_exec_tensor_programs_SOURCES = tests/unit/exec_tensor_programs.c tests/unit/exec_harness.h tests/check.h
tests_unit_exec_tensor_programs_LDADD = $(UNIT_LDADD) -lm
EXTRA_DIST += tests/programs/tensor.cu tests/programs/tensor.ptx
