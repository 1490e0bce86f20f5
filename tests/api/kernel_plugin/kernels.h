// The kernels of the plugin.
#pragma once

#include "onnxruntime_c_api.h"

namespace kernel_plugin {

/** Adds them all. */
OrtStatus* add_kernels(OrtKernelRegistry* registry);

}  // namespace kernel_plugin
