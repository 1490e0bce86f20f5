/** C++17 interface of ONNX Runtime, API level 30, as Ortolan provides it: header only, over the function table of
 *  onnxruntime_c_api.h.
 *
 *  What holds for every class of namespace Ort unless its comment says otherwise:
 *  - An object owns one C object and releases it at the end. It can be moved, not copied; moved from, or made from
 *    nullptr, it holds nothing and may only be assigned to. Classes whose names begin with Const or Unowned borrow
 *    instead, and live as long as what they were asked from.
 *  - An object turns into the pointer of its C object, so that any C function takes it.
 *  - Functions that fail throw Ort::Exception with the code and the text of the status. With ORT_NO_EXCEPTIONS they
 *    write the text to stderr and abort.
 *  - Env and Session, and what is borrowed from them, may be used from several threads at once; any other object from
 *    one thread at a time.
 *  - Strings are UTF-8.
 *
 *  With ORT_API_MANUAL_INIT, nothing is called before the program calls Ort::InitApi; libraries that are not linked
 *  with the runtime, as those of custom operators, need that.
 */
#pragma once

#include "onnxruntime_cxx_attributes.h"
#include "onnxruntime_cxx_base.h"
#include "onnxruntime_cxx_compile.h"
#include "onnxruntime_cxx_custom_op.h"
#include "onnxruntime_cxx_devices.h"
#include "onnxruntime_cxx_environment.h"
#include "onnxruntime_cxx_graph.h"
#include "onnxruntime_cxx_kernels.h"
#include "onnxruntime_cxx_numbers.h"
#include "onnxruntime_cxx_operators.h"
#include "onnxruntime_cxx_options.h"
#include "onnxruntime_cxx_session.h"
#include "onnxruntime_cxx_types.h"
#include "onnxruntime_cxx_values.h"
