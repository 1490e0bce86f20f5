// The rows by which a provider says which kernels it has, and the look-up among them.
#pragma once

#include <climits>
#include <memory>
#include <span>
#include <string>

#include "runtime/kernels/kernel.h"

namespace ortolan::runtime {

inline constexpr int kLatest = INT_MAX;

/** Element types that an input (or, with `output`, an output) may have for a kernel to fit. A sequence or optional is
    judged by the type of its tensors; an input whose type is unknown, or that is missing, fits. */
struct TypeLimit {
  int8_t index = 0;
  TypeSet types = {};
  bool output = false;
};

/** Which memory output 0 may take. */
enum class Reuse : uint8_t {
  kNone,
  kInPlace,  // may be written over input 0 or 1 when that dies here and has the same type and shape
  kView,     // is input 0's memory with another shape; the kernel calls set_output with a view
};

using MakeKernel = std::unique_ptr<OpKernel> (*)(const KernelInfo&);

/** A kernel for one operator in opsets [since, until] of its domain and for these types. */
struct KernelRow {
  const char* domain;  // "" for ai.onnx
  const char* name;
  int since;
  int until;
  MakeKernel make;
  TypeLimit limits[4] = {};  // ends at an entry with an empty set
  Reuse reuse = Reuse::kNone;
};

/** The rows of one file; defined there as `extern const KernelTable <domain>::<file>_rows`. */
struct KernelTable {
  const KernelRow* rows;
  size_t count;
  template <size_t N>
  constexpr KernelTable(const KernelRow (&array)[N]) : rows(array), count(N) {}
};

/** The makers of kernel classes: `make_kernel<Trilu<float>>` constructs it from the KernelInfo. */
template <class Kernel>
std::unique_ptr<OpKernel> make_kernel(const KernelInfo& info) {
  return std::make_unique<Kernel>(info);
}

/** A look-up over tables; the first row that fits wins. */
class KernelRegistry {
 public:
  explicit KernelRegistry(std::span<const KernelTable* const> tables);
  /** The row for the node, or NULL with the reason in *why ("no kernel for Foo of opset 3; there is one for 7 to 13",
      "input 0 is uint8; kernels take float, double"). */
  const KernelRow* find(const Node& node, std::string* why = nullptr) const;

 private:
  std::unordered_map<std::string, std::vector<const KernelRow*>> rows_;  // by "domain:name"
};

}  // namespace ortolan::runtime

namespace ortolan::cpu {
using namespace runtime;
/** Every kernel table of the CPU provider, by the list that the build writes. */
std::span<const KernelTable* const> all_kernel_tables();
}  // namespace ortolan::cpu
