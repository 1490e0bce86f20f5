# The page of operators is what the program writes: -DPROGRAM=ortolan -DPAGE=OPERATORS.md.
execute_process(COMMAND ${PROGRAM} operators --format markdown OUTPUT_VARIABLE written RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "ortolan operators failed")
endif()
file(READ ${PAGE} page)
if(NOT page STREQUAL written)
  message(FATAL_ERROR "src/ops/OPERATORS.md is stale: operators, versions or types changed; write it anew: ./dev operators")
endif()
