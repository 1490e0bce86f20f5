// A plugin's kernels in the runtime: making them, packing weights, sharing what was packed.
#include "api/plugins/ep_kernels.h"

#include <algorithm>
#include <functional>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/operators/kernel_info.h"
#include "api/plugins/ep_members.h"
#include "runtime/kernels/packed_weights.h"

namespace ortolan::api {
namespace {

struct EndKernelImpl {
  void operator()(OrtKernelImpl* impl) const {
    if (impl->Release != nullptr) impl->Release(impl);
  }
};
struct EndAllocator {
  void operator()(OrtAllocator* allocator) const { ReleaseAllocator(allocator); }
};

/** Names the packing: equal texts mean that equal weights have equal packed forms. The packed bytes are part of it,
    since only the plugin knows what its packing depends on. */
std::string layout_of(const KernelDef& def, size_t input, const SharedWeightBuffers& packed) {
  std::string layout = join(def.provider, " ", def.domain, ":", def.op_type, " ", input);
  for (size_t i = 0; i < packed.data.size(); ++i) {
    std::string_view bytes(static_cast<const char*>(packed.data[i]), packed.sizes[i]);
    base::append(layout, join(" ", packed.sizes[i], "/", std::hash<std::string_view>()(bytes)));
  }
  return layout;
}

bool is_shared(const runtime::PackedWeights& weights) {
  auto* cache = dynamic_cast<const runtime::PackedWeightsCache*>(&weights);
  return cache != nullptr && cache->across_sessions();
}

class PluginOpKernel final : public runtime::OpKernel {
 public:
  PluginOpKernel(const PluginKernel& kernel, const PluginKernelOwner& owner, const runtime::KernelInfo& info)
      : provider_(kernel.def.provider), description_(describe_kernel(info)), info_{description_, &info} {
    description_->ep = owner.ep;
    description_->allocator = owner.allocator;
    OrtKernelImpl* made = nullptr;
    check_plugin(kernel.create(kernel.state, wrap<const OrtKernelInfo>(&info_), &made), provider_,
                 "OrtKernelCreateFunc");
    require(made != nullptr, ErrorCode::kFail, "execution provider ", kernel.def.provider,
            ": the function that makes the kernel succeeded but gave NULL");
    impl_.reset(made);
    require(made->Compute != nullptr, ErrorCode::kFail, "execution provider ", kernel.def.provider,
            ": OrtKernelImpl::Compute is NULL");
    bool packs = info.config("session.disable_prepacking", "0") != "1";
    if (packs && made->PrePackWeight != nullptr) pack_constants(kernel.def, owner, info);
    info_.making = nullptr;
  }

  void compute(runtime::KernelContext& context) const override {
    check_plugin(impl_->Compute(impl_.get(), wrap<OrtKernelContext>(&context)), provider_, "OrtKernelImpl::Compute");
  }
  runtime::ConstantUse constant_use(size_t i) const override {
    return i < packed_.size() && packed_[i] ? runtime::ConstantUse::kNothing : runtime::ConstantUse::kElements;
  }

 private:
  void pack_constants(const KernelDef& def, const PluginKernelOwner& owner, const runtime::KernelInfo& info) {
    packed_.assign(info.input_count(), false);
    for (size_t i = 0; i < info.input_count(); ++i) {
      if (!description_->constants[i].has_value()) continue;
      packed_[i] = pack(def, owner, info, i);
      if (packed_[i]) description_->constants[i] = Value();
    }
  }

  bool pack(const KernelDef& def, const PluginKernelOwner& owner, const runtime::KernelInfo& info, size_t i) {
    const Value& constant = description_->constants[i];
    const bool on_cpu = constant.tensor().memory().on_cpu();
    auto memory = on_cpu ? cpu_allocator() : owner.allocator;
    const bool shared = on_cpu && is_shared(info.packed_weights()) && impl_->SetSharedPrePackedWeight != nullptr;
    auto buffers = std::make_shared<SharedWeightBuffers>(memory);
    bool is_packed = false;
    OrtStatus* status =
        impl_->PrePackWeight(impl_.get(), wrap<const OrtValue>(&constant), static_cast<int>(i), allocator_for(memory),
                             shared ? wrap<OrtSharedPrePackedWeightCache>(buffers.get()) : nullptr, &is_packed);
    check_plugin(status, provider_, "OrtKernelImpl::PrePackWeight");
    if (is_packed && !buffers->data.empty()) {
      auto kept = info.packed_weights().get(constant.tensor(), layout_of(def, i, *buffers), [&] { return buffers; });
      take_shared(std::static_pointer_cast<SharedWeightBuffers>(kept), i);
    }
    return is_packed;
  }

