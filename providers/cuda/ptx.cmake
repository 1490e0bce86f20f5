# cmake -DKERNEL=... -DDIALECT=... -DFIXED=... -DTARGET=... -DCOMPILER=... -DOUTPUT=... -P ptx.cmake: compiles a kernel text
# to PTX of compute capability TARGET by clang. Constants have the values that FIXED says (NAME=value, between commas); all
# others stand in OUTPUT as <NAME>, where the library puts their values when it loads the kernel.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../gpu/kernels/expand.cmake)
expand(${KERNEL} "" text seen)
string(REGEX MATCHALL "K_CONST\\([ 0-9]+,[ ]*[A-Z0-9_]+" names "${text}")
list(TRANSFORM names REPLACE ".*,[ ]*" "")
list(APPEND names WGX WGY FOLDED)
string(REPLACE "," ";" fixed "${FIXED}")
set(constants "")
foreach(one ${fixed})
  string(REGEX MATCH "^(.*)=(.*)$" all ${one})
  list(REMOVE_ITEM names ${CMAKE_MATCH_1})
  string(APPEND constants "#define ${CMAKE_MATCH_1} ${CMAKE_MATCH_2}\n")
endforeach()
foreach(name ${names})
  string(APPEND constants "static __device__ __forceinline__ int k_${name}() {\n  int value;\n"
                          "  asm(\"mov.b32 %0, <${name}>;\" : \"=r\"(value));\n  return value;\n}\n#define ${name} k_${name}()\n")
endforeach()
file(READ ${CMAKE_CURRENT_LIST_DIR}/ptx_prelude.h prelude)
file(READ ${CMAKE_CURRENT_LIST_DIR}/ptx_pow.h pow)
file(READ ${DIALECT} dialect)
file(WRITE ${OUTPUT}.cu "#define K_TEMPLATE 1\n#define K_VW 4\n#define __CUDA_ARCH__ ${TARGET}0\n"
                        "${prelude}${pow}${constants}${dialect}${text}")
execute_process(COMMAND ${COMPILER} -x cuda --cuda-device-only --cuda-gpu-arch=sm_${TARGET} -nocudainc -nocudalib -Xclang
                        -target-feature -Xclang +ptx70 -std=c++17 -fdeclspec -O3 -w -S ${OUTPUT}.cu -o ${OUTPUT}
                RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${KERNEL} does not compile to PTX, with ${FIXED} fixed:\n${said}")
endif()
file(REMOVE ${OUTPUT}.cu)
