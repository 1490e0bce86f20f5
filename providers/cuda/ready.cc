// Finds a kernel's PTX and puts the values of its constants in.
#include "cuda/ready.h"

#include <algorithm>
#include <charconv>

#include "cuda/compiler.h"
#include "gpu/device/error.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr std::string_view kHole = "<";

int value_of(std::span<const DeclaredConstant> constants, std::string_view name) {
  auto found = std::find_if(constants.begin(), constants.end(), [&](const auto& each) { return each.name == name; });
  if (found == constants.end()) {
    throw Error(ErrorKind::kInternal, "cuda: a kernel's PTX has no constant " + std::string(name));
  }
  return found->value;
}

/** Whether the constants have the values that are fixed in a text. */
bool suits(std::string_view fixed, std::span<const DeclaredConstant> constants) {
  while (!fixed.empty()) {
    const std::string_view one = fixed.substr(0, fixed.find(','));
    fixed.remove_prefix(std::min(one.size() + 1, fixed.size()));
    const size_t equals = one.find('=');
    int value = 0;
    std::from_chars(one.data() + equals + 1, one.data() + one.size(), value);
    if (value_of(constants, one.substr(0, equals)) != value) return false;
  }
  return true;
}

const ReadyText* find(const std::string& name, std::span<const DeclaredConstant> constants, int capability) {
  const ReadyText* best = nullptr;
  for (const ReadyText& text : ready_texts()) {
    if (text.name != name || text.capability > capability || !suits(text.fixed, constants)) continue;
    if (best == nullptr || text.capability > best->capability) best = &text;
  }
  return best;
}

/** The text with its constants, but for what the group's size says. */
std::string with_values(std::string_view ptx, std::span<const DeclaredConstant> constants) {
  std::string filled;
  for (size_t at = ptx.find(kHole); at != std::string_view::npos; at = ptx.find(kHole)) {
    filled += ptx.substr(0, at);
    ptx.remove_prefix(at + kHole.size());
    const std::string_view name = ptx.substr(0, ptx.find('>'));
    const bool is_constant = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';  // else a count of registers
    filled += is_constant ? std::to_string(value_of(constants, name)) : std::string(kHole);
    if (is_constant) ptx.remove_prefix(name.size() + 1);
  }
  return filled += ptx;
}

}  // namespace

std::string ready_target(int capability) {
  int least = 0;
  for (const ReadyText& text : ready_texts()) least = least == 0 ? text.capability : std::min(least, text.capability);
  if (least <= capability) return "compute_" + std::to_string(least);
  throw Error(ErrorKind::kNoDevice, "cuda: a GPU of compute capability " + std::to_string(capability / 10) + "." +
                                        std::to_string(capability % 10) +
                                        " needs NVRTC, which compiles kernels for it; " + kInstallCompiler);
}

std::vector<std::byte> ready_kernel(const std::string& name, std::span<const DeclaredConstant> constants,
                                    int capability) {
  const ReadyText* text = find(name, constants, capability);
  std::string values;
  for (const DeclaredConstant& each : constants) {
    values += "// " + std::string(each.name) + "=" + std::to_string(each.value) + "\n";
  }
  if (text == nullptr) {
    throw Error(ErrorKind::kCompile, "cuda: kernel " + name + " is not ready-made with the constants\n" + values +
                                         "and NVRTC is missing, which compiles it; " + kInstallCompiler);
  }
  std::string ptx = with_values(text->ptx, constants);
  const std::string bound = ".maxntid " + std::to_string(value_of(constants, "WGX")) + ", " +
                            std::to_string(value_of(constants, "WGY")) + ", 1\n.minnctapersm 1\n";
  ptx.insert(ptx.find("\n{", ptx.find(".entry")) + 1, bound);
  ptx = "// Ortolan's kernel for compute_" + std::to_string(text->capability) + " " + name +
        "\n// K_VW=" + std::to_string(kReadyVectorWidth) + "\n" + values + ptx;
  const auto* bytes = reinterpret_cast<const std::byte*>(ptx.c_str());
  return {bytes, bytes + ptx.size() + 1};
}

}  // namespace ortolan::gpu::cuda
