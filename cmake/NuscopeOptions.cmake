# Flags, warnings and the helpers that every folder uses. All of them live in the interface target nuscope-options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(NUSCOPE_WERROR "Treat warnings as errors" ON)
option(NUSCOPE_EXPLORER "Build the Qt explorer" ON)

add_library(nuscope-options INTERFACE)
target_include_directories(nuscope-options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(nuscope-options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(NUSCOPE_WERROR)
  target_compile_options(nuscope-options INTERFACE -Werror)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  add_compile_options(-fpch-preprocess)
endif()
find_program(LLD ld.lld)
if(LLD)
  add_link_options(-fuse-ld=lld)
endif()

# One precompiled header of standard headers, shared by all libraries without Qt.
file(WRITE ${CMAKE_BINARY_DIR}/pch/empty.cpp "")
add_library(nuscope-pch STATIC ${CMAKE_BINARY_DIR}/pch/empty.cpp)
target_link_libraries(nuscope-pch PRIVATE nuscope-options)
target_precompile_headers(nuscope-pch PRIVATE <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <functional>
  <gmpxx.h> <map> <memory> <mutex> <optional> <set> <span> <stdexcept> <string> <string_view> <thread>
  <unordered_map> <unordered_set> <utility> <variant> <vector>)

# nuscope_library(NAME SOURCES... [DEPENDS targets...]): a static library of the core.
function(nuscope_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC nuscope-options ${ARG_DEPENDS})
  target_precompile_headers(${name} REUSE_FROM nuscope-pch)
endfunction()

# nuscope_test(NAME SOURCES... DEPENDS targets... [LABELS labels...]): one GoogleTest binary, one ctest entry.
# Tests find data by NUSCOPE_SOURCE_DIR; cases beside the project by NUSCOPE_SHARED_DIR.
function(nuscope_test name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nuscope-options ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE NUSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    NUSCOPE_BINARY_DIR="${CMAKE_BINARY_DIR}" NUSCOPE_SHARED_DIR="${CMAKE_SOURCE_DIR}/../shared")
  target_precompile_headers(${name} REUSE_FROM nuscope-test-pch)
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
