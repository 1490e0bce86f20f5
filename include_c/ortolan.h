/** The flat C interface of Ortolan: the everyday path as plain functions, usable beside onnxruntime_c_api.h. */
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One slot of a function table, as OrtApiCoverage lists it. Strings live as long as the library. */
typedef struct OrtApiSlot {
  const char* table; /**< "OrtApi", "OrtEpApi", … */
  const char* name;
  const char* since; /**< the release that added the slot, as "1.20" */
  uint32_t slot;     /**< position in its table, from 0 */
  int implemented;   /**< 0: calling it gives ORT_NOT_IMPLEMENTED, or zero where it returns no status */
} OrtApiSlot;

/** Every slot of every function table, in table and slot order; `count` receives their number. */
ORT_EXPORT const OrtApiSlot* ORT_API_CALL OrtApiCoverage(_Out_ size_t* count) NO_EXCEPTION;

#ifdef __cplusplus
}
#endif
