# SPDX-License-Identifier: Apache-2.0
# The three ways to add something (sextant_part, sextant_test, sextant_bench) and the flags they share.

set(SEXTANT_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion> # clang also means INFINITY and NAN, which are floats
    -Wundef -Wvla -Wwrite-strings -Wcast-qual -Wformat=2)
option(SEXTANT_WERROR "Treat warnings as errors" OFF)

# What a test finds in its environment: foreign data, our fixtures, the command; Check must not fork, and tests
# beside each other must not spin (docs/decisions/0012).
set(SEXTANT_TEST_ENVIRONMENT
    CK_FORK=no
    OMP_WAIT_POLICY=passive
    SEXTANT_DATA=${PROJECT_SOURCE_DIR}/../shared/data
    SEXTANT_FIXTURES=${PROJECT_SOURCE_DIR}/tests/fixtures
    SEXTANT=$<TARGET_FILE:sextant_cli>)

# Flags of every target. -ffp-contract=off: fused products are written out, so variants agree bit for bit.
function(sextant_configure target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
  target_compile_options(${target} PRIVATE ${SEXTANT_WARNINGS}
    $<$<BOOL:${SEXTANT_WERROR}>:-Werror> -ffp-contract=off -fno-math-errno)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# sextant_part(<files...>) adds sources of the current folder to the library.
function(sextant_part)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(sextant_objects PRIVATE ${ARGN})
endfunction()

# sextant_test(<name> [SLOW] [THREADS] [extra sources...]) builds <name>_test.c and registers it with ctest;
# one with THREADS also runs under ThreadSanitizer.
function(sextant_test name)
  if(BUILD_TESTING)
    cmake_parse_arguments(test "SLOW;THREADS" "" "" ${ARGN})
    add_executable(${name}_test ${name}_test.c ${test_UNPARSED_ARGUMENTS})
    sextant_configure(${name}_test)
    target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
    target_link_libraries(${name}_test PRIVATE sextant_objects PkgConfig::CHECK)
    sextant_test_command(${name} ${ARGN} COMMAND ${name}_test)
    if(test_THREADS)
      set_property(TEST ${name} APPEND PROPERTY LABELS threads)
      add_dependencies(threaded_tests ${name}_test)
    endif()
  endif()
endfunction()

# sextant_test_command(<name> [SLOW] COMMAND <command...>) registers any command as a test; a SLOW
# one is left out under the sanitizers.
function(sextant_test_command name)
  if(BUILD_TESTING)
    cmake_parse_arguments(test SLOW "" COMMAND ${ARGN})
    add_test(NAME ${name} COMMAND ${test_COMMAND})
    set_tests_properties(${name} PROPERTIES
      SKIP_RETURN_CODE 77 ENVIRONMENT "${SEXTANT_TEST_ENVIRONMENT}" LABELS "$<$<BOOL:${test_SLOW}>:slow>")
  endif()
endfunction()

# sextant_bench(<name> [extra sources...]) builds bench program <name>.c; it prints JSON lines.
function(sextant_bench name)
  add_executable(bench_${name} ${name}.c ${ARGN})
  set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  sextant_configure(bench_${name})
  target_link_libraries(bench_${name} PRIVATE sextant_objects)
endfunction()
