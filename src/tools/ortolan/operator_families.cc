// Families of operators by what their names hold, as the names of all libraries' fused operators do.
#include "operator_families.h"

#include <algorithm>
#include <iterator>

namespace ortolan::tools {
namespace {

enum Family {
  kProducts,
  kConvolution,
  kAttention,
  kRecurrent,
  kNormalization,
  kPooling,
  kConversion,
  kMoving,
  kControl,
  kElementwise
};

constexpr OperatorFamily kFamilies[] = {{"matrix products", "#4e79a7"},     {"convolution", "#f28e2b"},
                                        {"attention", "#b07aa1"},           {"recurrent", "#9c755f"},
                                        {"normalisation", "#59a14f"},       {"pooling and reduction", "#76b7b2"},
                                        {"conversion of types", "#edc948"}, {"moving data", "#a0a0a8"},
                                        {"control flow", "#e15759"},        {"elementwise and other", "#ff9da7"}};

struct Mark {
  const char* text;
  Family family;
};

// The first that the name holds decides.
constexpr Mark kMarks[] = {
    {"Attention", kAttention}, {"MatMul", kProducts},    {"Gemm", kProducts},         {"Einsum", kProducts},
    {"MoE", kProducts},        {"Conv", kConvolution},   {"LSTM", kRecurrent},        {"GRU", kRecurrent},
    {"RNN", kRecurrent},       {"Norm", kNormalization}, {"Softmax", kNormalization}, {"LRN", kNormalization},
    {"Pool", kPooling},        {"Reduce", kPooling},     {"ArgM", kPooling},          {"QuantizeLinear", kConversion},
    {"Cast", kConversion},     {"Reorder", kMoving},     {"Memcpy", kMoving},         {"Copy", kMoving},
    {"Reshape", kMoving},      {"Transpose", kMoving},   {"Concat", kMoving},         {"Split", kMoving},
    {"Slice", kMoving},        {"Gather", kMoving},      {"Scatter", kMoving},        {"Squeeze", kMoving},
    {"squeeze", kMoving},      {"Flatten", kMoving},     {"Expand", kMoving},         {"Tile", kMoving},
    {"Pad", kMoving},          {"Shape", kMoving},       {"Identity", kMoving},       {"DepthTo", kMoving},
    {"ToDepth", kMoving},      {"Resize", kMoving},      {"Upsample", kMoving},       {"EmbedLayer", kMoving},
    {"Sequence", kMoving},     {"Loop", kControl},       {"Scan", kControl},          {"Search", kControl},
    {"Sampling", kControl}};

}  // namespace

std::span<const OperatorFamily> operator_families() { return kFamilies; }

size_t family_of(const std::string& type) {
  if (type == "If" || type == "SequenceMap") return kControl;
  auto mark = std::find_if(std::begin(kMarks), std::end(kMarks),
                           [&](const Mark& m) { return type.find(m.text) != std::string::npos; });
  return mark == std::end(kMarks) ? size_t(kElementwise) : size_t(mark->family);
}

}  // namespace ortolan::tools
