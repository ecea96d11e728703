# CHOLMOD of SuiteSparse, as CHOLMOD::CHOLMOD. Debian's SuiteSparse (5.12) has no CMake files.
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY cholmod)
if(CHOLMOD_INCLUDE_DIR AND EXISTS "${CHOLMOD_INCLUDE_DIR}/cholmod_core.h")
  file(STRINGS "${CHOLMOD_INCLUDE_DIR}/cholmod_core.h" _ccp_cholmod
    REGEX "#define CHOLMOD_(MAIN|SUB|SUBSUB)_VERSION [0-9]+")
  string(REGEX MATCHALL "[0-9]+" _ccp_cholmod "${_ccp_cholmod}")
  list(JOIN _ccp_cholmod "." CHOLMOD_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CHOLMOD
  REQUIRED_VARS CHOLMOD_LIBRARY CHOLMOD_INCLUDE_DIR
  VERSION_VAR CHOLMOD_VERSION)
if(CHOLMOD_FOUND AND NOT TARGET CHOLMOD::CHOLMOD)
  add_library(CHOLMOD::CHOLMOD UNKNOWN IMPORTED)
  set_target_properties(CHOLMOD::CHOLMOD PROPERTIES
    IMPORTED_LOCATION "${CHOLMOD_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CHOLMOD_INCLUDE_DIR}")
endif()
mark_as_advanced(CHOLMOD_INCLUDE_DIR CHOLMOD_LIBRARY)
