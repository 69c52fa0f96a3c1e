# find_package(tickwire) for C and C++17: the target tickwire::tickwire, or tickwire::static with all of it in the program,
# and tickwire_generate(), which makes C++ of IDL.

get_filename_component(_tickwire_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_tickwire_include "${_tickwire_prefix}/include" "${_tickwire_prefix}/include/tickwire-cpp")

if(NOT TARGET tickwire::tickwire)
  add_library(tickwire::tickwire SHARED IMPORTED)
  set_target_properties(tickwire::tickwire PROPERTIES
    IMPORTED_LOCATION "${_tickwire_prefix}/lib/libtickwire.so"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_tickwire_include}")
  add_library(tickwire::static STATIC IMPORTED)
  set_target_properties(tickwire::static PROPERTIES
    IMPORTED_LOCATION "${_tickwire_prefix}/lib/libtickwire.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_tickwire_include}"
    INTERFACE_LINK_LIBRARIES "gcc_s;pthread;m;dl;c")
endif()

# tickwire_generate(TARGET FILE.idl...) makes FILE.hpp of each, by the program `tickwire` (TICKWIRE_EXECUTABLE), before
# TARGET is compiled, where its #include "FILE.hpp" finds it.
function(tickwire_generate target)
  find_program(TICKWIRE_EXECUTABLE tickwire HINTS "${_tickwire_prefix}/bin" REQUIRED)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${target}-idl")
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME_WE)
    add_custom_command(
      OUTPUT "${directory}/${name}.hpp"
      COMMAND "${TICKWIRE_EXECUTABLE}" idl gen --lang cpp "${path}" --out "${directory}"
      DEPENDS "${path}"
      COMMENT "C++ of ${file}"
      VERBATIM)
    target_sources("${target}" PRIVATE "${directory}/${name}.hpp")
  endforeach()
  target_include_directories("${target}" PRIVATE "${directory}")
endfunction()
