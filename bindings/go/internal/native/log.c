/* From the library's log function to the one that Go exports. */
#include "log.h"

#include <stdint.h>

#include "_cgo_export.h"

void ORT_API_CALL ortolan_log_to_go(void* sink, OrtLoggingLevel severity, const char* category, const char* log_id,
                                    const char* location, const char* message) {
  ortolanLogLine((uintptr_t)sink, (int)severity, (char*)category, (char*)log_id, (char*)location, (char*)message);
}
