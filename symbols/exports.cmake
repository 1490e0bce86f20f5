# What libortolan exports: exports.txt, the symbols.txt of the built-in providers, and versions.txt. All three hold one
# name a line; '#' begins a comment. One node of versions.txt is "of the plain names": it holds every exported name.

# Sets OUT to the names in a list file; with WITH text, to those whose line goes on with that text.
function(read_names out file)
  cmake_parse_arguments(arg "" "WITH" "" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[A-Za-z]")
  set(names "")
  foreach(line IN LISTS lines)
    if(NOT arg_WITH OR line MATCHES " ${arg_WITH}$")
      string(REGEX REPLACE "[ \t].*" "" line "${line}")
      list(APPEND names ${line})
    endif()
  endforeach()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Sets OUT to every exported name.
function(read_exports out)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  read_names(names ${here}/exports.txt)
  read_names(cpu_names ${here}/../providers/cpu/symbols.txt)
  set(${out} ${names} ${cpu_names} PARENT_SCOPE)
endfunction()

# Sets OUT_PLAIN to the version node of the plain names, and OUT_OTHERS to all others.
function(read_versions out_plain out_others)
  set(versions ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/versions.txt)
  read_names(plain ${versions} WITH "of the plain names")
  read_names(others ${versions})
  list(REMOVE_ITEM others ${plain})
  set(${out_plain} ${plain} PARENT_SCOPE)
  set(${out_others} ${others} PARENT_SCOPE)
endfunction()

# write_version_script(OUT_SCRIPT OUT_ALIASES): the linker script with one node per version, that of the plain names
# holding every exported name; and the list ORTOLAN_ALIAS(name, version, suffix) of names that other nodes offer as well.
function(write_version_script out_script out_aliases)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  read_exports(names)
  read_names(every ${here}/exports.txt WITH "in every version")
  read_names(every_cpu ${here}/../providers/cpu/symbols.txt WITH "in every version")
  read_versions(plain versions)
  set(script "")
  set(aliases "")
  foreach(version IN LISTS versions)
    string(APPEND script "${version} {};\n")
    string(REPLACE "." "_" suffix ${version})
    foreach(name IN LISTS every every_cpu)
      string(APPEND aliases "ORTOLAN_ALIAS(${name}, \"${version}\", ${suffix})\n")
    endforeach()
  endforeach()
  list(JOIN names ";\n    " names)
  string(APPEND script "${plain} {\n  global:\n    ${names};\n  local:\n    *;\n};\n")
  file(CONFIGURE OUTPUT ${out_script} CONTENT "${script}" @ONLY)
  file(CONFIGURE OUTPUT ${out_aliases} CONTENT "${aliases}" @ONLY)
endfunction()

# write_version_nodes(OUT_SCRIPT): the linker script of a library that has the version nodes, and no name.
function(write_version_nodes out_script)
  read_names(versions ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/versions.txt)
  list(POP_BACK versions newest)
  list(JOIN versions " {};\n" script)
  file(CONFIGURE OUTPUT ${out_script} CONTENT "${script} {};\n${newest} { local: *; };\n" @ONLY)
endfunction()
