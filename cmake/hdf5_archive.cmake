# SPDX-License-Identifier: Apache-2.0
# HDF5 as an archive, for libsextant alone: the shared library of Debian brings a driver for files in the
# cloud along, and that 30 libraries, which a command that starts pays for (docs/decisions/0011). Makes
# sextant_hdf5_archive where the archive can be part of a shared library.
option(SEXTANT_HDF5_ARCHIVE "Link HDF5 into libsextant where its archive allows that" ON)

find_library(HDF5_ARCHIVE NAMES libhdf5_serial.a libhdf5.a HINTS ${HDF5_LIBRARY_DIRS})
find_library(HDF5_HL_ARCHIVE NAMES libhdf5_serial_hl.a libhdf5_hl.a HINTS ${HDF5_LIBRARY_DIRS})
mark_as_advanced(HDF5_ARCHIVE HDF5_HL_ARCHIVE)
# The archive is compiled for programs, so it takes stdin, stdout and stderr for variables of the program: the
# library gives it some (src/io/hdf5/h5_streams.c).
set(hdf5_archive_options -Wl,--wrap=stdin,--wrap=stdout,--wrap=stderr)
set(hdf5_archive_libraries ${HDF5_HL_ARCHIVE} ${HDF5_ARCHIVE} sz z dl m)

if(SEXTANT_HDF5_ARCHIVE AND HDF5_ARCHIVE AND HDF5_HL_ARCHIVE)
  if(NOT SEXTANT_HDF5_ARCHIVE_TRIED STREQUAL HDF5_ARCHIVE)
    file(WRITE ${PROJECT_BINARY_DIR}/hdf5_archive/probe.c "#include <hdf5.h>
#include <hdf5_hl.h>
int probe(void); int probe(void) { return (int)H5Fopen(\"\", 0, H5P_DEFAULT) + (int)H5DSis_scale(0); }\n")
    list(TRANSFORM HDF5_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
    list(TRANSFORM hdf5_archive_libraries REPLACE "^([a-z]+)$" "-l\\1" OUTPUT_VARIABLE libraries)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -fPIC -fvisibility=hidden -shared ${includes} ${hdf5_archive_options}
      -Wl,-z,defs,--exclude-libs,ALL -o ${PROJECT_BINARY_DIR}/hdf5_archive/probe.so
      ${PROJECT_BINARY_DIR}/hdf5_archive/probe.c ${PROJECT_SOURCE_DIR}/src/io/hdf5/h5_streams.c ${libraries}
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_FILE ${PROJECT_BINARY_DIR}/hdf5_archive/said.txt)
    if(status EQUAL 0)
      set(SEXTANT_HDF5_ARCHIVE_LINKS ON CACHE INTERNAL "")
    else()
      set(SEXTANT_HDF5_ARCHIVE_LINKS OFF CACHE INTERNAL "")
    endif()
    set(SEXTANT_HDF5_ARCHIVE_TRIED ${HDF5_ARCHIVE} CACHE INTERNAL "")
  endif()
  if(SEXTANT_HDF5_ARCHIVE_LINKS)
    add_library(sextant_hdf5_archive INTERFACE)
    target_link_libraries(sextant_hdf5_archive INTERFACE ${hdf5_archive_libraries})
    target_link_options(sextant_hdf5_archive INTERFACE ${hdf5_archive_options})
  endif()
endif()
if(NOT TARGET sextant_hdf5_archive)
  message(STATUS "libsextant loads ${HDF5_LINK_LIBRARIES}, with all that it needs")
endif()
