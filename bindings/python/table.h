/* The library's function table, for what has no exported function of its own. */
#pragma once

#include <ortolan.h>

static inline const OrtApi* api_table(void) { return OrtGetApiBase()->GetApi(ORT_API_VERSION); }
