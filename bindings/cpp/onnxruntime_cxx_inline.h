// The name under which some programs include what onnxruntime_cxx_api.h holds.
#pragma once

#include "onnxruntime_cxx_api.h"
