/** What plugin libraries of execution providers may export for Ortolan, beside the two functions that
 *  onnxruntime_ep_c_api.h names. All of it is optional and is looked up by name; ONNX Runtime does not notice it, so
 * that one library serves both.
 */
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The function GetEpRefusalReason of a plugin library: why the provider did not take a node, as a sentence for people
 *  ("input 0 is double; supported: float, float16"). It is asked right after the provider's GetCapability has
 * succeeded, on the same thread, about nodes of the same OrtGraph that the provider could have taken. NULL or "": there
 * is nothing to say. The text must stay until the provider's next function is called. */
typedef const char*(ORT_API_CALL* GetEpRefusalReasonFn)(_In_ const OrtEp* ep, _In_ const OrtNode* node);

#ifdef __cplusplus
}
#endif
