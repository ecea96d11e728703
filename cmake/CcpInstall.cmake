# `cmake --install`: program, libraries, headers, and what the program reads, so that
# find_package(ccpbench) gives ccp::problems, ccp::solvers, ccp::harness and ccp::app (the program
# without its main).
#
#     PREFIX/bin/ccpbench, lib/libccp_*.a, lib/cmake/ccpbench
#     PREFIX/include/ccpbench/{problems,solvers,harness}   as in the source tree
#     PREFIX/share/ccpbench/{problems/data,harness/studies,scripts}
#     PREFIX/share/man/man1/ccpbench.1, share/bash-completion/completions/ccpbench,
#     share/zsh/site-functions/_ccpbench, share/fish/vendor_completions.d/ccpbench.fish
include(CMakePackageConfigHelpers)

foreach(name IN ITEMS build trilinos problems solvers harness app)
  set_target_properties(ccp_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ccp_build ccp_trilinos ccp_problems ccp_solvers ccp_harness ccp_app ccpbench
  EXPORT ccpbenchTargets)
set(_ccp_package ${CMAKE_INSTALL_LIBDIR}/cmake/ccpbench)
install(EXPORT ccpbenchTargets NAMESPACE ccp:: DESTINATION ${_ccp_package})
configure_package_config_file(cmake/ccpbenchConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/ccpbenchConfig.cmake INSTALL_DESTINATION ${_ccp_package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ccpbenchConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ccpbenchConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/ccpbenchConfigVersion.cmake cmake/FindCHOLMOD.cmake
  DESTINATION ${_ccp_package})

foreach(folder IN ITEMS problems solvers harness)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ccpbench
    FILES_MATCHING PATTERN "*.hpp" PATTERN data EXCLUDE PATTERN studies EXCLUDE PATTERN micro EXCLUDE)
endforeach()
set(_ccp_share ${CMAKE_INSTALL_DATADIR}/ccpbench)
install(DIRECTORY problems/data DESTINATION ${_ccp_share}/problems)
install(DIRECTORY harness/studies DESTINATION ${_ccp_share}/harness)
install(DIRECTORY scripts DESTINATION ${_ccp_share} USE_SOURCE_PERMISSIONS
  PATTERN "__pycache__" EXCLUDE PATTERN "*.egg-info" EXCLUDE PATTERN "python/build" EXCLUDE
  PATTERN "*.sh" EXCLUDE PATTERN "packages.txt" EXCLUDE
  PATTERN "quickstart" EXCLUDE PATTERN "test" EXCLUDE PATTERN "freeze-problems" EXCLUDE
  PATTERN "check" EXCLUDE PATTERN "checks" EXCLUDE)
install(FILES LICENSE CITATION.cff CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(NOT CCP_BACKEND STREQUAL "cuda")  # see harness/CMakeLists.txt
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/harness/ccpbench.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/harness/ccpbench.bash RENAME ccpbench
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/harness/ccpbench.zsh RENAME _ccpbench
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/harness/ccpbench.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
