# OpenBLAS multiplies for processors without kernels of their own here; tests compare with it wherever it is. ORTOLAN_BLAS
# is a target where it was found.
if(ORTOLAN_ARCHITECTURE STREQUAL generic)
  option(ORTOLAN_OPENBLAS "Products of fp32 and fp64 by OpenBLAS; OFF: by plain loops" ON)
else()
  set(ORTOLAN_OPENBLAS OFF)  # the kernels here are faster
endif()
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread openblas-serial)
find_path(OPENBLAS_HEADERS openblas_config.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread
                                                           ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial openblas)
if(OPENBLAS_LIBRARY AND OPENBLAS_HEADERS)
  add_library(ORTOLAN_BLAS INTERFACE)
  target_include_directories(ORTOLAN_BLAS SYSTEM INTERFACE ${OPENBLAS_HEADERS})
  target_link_libraries(ORTOLAN_BLAS INTERFACE ${OPENBLAS_LIBRARY})
elseif(ORTOLAN_OPENBLAS)
  message(FATAL_ERROR "OpenBLAS is missing, which multiplies matrices on ${CMAKE_SYSTEM_PROCESSOR}. Install libopenblas-dev, "
                      "or configure with -DORTOLAN_OPENBLAS=OFF for plain loops")
endif()
