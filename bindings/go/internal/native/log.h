/* The log function that the library is given: it hands lines to the Go object whose number is `sink`. */
#pragma once

#include <ortolan.h>

void ORT_API_CALL ortolan_log_to_go(void* sink, OrtLoggingLevel severity, const char* category, const char* log_id,
                                    const char* location, const char* message);
