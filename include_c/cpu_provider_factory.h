/** The name under which older programs include OrtSessionOptionsAppendExecutionProvider_CPU. */
#pragma once

#include "onnxruntime_c_api.h"
