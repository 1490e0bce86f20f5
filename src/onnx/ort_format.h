// Models in ORT format, the FlatBuffer that ONNX Runtime saves models in.
#pragma once

#include <string>

#include "onnx/wire.h"

namespace ortolan::onnx {

/** Whether the bytes bear the mark of ORT format. */
bool is_ort_format(Bytes bytes);

/** The same model as a ModelProto. Initializers are copied. Nodes that an optimiser of ONNX Runtime has put into the
    model stay what they are. Throws kInvalidProtobuf for damaged bytes, kNotImplemented for what a ModelProto has in
    another way: sparse initializers and data in a second file. The result is to be distrusted like any file. */
std::string model_of_ort_format(Bytes bytes);

}  // namespace ortolan::onnx
