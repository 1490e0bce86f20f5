// A library that stands in for cuBLASLt: products in plain loops, in the stand-in driver's streams, by columns as the
// real one has them. It checks that operands are described as the real one wants them, and writes all of the workspace.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "cuda/cublas.h"
#include "gpu/device/half_float.h"
#include "standin.h"

namespace ortolan::gpu::cuda {

struct cublasLtMatmulDescStruct {
  bool rounds;  // TF32: factors of floats have 11 bits
  bool turns[2] = {false, false};
};
struct cublasLtMatrixLayoutStruct {
  int type;
  uint64_t rows, columns;
  int64_t step;
  int32_t count = 1;
  int64_t distance = 0;
};
struct cublasLtMatmulPreferenceStruct {
  std::map<int, uint64_t> values;
};

namespace {

constexpr cublasStatus_t kSuccessful = 0, kInvalidValue = 7, kUnsupported = 15;
constexpr int kFloat16 = 2, kTransA = 3, kTransB = 4;
constexpr uint64_t kMark = 0x5a17;
constexpr size_t kWorkspace = 4096;

/** A matrix as work sees it. */
struct Operand {
  cublasLtMatrixLayoutStruct layout;
  bool turned;
  uint64_t address;
  std::byte* first = nullptr;

  size_t element_bytes() const { return layout.type == kFloat16 ? 2 : 4; }
  /** Finds the memory; without it, or where it is too small, there is nothing to read or write. */
  void find() {
    int64_t elements = (layout.count - 1) * layout.distance + static_cast<int64_t>(layout.columns - 1) * layout.step;
    const uint64_t bytes = (static_cast<uint64_t>(elements) + layout.rows) * element_bytes();
    first = static_cast<std::byte*>(standin_memory(address, bytes));
  }
  std::byte* at(int64_t number, uint64_t row, uint64_t column) const {
    if (first == nullptr) return nullptr;
    if (turned) std::swap(row, column);
    int64_t place = number * layout.distance + static_cast<int64_t>(column) * layout.step + static_cast<int64_t>(row);
    return first + static_cast<size_t>(place) * element_bytes();
  }
  float get(int64_t number, uint64_t row, uint64_t column) const {
    const std::byte* place = at(number, row, column);
    if (place == nullptr) return NAN;
    uint16_t half = 0;
    float value = 0;
    std::memcpy(element_bytes() == 2 ? static_cast<void*>(&half) : &value, place, element_bytes());
    return element_bytes() == 2 ? from_half(half) : value;
  }
  void set(int64_t number, uint64_t row, uint64_t column, float value) const {
    std::byte* place = at(number, row, column);
    const uint16_t half = static_cast<uint16_t>(to_half(value));
    if (place != nullptr) {
      std::memcpy(place, element_bytes() == 2 ? static_cast<const void*>(&half) : &value, element_bytes());
    }
  }
  uint64_t rows() const { return turned ? layout.columns : layout.rows; }
  uint64_t columns() const { return turned ? layout.rows : layout.columns; }
};

float factor(float value, bool rounds) {
  if (!rounds) return value;
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

struct Product {
  float alpha, beta;
  bool rounds;
  Operand a, b, c;
  uint64_t workspace;

  bool fits() const {
    bool steps = true;
    for (const Operand* each : {&a, &b, &c}) {
      steps &= each->layout.step >= static_cast<int64_t>(each->layout.rows) && each->layout.count == c.layout.count;
    }
    return steps && a.rows() == c.rows() && b.columns() == c.columns() && a.columns() == b.rows();
  }
  void run() {
    for (Operand* each : {&a, &b, &c}) each->find();
    if (void* memory = standin_memory(workspace, kWorkspace)) std::memset(memory, 0x77, kWorkspace);
    for (int64_t z = 0; z < c.layout.count; z++) {
      for (uint64_t j = 0; j < c.columns(); j++) {
        for (uint64_t i = 0; i < c.rows(); i++) multiply(z, i, j);
      }
    }
  }
  void multiply(int64_t z, uint64_t i, uint64_t j) const {
    double sum = 0;
    for (uint64_t k = 0; k < a.columns(); k++) {
      sum += double{factor(a.get(z, i, k), rounds)} * factor(b.get(z, k, j), rounds);
    }
    c.set(z, i, j, static_cast<float>(alpha * sum + (beta == 0 ? 0 : beta * c.get(z, i, j))));
  }
};

template <class Value>
cublasStatus_t set(Value& to, const void* value, size_t bytes) {
  if (bytes != sizeof to) return kInvalidValue;
  std::memcpy(&to, value, bytes);
  return kSuccessful;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return kSuccessful;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return kSuccessful;
}
size_t cublasLtGetVersion() { return 120402; }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, int compute_type, int scale_type) {
  *desc = new cublasLtMatmulDescStruct{compute_type == 77};
  return (compute_type == 68 || compute_type == 77) && scale_type == 0 ? kSuccessful : kUnsupported;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, int attribute, const void* value,
                                              size_t bytes) {
  int turned = 0;
  cublasStatus_t code = set(turned, value, bytes);
  if (code != kSuccessful || (attribute != kTransA && attribute != kTransB)) return kInvalidValue;
  desc->turns[attribute - kTransA] = turned == 1;
  return kSuccessful;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return kSuccessful;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, int type, uint64_t rows, uint64_t columns,
                                          int64_t step) {
  *layout = new cublasLtMatrixLayoutStruct{type, rows, columns, step};
  return kSuccessful;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, int attribute, const void* value,
                                                size_t bytes) {
  return attribute == 5   ? set(layout->count, value, bytes)
         : attribute == 6 ? set(layout->distance, value, bytes)
                          : kInvalidValue;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return kSuccessful;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceStruct;
  return kSuccessful;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, int attribute,
                                                    const void* value, size_t bytes) {
  if (bytes != (attribute == 1 ? sizeof(uint64_t) : sizeof(uint32_t))) return kInvalidValue;
  std::memcpy(&preference->values[attribute], value, bytes);
  return kSuccessful;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return kSuccessful;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int most, CublasWay* ways,
                                              int* count) {
  *count = 0;
  if (most < 1 || preference->values.size() != 5 || preference->values[1] < kWorkspace) return kInvalidValue;
  if (a->rows == 13) return kUnsupported;  // so that there is a product without a way
  ways[0] = {{kMark}, kWorkspace, kSuccessful, 1.0f, {}};
  *count = 1;
  return kSuccessful;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const uint64_t* algorithm, void* workspace,
                              size_t workspace_bytes, CUstream stream) {
  if (algorithm[0] != kMark || workspace_bytes != kWorkspace || workspace == nullptr || c != d ||
      c_layout != d_layout) {
    return kInvalidValue;
  }
  auto operand = [](const cublasLtMatrixLayoutStruct& layout, bool turned, const void* address) {
    return Operand{layout, turned, reinterpret_cast<uint64_t>(address)};
  };
  Product product{
      *static_cast<const float*>(alpha),     *static_cast<const float*>(beta),      desc->rounds,
      operand(*a_layout, desc->turns[0], a), operand(*b_layout, desc->turns[1], b), operand(*c_layout, false, d),
      reinterpret_cast<uint64_t>(workspace)};
  if (!product.fits()) return kInvalidValue;
  auto run = [](void* data) { static_cast<Product*>(data)->run(); };
  auto end = [](void* data) { delete static_cast<Product*>(data); };
  standin_enqueue(stream, run, new Product(product), end);
  return kSuccessful;
}

}  // extern "C"

}  // namespace ortolan::gpu::cuda
