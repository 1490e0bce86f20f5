# write_operator_tables(OUT HEADER NAMESPACE TYPE FUNCTION SOURCES...): writes the C++ file that lists the row table of
# every operator file, so that adding an operator touches no list. A file <domain>/<name>.cc defines
# `extern const TYPE NAMESPACE::<domain>::<name>_rows`.
function(write_operator_tables out header namespace type function)
  set(declarations "")
  set(entries "")
  foreach(source ${ARGN})
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME domain)
    string(APPEND declarations "namespace ${namespace}::${domain} { extern const ${type} ${name}_rows; }\n")
    string(APPEND entries "    &${domain}::${name}_rows,\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} CONTENT "// Generated from the file names of the operators.
#include <span>

#include \"${header}\"

${declarations}
namespace ${namespace} {
std::span<const ${type}* const> ${function}() {
  static constexpr const ${type}* kTables[] = {
${entries}    nullptr};
  return std::span(kTables, std::size(kTables) - 1);
}
}  // namespace ${namespace}
" @ONLY)
endfunction()

# write_text_literal(OUT FILE): writes a text file as a string literal of C++.
function(write_text_literal out file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  file(CONFIGURE OUTPUT ${out} CONTENT "R\"text(${text})text\"\n" @ONLY)
endfunction()
