# Writes an example of the page PAGE to OUTPUT: the code block whose first line holds the words "example: EXAMPLE", in
# whatever way its language writes comments.
file(READ ${PAGE} text)
string(REGEX REPLACE "([][.*+?()|^$\\\\])" "\\\\\\1" pattern "${EXAMPLE}")
string(REGEX MATCH "\n```[a-z+#]*\n[^\n]*example: ${pattern}[^\n]*\n" first_line "${text}")
if(NOT first_line)
  message(FATAL_ERROR "${PAGE} has no example ${EXAMPLE}")
endif()
string(FIND "${text}" "${first_line}" fence)
string(SUBSTRING "${text}" ${fence} -1 text)
string(REGEX REPLACE "^\n```[^\n]*\n" "" text "${text}")
string(FIND "${text}" "\n```" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE ${OUTPUT} "${text}\n")
