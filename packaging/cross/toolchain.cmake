# Debian's cross compilers for ORTOLAN_CROSS (aarch64, riscv64), libraries from the root that fetch_root makes in the build
# folder, and qemu for what is run.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ORTOLAN_CROSS)
set(triplet ${ORTOLAN_CROSS}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${ORTOLAN_CROSS})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${ORTOLAN_CROSS};-L;/usr/${triplet})
if(ORTOLAN_CROSS STREQUAL riscv64)  # its libraries are of a later Debian, and so is what they need themselves
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${ORTOLAN_CROSS};-L;${CMAKE_BINARY_DIR}/root)
  add_link_options(-Wl,--allow-shlib-undefined)
endif()

# Programs and headers may be this machine's; libraries may not.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(PKG_CONFIG_EXECUTABLE false)
