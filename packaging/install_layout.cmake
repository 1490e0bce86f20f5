# Where an installation keeps what; included at the top, so that every folder may install its own parts. Components:
# runtime (the library), dev, tools, compat (the names of ONNX Runtime's library), plugins (provider libraries), images
# (the module for ImageDecoder), and one a language.
include(GNUInstallDirs)

# Provider libraries live in a folder of their own below the library's, named after its ABI: the library and the
# programs look there and beside the library.
set(ORTOLAN_PROVIDER_FOLDER ortolan-1/providers)
# Parts of the runtime that it loads when a model needs them.
set(ORTOLAN_MODULE_FOLDER ortolan-1/modules)
# Other names of libonnxruntime.so.1, by the releases that programs were linked with: Debian's, and SynapseML's.
set(ORTOLAN_COMPAT_LINKS libonnxruntime.so.1.8.1 libonnxruntime.so.1.21 libonnxruntime.so.1.23)
set(ORTOLAN_HEADER_FOLDER ${CMAKE_INSTALL_INCLUDEDIR}/onnxruntime)

# install_headers(COMPONENT FILES...): public headers, once under include/onnxruntime, where programs for ONNX Runtime
# look for them, and as links under include itself.
function(install_headers component)
  set(links ${CMAKE_CURRENT_BINARY_DIR}/header_links)
  file(MAKE_DIRECTORY ${links})
  foreach(header ${ARGN})
    cmake_path(GET header FILENAME name)
    file(CREATE_LINK onnxruntime/${name} ${links}/${name} SYMBOLIC)
    install(FILES ${links}/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component})
  endforeach()
  install(FILES ${ARGN} DESTINATION ${ORTOLAN_HEADER_FOLDER} COMPONENT ${component})
endfunction()
