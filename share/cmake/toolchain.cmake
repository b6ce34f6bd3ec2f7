# cmake --toolchain FILE: CUDA is compiled by `ptxloom cc`, and tests run by `ptxloom run`.
# The devices are those of PTXLOOM_DEVICE in the environment.
set(CMAKE_CUDA_COMPILER "${CMAKE_CURRENT_LIST_DIR}/bin/nvcc")
# Faults and findings name lines of sources.
set(CMAKE_CUDA_FLAGS_INIT "-lineinfo")
set(CUDAToolkit_ROOT "${CMAKE_CURRENT_LIST_DIR}")
set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/bin/ptxloom;run;--")
set(CMAKE_TEST_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/bin/ptxloom;run;--")
list(APPEND CMAKE_PREFIX_PATH "${CMAKE_CURRENT_LIST_DIR}")
