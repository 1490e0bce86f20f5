// Puts types and constants in the places of numbers, and before all that uses them.
#include "vulkan/matrix_types.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

namespace ortolan::gpu::vulkan {
namespace {

constexpr size_t kHeaderWords = 5, kBound = 3;
enum Op : uint32_t {
  kCapability = 17,
  kSource = 3,
  kMemberName = 6,
  kTypeVoid = 19,  // the first of types
  kTypeInt = 21,
  kTypeFloat = 22,
  kConstant = 43,
  kSpecConstant = 50,
  kDecorate = 71,
  kTypeMatrix = 4456
};
constexpr uint32_t kSpecId = 1, kFloat16 = 9;  // a decoration, a capability

using Instruction = std::span<const uint32_t>;
Op op_of(Instruction instruction) { return static_cast<Op>(instruction[0] & 0xffff); }
uint32_t head_of(Op op, uint32_t words) { return words << 16 | op; }

class MatrixTypes {
 public:
  explicit MatrixTypes(std::span<const uint32_t> module) : module_(module) {
    each([&](Instruction instruction) { note(instruction); });
  }

  std::vector<uint32_t> put() {
    uint32_t bound = module_[kBound];
    if (floats_.count(16) == 0) {
      floats_[16] = bound++;
      add(first_, {head_of(kTypeFloat, 3), floats_[16], 16});
    }
    std::vector<uint32_t> result(module_.begin(), module_.begin() + kHeaderWords);
    result[kBound] = bound;
    if (!computes_in_halves_) add(result, {head_of(kCapability, 2), kFloat16});
    bool has_types = false;
    each([&](Instruction instruction) {
      if (op_of(instruction) == kTypeVoid && !has_types) result.insert(result.end(), first_.begin(), first_.end());
      has_types = has_types || op_of(instruction) == kTypeVoid;
      if (!comes_first(instruction) && !only_names(instruction)) add(result, instruction);
      if (op_of(instruction) == kTypeMatrix) complete(std::span(result).last(instruction.size()));
    });
    return result;
  }

 private:
  void each(auto&& see) const {
    for (size_t at = kHeaderWords; at < module_.size(); at += module_[at] >> 16) {
      const size_t words = module_[at] >> 16;
      if (words == 0 || words > module_.size() - at) throw std::runtime_error("an instruction passes the module's end");
      see(module_.subspan(at, words));
    }
  }
  static void add(std::vector<uint32_t>& to, std::vector<uint32_t> words) { add(to, Instruction(words)); }
  static void add(std::vector<uint32_t>& to, Instruction words) { to.insert(to.end(), words.begin(), words.end()); }
  static bool comes_first(Instruction instruction) {
    const Op op = op_of(instruction);
    return op == kTypeInt || op == kTypeFloat || op == kSpecConstant;
  }

  static bool only_names(Instruction instruction) {
    return op_of(instruction) >= kSource && op_of(instruction) <= kMemberName;
  }

  void note(Instruction words) {
    const Op op = op_of(words);
    if (comes_first(words)) add(first_, words);
    if (op == kCapability) computes_in_halves_ = computes_in_halves_ || words[1] == kFloat16;
    if (op == kTypeFloat) floats_[words[2]] = words[1];
    if (op == kConstant && words.size() == 4) numbers_[words[2]] = words[3];
    if (op == kDecorate && words[2] == kSpecId) constants_[words[3]] = words[1];
  }

  static uint32_t found(const std::map<uint32_t, uint32_t>& all, uint32_t key, const char* what) {
    auto found = all.find(key);
    if (found != all.end()) return found->second;
    throw std::runtime_error("a matrix has " + std::string(what) + ' ' + std::to_string(key) + ", which there is not");
  }
  /** The words of a type of matrices: result, elements, scope, rows, columns, use. */
  void complete(std::span<uint32_t> type) const {
    type[2] = found(floats_, found(numbers_, type[2], "elements of the bits of constant"), "floats of so many bits:");
    for (size_t i : {4, 5}) {
      type[i] = found(constants_, found(numbers_, type[i], "a size of constant"), "the specialisation constant");
    }
  }

  std::span<const uint32_t> module_;
  std::vector<uint32_t> first_;  // what types of matrices may be made of
  std::map<uint32_t, uint32_t> floats_, numbers_, constants_;
  bool computes_in_halves_ = false;
};

}  // namespace

std::vector<uint32_t> with_matrix_types(std::span<const uint32_t> module) {
  if (module.size() < kHeaderWords) throw std::runtime_error("no module is so short");
  return MatrixTypes(module).put();
}

}  // namespace ortolan::gpu::vulkan
