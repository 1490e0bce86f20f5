# What libortolan exports: exports.txt, the symbols.txt of the built-in providers, and versions.txt. All three hold one
# name a line; '#' begins a comment.

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

# Sets OUT_RELEASE to the version node of this release, which is the default of the names "in every version", and OUT_FLAT
# to that of the flat API's names, which stay where they first stood: a program linked with any release finds them.
function(read_versions out_release out_flat)
  set(versions ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/versions.txt)
  read_names(release ${versions} WITH "of this release")
  read_names(flat ${versions} WITH "of the flat API")
  set(${out_release} ${release} PARENT_SCOPE)
  set(${out_flat} ${flat} PARENT_SCOPE)
endfunction()

# Sets OUT to the names that stand under every version node.
function(read_names_of_every_version out)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  read_names(every ${here}/exports.txt WITH "in every version")
  read_names(every_cpu ${here}/../providers/cpu/symbols.txt WITH "in every version")
  set(${out} ${every} ${every_cpu} PARENT_SCOPE)
endfunction()

# Sets OUT to the exported names that NODE is the default of.
function(read_names_of_node out node)
  read_versions(release flat)
  read_names_of_every_version(every)
  read_names(names ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.txt WITH "since ${node}")
  if(node STREQUAL release)
    list(APPEND names ${every})
  endif()
  if(node STREQUAL flat)
    read_exports(first)
    read_names(later ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.txt WITH "since VERS_[0-9.]+")
    list(REMOVE_ITEM first ${every} ${later})
    list(APPEND names ${first})
  endif()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# write_version_script(OUT_SCRIPT OUT_ALIASES): the linker script with one node per version and the names that it is the
# default of; and the list ORTOLAN_ALIAS(name, version, suffix) of names that a node offers as well.
function(write_version_script out_script out_aliases)
  read_names(versions ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/versions.txt)
  read_versions(release flat)
  read_names_of_every_version(every)
  set(script "")
  set(aliases "")
  foreach(version IN LISTS versions)
    read_names_of_node(names ${version})
    list(JOIN names "; " names)
    string(REGEX REPLACE "(.+)" " global: \\1; " names "${names}")
    if(version STREQUAL release)
      string(APPEND names "local: *; ")
    endif()
    string(APPEND script "${version} {${names}};\n")
    string(REPLACE "." "_" suffix ${version})
    if(NOT version STREQUAL release)
      list(TRANSFORM every REPLACE "(.+)" "ORTOLAN_ALIAS(\\1, \"${version}\", ${suffix})\n" OUTPUT_VARIABLE lines)
      string(APPEND aliases ${lines})
    endif()
  endforeach()
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
