# Makes every name of OBJECT local, apart from those in the list NAMES; with the programs NM and OBJCOPY. Unique names
# (of inline variables and of variables in inline functions) first become weak ones, because objcopy cannot make them
# local as they are.
execute_process(COMMAND ${NM} --defined-only --format=posix ${OBJECT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n ]+ u [^\n]*" unique "${symbols}")
list(TRANSFORM unique REPLACE " .*" "")
list(JOIN unique "\n" unique)
file(WRITE ${OBJECT}.unique "${unique}\n")
execute_process(COMMAND ${OBJCOPY} --weaken-symbols=${OBJECT}.unique ${OBJECT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} --keep-global-symbols=${NAMES} ${OBJECT} COMMAND_ERROR_IS_FATAL ANY)
