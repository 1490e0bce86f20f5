/** Error codes of a status; part of onnxruntime_c_api.h, and usable alone. */
#pragma once

/** What went wrong. */
typedef enum OrtErrorCode {
  ORT_OK = 0, /**< success */
  ORT_FAIL = 1,
  ORT_INVALID_ARGUMENT = 2,
  ORT_NO_SUCHFILE = 3, /**< a file is missing */
  ORT_NO_MODEL = 4,
  ORT_ENGINE_ERROR = 5,
  ORT_RUNTIME_EXCEPTION = 6,
  ORT_INVALID_PROTOBUF = 7, /**< the bytes are no model */
  ORT_MODEL_LOADED = 8,
  ORT_NOT_IMPLEMENTED = 9,             /**< this library lacks the function or operator */
  ORT_INVALID_GRAPH = 10,              /**< the model contradicts itself */
  ORT_EP_FAIL = 11,                    /**< an execution provider failed */
  ORT_MODEL_LOAD_CANCELED = 12,        /**< SessionOptionsSetLoadCancellationFlag */
  ORT_MODEL_REQUIRES_COMPILATION = 13, /**< session.disable_model_compile */
  ORT_NOT_FOUND = 14,
  ORT_DEVICE_RESET = 15, /**< a device lost its state */
} OrtErrorCode;
