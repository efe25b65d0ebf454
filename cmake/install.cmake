# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: command, library, headers, and the two ways to find them. All
# paths are relative to what they lie in, so that an installed tree may be moved.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
cmake_path(SET pc_to_prefix NORMALIZE /prefix)
cmake_path(RELATIVE_PATH pc_to_prefix BASE_DIRECTORY /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set_target_properties(sextant_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

install(TARGETS sextant_cli)
install(TARGETS sextant EXPORT sextant INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/sextant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES LICENSE NEWS.md README.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_file(cmake/sextant.pc.in sextant.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sextant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
install(EXPORT sextant NAMESPACE sextant:: FILE sextantConfig.cmake DESTINATION ${package})
write_basic_package_version_file(sextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sextantConfigVersion.cmake DESTINATION ${package})

set(completion ${PROJECT_BINARY_DIR}/completion.bash)
add_custom_command(OUTPUT ${completion} DEPENDS sextant_cli COMMAND sextant_cli --completion > ${completion})
add_custom_target(completion ALL DEPENDS ${completion})
install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sextant)

# All that is installed and nothing that only tests need.
add_custom_target(product DEPENDS sextant_cli completion)
foreach(optional man python sextant_cuda sextant_mpi)
  if(TARGET ${optional})
    add_dependencies(product ${optional})
  endif()
endforeach()
