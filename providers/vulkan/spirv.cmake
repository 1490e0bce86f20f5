# cmake -DKERNEL=... -DDIALECT=... -DSWITCHES=... -DCOMPILER=... -DARRAY=... -DOUTPUT=... -P spirv.cmake: compiles a kernel text
# with the switches, between commas, to SPIR-V: a header OUTPUT with the words as ARRAY.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../gpu/kernels/expand.cmake)
file(READ ${DIALECT} dialect)
expand(${KERNEL} "" text seen)
file(WRITE ${OUTPUT}.comp "${dialect}${text}")
string(REPLACE "," ";" SWITCHES "${SWITCHES}")
list(TRANSFORM SWITCHES PREPEND "-D")
execute_process(COMMAND ${COMPILER} -V --quiet -g0 --target-env vulkan1.1 -DK_VW=4 -DK_SMALL_TYPES=1 ${SWITCHES} --vn ${ARRAY}
                        ${OUTPUT}.comp -o ${OUTPUT}
                RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${KERNEL} does not compile as GLSL, with the switches ${SWITCHES}:\n${said}")
endif()
file(REMOVE ${OUTPUT}.comp)
