# SPDX-License-Identifier: Apache-2.0
# Debian 12 names; tools/setup.sh installs them. hdf5-serial is asked for by name: an installed MPI
# build silently takes over "hdf5".
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
# Dimension scales; Debian has no pkg-config file for this part of HDF5.
find_library(HDF5_HL NAMES hdf5_serial_hl hdf5_hl HINTS ${HDF5_LIBRARY_DIRS} REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(CODECS REQUIRED IMPORTED_TARGET libdeflate liblz4 libzstd blosc)
# Only their headers: crystal.yaml and space groups load them when they are needed.
find_path(CYAML_INCLUDE cyaml/cyaml.h REQUIRED)
find_path(SPGLIB_INCLUDE spglib.h REQUIRED)
# For several ranks; without it there is one.
find_package(MPI COMPONENTS C)
find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)

# The tests need Check; who only wants the command need not have it.
include(CTest)
if(BUILD_TESTING)
  pkg_check_modules(CHECK IMPORTED_TARGET check)
  if(NOT CHECK_FOUND)
    message(STATUS "Tests are not built: tools/setup.sh test installs what they need")
    set(BUILD_TESTING OFF)
  endif()
endif()
