// Makes modules from texts and images.
#include "cuda/kernel.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cuda/compiler.h"
#include "cuda/ready.h"
#include "gpu/device/checks.h"
#include "gpu/kernels/kernel_texts.h"

namespace ortolan::gpu::cuda {
namespace {

std::vector<std::string> options_of(const std::vector<DeclaredConstant>& constants, int vector_width) {
  std::vector<std::string> options = {"-DK_VW=" + std::to_string(vector_width)};
  for (const auto& each : constants) {
    options.push_back("-D" + std::string(each.name) + "=" + std::to_string(each.value));
  }
  return options;
}

/** Before a stored image: drivers read what they are given to an end that it says itself. */
struct Head {
  char mark[8] = {'O', 'r', 't', 'C', 'u', 'd', 'a', '1'};
  uint64_t hash = 0;
};

Head head_of(std::span<const std::byte> image) {
  Head head;
  head.hash = XXH3_64bits(image.data(), image.size());
  return head;
}

/** Empty where it is none of ours, or not whole. */
std::span<const std::byte> image_in(std::span<const std::byte> binary) {
  if (binary.size() <= sizeof(Head)) return {};
  std::span<const std::byte> image = binary.subspan(sizeof(Head));
  Head head = head_of(image);
  return std::memcmp(&head, binary.data(), sizeof head) == 0 ? image : std::span<const std::byte>();
}

}  // namespace

CudaKernel::CudaKernel(std::shared_ptr<Context> context, const KernelSpec& spec, std::span<const std::byte> binary)
    : context_(std::move(context)), name_(spec.name) {
  std::vector<DeclaredConstant> constants = constants_of("cuda", spec);
  buffers_ = count_buffers(find_kernel_text(name_));
  group_size_ = {static_cast<unsigned>(constants[0].value), static_cast<unsigned>(constants[1].value)};
  auto entered = context_->enter();
  check_group();
  load(image_in(binary));
  if (function_ == nullptr) make(constants);
  check_group();
}

void CudaKernel::load(std::span<const std::byte> image) {
  if (!image.empty()) take({image.begin(), image.end()});
}

void CudaKernel::make(const std::vector<DeclaredConstant>& constants) {
  if (const Compiler* compiler = Compiler::find()) {
    compile(*compiler, options_of(constants, context_->traits().vector_width));
  } else {
    context_->check(take(ready_kernel(name_, constants, context_->capability())), "cuModuleLoadData",
                    [&] { return "kernel " + name_ + ", ready-made PTX"; });
  }
  was_compiled_ = true;
}

void CudaKernel::compile(const Compiler& compiler, const std::vector<std::string>& options) {
  const std::string target = compiler.target(context_->capability());
  const std::string file = name_ + ".k";
  const std::string text = std::string(kCudaDialect) + "#line 1 \"" + file + "\"\n" + find_kernel_text(name_);
  context_->check(take(compiler.compile(file, text, target, options)), "cuModuleLoadData",
                  [&] { return "kernel " + name_ + " that " + compiler.name() + " made for " + target; });
}

CUresult CudaKernel::take(std::vector<std::byte> image) {
  CUmodule made = nullptr;
  CUresult code = context_->driver().cuModuleLoadData(&made, image.data());
  if (code != kSuccess) return code;
  ModuleHandle module(context_, made);
  code = context_->driver().cuModuleGetFunction(&function_, module.get(), name_.c_str());
  if (code != kSuccess) return code;
  module_ = std::move(module);
  image_ = std::move(image);
  return kSuccess;
}

void CudaKernel::check_group() const {
  const int items = static_cast<int>(group_size_[0] * group_size_[1]), devices = context_->traits().max_group_items;
  int most = 0;
  if (function_ != nullptr) context_->driver().cuFuncGetAttribute(&most, kFunctionMaxThreadsPerBlock, function_);
  most = most <= 0 ? devices : std::min(most, devices);
  if (items <= most) return;
  throw Error(ErrorKind::kCompile, "cuda: kernel " + name_ + " is to have groups of " + std::to_string(items) +
                                       " items, device '" + context_->traits().name + "' takes " +
                                       std::to_string(most) + " of it; choose a smaller WGX or WGY");
}

std::vector<std::byte> CudaKernel::binary() const {
  const Head head = head_of(image_);
  std::vector<std::byte> binary(sizeof head + image_.size());
  std::memcpy(binary.data(), &head, sizeof head);
  std::memcpy(binary.data() + sizeof head, image_.data(), image_.size());
  return binary;
}

}  // namespace ortolan::gpu::cuda
