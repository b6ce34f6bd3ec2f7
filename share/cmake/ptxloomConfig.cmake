# find_package(ptxloom): runs and tests CUDA programs on machines without a GPU.
#
#   ptxloom::ptxloom     imported target: the C interface, <ptxloom.h>
#   ptxloom::test        the same for tests in C++, <ptxloom_test.hpp>
#   PTXLOOM_COMMAND      the command
#   ptxloom_add_test()   tests of a CUDA program: see below
#
# Variables that a project or user may set: PTXLOOM_DEVICES (devices of tests that name none),
# PTXLOOM_COVERAGE_DIR (default ${CMAKE_BINARY_DIR}/ptxloom-coverage).
include(CMakeParseArguments)

# The folders of this installation, or of a build.
# The folder of `ptxloom toolkit` has a link to it.
get_filename_component(_ptxloom_here "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
include("${_ptxloom_here}/ptxloomFolders.cmake")

if(NOT TARGET ptxloom::ptxloom)
  add_library(ptxloom::ptxloom SHARED IMPORTED)
  set_target_properties(ptxloom::ptxloom PROPERTIES
    IMPORTED_LOCATION "${_ptxloom_lib}/libptxloom.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_ptxloom_include}")
  add_library(ptxloom::test INTERFACE IMPORTED)
  set_target_properties(ptxloom::test PROPERTIES
    INTERFACE_LINK_LIBRARIES ptxloom::ptxloom
    INTERFACE_COMPILE_DEFINITIONS "PTXLOOM_TEST_COMMAND=\"${_ptxloom_bin}/ptxloom\""
    INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()

set(PTXLOOM_COMMAND "${_ptxloom_bin}/ptxloom")
if(NOT EXISTS "${PTXLOOM_COMMAND}")
  set(ptxloom_FOUND FALSE)
  set(ptxloom_NOT_FOUND_MESSAGE "the command is not there: ${PTXLOOM_COMMAND}")
  return()
endif()

if(NOT PTXLOOM_COVERAGE_DIR)
  set(PTXLOOM_COVERAGE_DIR "${CMAKE_BINARY_DIR}/ptxloom-coverage")
endif()

# _ptxloom_one_test(NAME WORDS...): a test of the call's options (_T_...), by `ptxloom WORDS -- COMMAND`.
function(_ptxloom_one_test name seed)
  set(command ${_T_COMMAND})
  list(GET command 0 program)
  if(TARGET "${program}")
    list(REMOVE_AT command 0)
    list(INSERT command 0 "$<TARGET_FILE:${program}>")
  endif()
  add_test(NAME "${name}" COMMAND "${PTXLOOM_COMMAND}" ${ARGN} -- ${command})

  set(environment)
  if(seed)
    list(APPEND environment "PTXLOOM_SEED=${seed}")
  endif()
  if(_T_MEMORY)
    list(APPEND environment "PTXLOOM_MEMORY=${_T_MEMORY}")
  endif()
  if(_T_COVERAGE)
    list(APPEND environment "PTXLOOM_COVERAGE=${PTXLOOM_COVERAGE_DIR}")
  endif()
  if(_T_PROCESSORS)
    list(APPEND environment "PTXLOOM_WORKERS=${_T_PROCESSORS}")
    set_tests_properties("${name}" PROPERTIES PROCESSORS "${_T_PROCESSORS}")
  endif()
  if(_T_TIMEOUT)
    # ptxloom says where threads wait before CTest ends the test.
    math(EXPR seconds "${_T_TIMEOUT} * 4 / 5")
    if(seconds LESS 1)
      set(seconds 1)
    endif()
    list(APPEND environment "PTXLOOM_TIMEOUT=${seconds}s")
    set_tests_properties("${name}" PROPERTIES TIMEOUT "${_T_TIMEOUT}")
    if(NOT CMAKE_VERSION VERSION_LESS 3.27)
      set_tests_properties("${name}" PROPERTIES TIMEOUT_SIGNAL_NAME SIGINT)
    endif()
  endif()
  set(labels ptxloom ${_T_LABELS})
  if(_ptxloom_device)
    list(APPEND labels "ptxloom-${_ptxloom_device}")
  endif()
  set_tests_properties("${name}" PROPERTIES ENVIRONMENT "${environment}" LABELS "${labels}")
endfunction()

# ptxloom_add_test(NAME name COMMAND target|program [argument...]
#                  [DEVICES t4 h100 ...] [SEEDS n] [CHECK mem race ...] [EXPLORE n] [COVERAGE]
#                  [MEMORY 2G] [TIMEOUT seconds] [PROCESSORS n] [LABELS label...])
#
# Adds the test NAME, or one named NAME.DEVICE for each device; beside each, NAME.seedK for SEEDS
# further orders of the kernels' threads (default 2; 0 for none), and NAME.explore, which looks for
# an order that fails among as many as EXPLORE says.
function(ptxloom_add_test)
  cmake_parse_arguments(_T "COVERAGE" "NAME;SEEDS;EXPLORE;MEMORY;TIMEOUT;PROCESSORS"
    "COMMAND;DEVICES;CHECK;LABELS" ${ARGN})
  if(NOT _T_NAME OR NOT _T_COMMAND)
    message(FATAL_ERROR "ptxloom_add_test: NAME and COMMAND are needed")
  endif()
  if(_T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ptxloom_add_test(${_T_NAME}): unknown words: ${_T_UNPARSED_ARGUMENTS}")
  endif()
  foreach(number SEEDS EXPLORE TIMEOUT PROCESSORS)
    if(DEFINED _T_${number} AND NOT _T_${number} MATCHES "^[0-9]+$")
      message(FATAL_ERROR
        "ptxloom_add_test(${_T_NAME}): ${number} is a number, not '${_T_${number}}'")
    endif()
  endforeach()
  if(NOT DEFINED _T_SEEDS)
    set(_T_SEEDS 2)
  endif()
  if(NOT _T_DEVICES)
    set(_T_DEVICES ${PTXLOOM_DEVICES})
  endif()
  if(NOT _T_DEVICES)
    set(_T_DEVICES default)
  endif()
  foreach(device ${_T_DEVICES})
    set(name "${_T_NAME}")
    set(words run)
    set(_ptxloom_device "")
    set(of_device)
    if(NOT device STREQUAL default)
      string(APPEND name ".${device}")
      set(of_device -d "${device}")
      set(_ptxloom_device "${device}")
    endif()
    if(_T_CHECK)
      list(JOIN _T_CHECK "," checks)
      list(APPEND words "--check=${checks}")
    endif()
    _ptxloom_one_test("${name}" 0 ${words} ${of_device})
    if(_T_SEEDS GREATER 0)
      foreach(seed RANGE 1 ${_T_SEEDS})
        _ptxloom_one_test("${name}.seed${seed}" ${seed} ${words} ${of_device})
      endforeach()
    endif()
    if(_T_EXPLORE)
      _ptxloom_one_test("${name}.explore" 0 explore -n ${_T_EXPLORE} ${of_device})
    endif()
  endforeach()
  if(_T_COVERAGE AND NOT TARGET ptxloom-coverage)
    add_custom_target(ptxloom-coverage
      COMMAND "${PTXLOOM_COMMAND}" coverage report --root "${CMAKE_SOURCE_DIR}" --lcov
        -o "${CMAKE_BINARY_DIR}/ptxloom-coverage.info" "${PTXLOOM_COVERAGE_DIR}"
      COMMAND "${PTXLOOM_COMMAND}" coverage report --root "${CMAKE_SOURCE_DIR}"
        "${PTXLOOM_COVERAGE_DIR}"
      COMMENT "Coverage of device code: ${CMAKE_BINARY_DIR}/ptxloom-coverage.info" VERBATIM)
  endif()
endfunction()
