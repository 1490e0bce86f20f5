# provider_library(NAME): the plugin library libonnxruntime_ep_NAME.so of the sources in the folder NAME. It knows
# include_c only, exports what the folder's symbols.txt lists, and is not linked with the runtime: everything comes
# through the OrtApiBase that the library is given. SOURCES: instead of all in the folder; PARTS: object
# libraries that go in too; LIBRARIES: what it is linked with.
function(provider_library name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" "" "SOURCES;PARTS;LIBRARIES")
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  set(library onnxruntime_ep_${name})
  set(sources ${its_SOURCES})
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  endif()
  file(STRINGS ${folder}/symbols.txt exports REGEX "^[A-Za-z]")
  list(JOIN exports "; " exports)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${library}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${exports}; local: *; };\n" @ONLY)

  foreach(part ${its_PARTS})
    list(APPEND sources $<TARGET_OBJECTS:${part}>)
  endforeach()
  add_library(${library} MODULE ${sources})
  target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/include_c)
  if(its_PARTS)
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/providers)
  endif()
  target_link_libraries(${library} PRIVATE Threads::Threads ${its_LIBRARIES})
  # Drivers and threads may outlive the last session: the library is never unmapped.
  target_link_options(${library} PRIVATE -Wl,-z,nodelete -Wl,--version-script=${map})
  if(NOT ORTOLAN_SANITIZE)
    target_link_options(${library} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${library} PROPERTIES LINK_DEPENDS ${map})
  install(TARGETS ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${ORTOLAN_PROVIDER_FOLDER} COMPONENT plugins)
endfunction()
