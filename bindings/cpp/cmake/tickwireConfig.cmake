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

# tickwire_generate(TARGET FILE.idl... [INCLUDE DIRECTORY...]) makes FILE.hpp of each, by the program `tickwire`
# (TICKWIRE_EXECUTABLE), before TARGET is compiled, where its #include "FILE.hpp" finds it. Included files are looked for in
# these directories, too. What the files and those that they include have is defined once: the header of the first has all,
# and those of the others include that. So all files of a program that share types belong into one call.
function(tickwire_generate target)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "" "INCLUDE")
  find_program(TICKWIRE_EXECUTABLE tickwire HINTS "${_tickwire_prefix}/bin" REQUIRED)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${target}-idl")
  set(paths "")
  set(headers "")
  set(folders "")
  set(options "")
  foreach(folder IN LISTS given_INCLUDE)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND options -I "${folder}")
    list(APPEND folders "${folder}/*.idl")
  endforeach()
  foreach(file IN LISTS given_UNPARSED_ARGUMENTS)
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(folder "${path}" DIRECTORY)
    get_filename_component(name "${file}" NAME_WLE)
    set(header "${directory}/${name}.hpp")
    if(header IN_LIST headers)
      message(FATAL_ERROR "tickwire_generate(${target}): two files would become ${name}.hpp; rename one")
    endif()
    if(headers)
      file(GENERATE OUTPUT "${header}" CONTENT "#include \"${first}.hpp\"\n")
    else()
      set(first "${name}")
    endif()
    list(APPEND paths "${path}")
    list(APPEND headers "${header}")
    list(APPEND folders "${folder}/*.idl")
  endforeach()
  # Any of these may be included.
  file(GLOB includable CONFIGURE_DEPENDS ${folders})
  add_custom_command(
    OUTPUT "${directory}/${first}.hpp"
    COMMAND "${TICKWIRE_EXECUTABLE}" idl gen --lang cpp ${paths} ${options} --out "${directory}"
    DEPENDS ${paths} ${includable}
    COMMENT "C++ of IDL for ${target}"
    VERBATIM)
  target_sources("${target}" PRIVATE ${headers})
  target_include_directories("${target}" PRIVATE "${directory}")
endfunction()