  void take_shared(std::shared_ptr<SharedWeightBuffers> buffers, size_t input) {
    OrtStatus* status = impl_->SetSharedPrePackedWeight(impl_.get(), buffers->data.data(), buffers->sizes.data(),
                                                        buffers->data.size(), static_cast<int>(input));
    check_plugin(status, provider_, "OrtKernelImpl::SetSharedPrePackedWeight");
    shared_.push_back(std::move(buffers));
  }

  /** What the plugin allocates from, as long as the kernel lives. */
  OrtAllocator* allocator_for(const std::shared_ptr<Allocator>& memory) {
    for (const auto& [core, api] : allocators_) {
      if (core == memory) return api.get();
    }
    require(memory != nullptr, ErrorCode::kEpFail, "the provider has no allocator for the memory of a weight");
    allocators_.emplace_back(memory, new_api_allocator(memory));
    return allocators_.back().second.get();
  }

  std::string provider_;
  std::vector<std::pair<std::shared_ptr<Allocator>, std::unique_ptr<OrtAllocator, EndAllocator>>> allocators_;
  std::vector<std::shared_ptr<SharedWeightBuffers>> shared_;
  std::shared_ptr<KernelDescription> description_;
  KernelInfoObject info_;
  std::unique_ptr<OrtKernelImpl, EndKernelImpl> impl_;  // ends before what it borrows
  std::vector<bool> packed_;
};

bool has_pair(const std::vector<std::pair<int, int>>& pairs, int input) {
  return std::ranges::find(pairs, std::pair(input, 0)) != pairs.end();
}

/** The runtime takes up output 0 only, over any of the first two inputs, so both must be allowed. */
runtime::Reuse reuse_of(const KernelDef& def, const runtime::KernelInfo& info) {
  if (def.output_on_cpu(0) || def.input_on_cpu(0)) return runtime::Reuse::kNone;
  if (has_pair(def.aliases, 0)) return runtime::Reuse::kView;
  bool second = info.input_count() < 2 || (has_pair(def.mutable_aliases, 1) && !def.input_on_cpu(1));
  return has_pair(def.mutable_aliases, 0) && second ? runtime::Reuse::kInPlace : runtime::Reuse::kNone;
}

}  // namespace

SharedWeightBuffers::~SharedWeightBuffers() {
  for (void* block : data) allocator->free(block);
}

runtime::ChosenKernel make_plugin_kernel(const PluginKernel& kernel, const PluginKernelOwner& owner,
                                         const runtime::KernelInfo& info) {
  return {std::make_unique<PluginOpKernel>(kernel, owner, info), reuse_of(kernel.def, info)};
}

OrtStatus* ORT_API_CALL SharedPrePackedWeightCache_StoreWeightData(OrtSharedPrePackedWeightCache* cache,
                                                                   void** buffer_data_ptrs, size_t* buffer_data_sizes,
                                                                   size_t num_buffers) noexcept {
  return guard([&] {
    SharedWeightBuffers& buffers = unwrap(cache, "prepacked_weight_cache");
    require(num_buffers != 0, ErrorCode::kInvalidArgument, "num_buffers is 0; give at least one buffer");
    auto data = array(buffer_data_ptrs, num_buffers, "buffer_data_ptrs");
    auto sizes = array(buffer_data_sizes, num_buffers, "buffer_data_sizes");
    require(buffers.data.empty(), ErrorCode::kInvalidArgument, "the packed form of this weight was already stored");
    for (size_t i = 0; i < num_buffers; ++i) {
      require(data[i] != nullptr || sizes[i] == 0, ErrorCode::kInvalidArgument, "buffer_data_ptrs[", i,
              "] is NULL, but its size is ", sizes[i]);
    }
    buffers.data.assign(data.begin(), data.end());
    buffers.sizes.assign(sizes.begin(), sizes.end());
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetEp(const OrtKernelInfo* info, const OrtEp** ep) noexcept {
  return guard([&] {
    const KernelDescription& node = *unwrap(info, "info").node;
    require(node.ep != nullptr, ErrorCode::kInvalidArgument, "node '", node.node_name,
            "' is not computed by a provider that came as a plugin");
    put(ep, node.ep, "ep");
  });
}

}  // namespace ortolan::api
