// Makes pipelines from SPIR-V, constants and what a driver compiled before.
#include "vulkan/kernel.h"

#include <algorithm>
#include <cstring>

#include "gpu/device/checks.h"
#include "vulkan/spirv.h"

namespace ortolan::gpu::vulkan {
namespace {

/** A module while pipelines are made of it. */
class Module {
 public:
  Module(Context& context, const SpirvVariant& variant) : context_(context) {
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = variant.words.size_bytes();
    info.pCode = variant.words.data();
    context.check(context.call().CreateShaderModule(context.get(), &info, nullptr, &module_), "CreateShaderModule",
                  [&] { return "kernel " + std::string(variant.name); });
  }
  ~Module() { context_.call().DestroyShaderModule(context_.get(), module_, nullptr); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  VkShaderModule get() const { return module_; }

 private:
  Context& context_;
  VkShaderModule module_ = VK_NULL_HANDLE;
};

/** The constants as Vulkan takes them: all values by their ids. */
struct Specialization {
  explicit Specialization(const std::vector<DeclaredConstant>& constants) {
    for (const DeclaredConstant& each : constants) {
      entries.push_back(
          {static_cast<uint32_t>(each.id), static_cast<uint32_t>(values.size() * sizeof(int)), sizeof(int)});
      values.push_back(each.value);
    }
    info = {static_cast<uint32_t>(entries.size()), entries.data(), values.size() * sizeof(int), values.data()};
  }
  std::vector<VkSpecializationMapEntry> entries;
  std::vector<int> values;
  VkSpecializationInfo info;
};

/** Whether a driver's cache begins as one for this device does: it is told in every cache, so that others are not read.
 */
bool is_for(const Context& context, std::span<const std::byte> cache) {
  VkPhysicalDeviceProperties2 said{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  context.found().instance->call().GetPhysicalDeviceProperties2(context.found().device, &said);
  const VkPhysicalDeviceProperties& device = said.properties;
  VkPipelineCacheHeaderVersionOne header;
  if (cache.size() < sizeof header) return false;
  std::memcpy(&header, cache.data(), sizeof header);
  return header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == device.vendorID &&
         header.deviceID == device.deviceID &&
         std::memcmp(header.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

}  // namespace

VulkanKernel::VulkanKernel(std::shared_ptr<Context> context, const KernelSpec& spec, std::span<const std::byte> binary)
    : context_(std::move(context)), name_(spec.name) {
  try {
    create_cache(binary);
    create_pipeline(spec);
  } catch (...) {
    context_->call().DestroyPipelineCache(context_->get(), cache_, nullptr);
    throw;
  }
}

VulkanKernel::~VulkanKernel() {
  context_->call().DestroyPipeline(context_->get(), pipeline_, nullptr);
  context_->call().DestroyPipelineCache(context_->get(), cache_, nullptr);
}

void VulkanKernel::check_group(uint32_t width, uint32_t height) const {
  const auto most = static_cast<uint32_t>(context_->traits().max_group_items);
  if (width <= most && height <= most && width * height <= most) return;
  throw Error(ErrorKind::kCompile, "vulkan: kernel " + name_ + " is to have groups of " +
                                       std::to_string(uint64_t{width} * height) + " items, device '" +
                                       context_->traits().name + "' takes " + std::to_string(most) +
                                       "; choose a smaller WGX or WGY");
}

void VulkanKernel::create_cache(std::span<const std::byte> binary) {
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  if (is_for(*context_, binary)) {
    info.initialDataSize = binary.size();
    info.pInitialData = binary.data();
    was_compiled_ = false;
  }
  context_->check(context_->call().CreatePipelineCache(context_->get(), &info, nullptr, &cache_), "CreatePipelineCache",
                  [&] { return "the cache of kernel " + name_; });
}

void VulkanKernel::create_pipeline(const KernelSpec& spec) {
  const std::vector<DeclaredConstant> constants = constants_of("vulkan", spec);
  check_group(static_cast<uint32_t>(constants[0].value), static_cast<uint32_t>(constants[1].value));
  const bool has_steps = std::any_of(constants.begin(), constants.end(),
                                     [](auto& each) { return each.name == "STEP0" && each.value != 0; });
  const SpirvVariant& variant = spirv_of(name_, context_->features(), has_steps);
  const Specialization specialization(constants);
  const Module module(*context_, variant);
  buffers_ = count_bindings(variant.words);
  layout_ = &context_->layout_of(buffers_);
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.layout = layout_->pipeline;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module.get();
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization.info;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  if (has_matrices(variant.words)) {
    subgroup.requiredSubgroupSize = static_cast<uint32_t>(context_->traits().matrix_units.whole.items);
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    info.stage.pNext = &subgroup;
  }
  context_->check(context_->call().CreateComputePipelines(context_->get(), cache_, 1, &info, nullptr, &pipeline_),
                  "CreateComputePipelines", [&] { return "kernel " + name_; });
}

std::vector<std::byte> VulkanKernel::binary() const {
  size_t bytes = 0;
  if (context_->call().GetPipelineCacheData(context_->get(), cache_, &bytes, nullptr) != VK_SUCCESS) return {};
  std::vector<std::byte> binary(bytes);
  VkResult result = context_->call().GetPipelineCacheData(context_->get(), cache_, &bytes, binary.data());
  return result == VK_SUCCESS ? binary : std::vector<std::byte>();
}

}  // namespace ortolan::gpu::vulkan
