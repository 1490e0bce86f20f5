// What plugin providers use: registries and descriptions of their kernels. Include onnxruntime_cxx_api.h instead of
// this file.
#pragma once

#include "onnxruntime_cxx_operators.h"

namespace Ort {

namespace detail {

/** What a kernel is for. */
template <typename T>
struct ConstKernelDefImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  const char* GetOperatorType() const { return GetEpApi().KernelDef_GetOperatorType(this->p_); }
  const char* GetDomain() const { return GetEpApi().KernelDef_GetDomain(this->p_); }
  /** The first and the last version of the operator. */
  std::pair<int, int> GetSinceVersion() const {
    std::pair<int, int> versions{};
    ThrowOnError(GetEpApi().KernelDef_GetSinceVersion(this->p_, &versions.first, &versions.second));
    return versions;
  }
  const char* GetExecutionProvider() const { return GetEpApi().KernelDef_GetExecutionProvider(this->p_); }
  OrtMemType GetInputMemType(size_t input_index) const {
    return Get<OrtMemType>(GetEpApi().KernelDef_GetInputMemType, this->p_, input_index);
  }
  OrtMemType GetOutputMemType(size_t output_index) const {
    return Get<OrtMemType>(GetEpApi().KernelDef_GetOutputMemType, this->p_, output_index);
  }
};

}  // namespace detail

using ConstKernelDef = detail::ConstKernelDefImpl<detail::Unowned<const OrtKernelDef>>;

struct KernelDef : detail::ConstKernelDefImpl<OrtKernelDef> {
  using Base = detail::ConstKernelDefImpl<OrtKernelDef>;
  using Base::Base;

  explicit KernelDef(std::nullptr_t) {}
  /** Takes ownership. */
  explicit KernelDef(OrtKernelDef* p) : Base{p} {}
  ConstKernelDef GetConst() const { return ConstKernelDef{p_}; }
};

/** Builds the description of a kernel. */
struct KernelDefBuilder : detail::Base<OrtKernelDefBuilder> {
  KernelDefBuilder() { ThrowOnError(GetEpApi().CreateKernelDefBuilder(&p_)); }
  explicit KernelDefBuilder(std::nullptr_t) {}
  /** Takes ownership. */
  explicit KernelDefBuilder(OrtKernelDefBuilder* ort_kernel_def_builder)
      : Base<OrtKernelDefBuilder>{ort_kernel_def_builder} {}

  KernelDefBuilder& SetOperatorType(const char* op_type) {
    return Done(GetEpApi().KernelDefBuilder_SetOperatorType(p_, op_type));
  }
  KernelDefBuilder& SetDomain(const char* domain) { return Done(GetEpApi().KernelDefBuilder_SetDomain(p_, domain)); }
  /** The first and the last version of the operator that the kernel is for, both included. */
  KernelDefBuilder& SetSinceVersion(int since_version_start, int since_version_end) {
    return Done(GetEpApi().KernelDefBuilder_SetSinceVersion(p_, since_version_start, since_version_end));
  }
  KernelDefBuilder& SetExecutionProvider(const char* ep_name) {
    return Done(GetEpApi().KernelDefBuilder_SetExecutionProvider(p_, ep_name));
  }
  KernelDefBuilder& SetInputMemType(size_t input_index, OrtMemType mem_type) {
    return Done(GetEpApi().KernelDefBuilder_SetInputMemType(p_, input_index, mem_type));
  }
  KernelDefBuilder& SetOutputMemType(size_t output_index, OrtMemType mem_type) {
    return Done(GetEpApi().KernelDefBuilder_SetOutputMemType(p_, output_index, mem_type));
  }
  /** The types that a type parameter, input or output may have. */
  KernelDefBuilder& AddTypeConstraint(const char* arg_name, const OrtDataType* data_type) {
    return Done(GetEpApi().KernelDefBuilder_AddTypeConstraint(p_, arg_name, &data_type, 1));
  }
  KernelDefBuilder& AddTypeConstraint(const char* arg_name, const std::vector<const OrtDataType*>& data_types) {
    return Done(GetEpApi().KernelDefBuilder_AddTypeConstraint(p_, arg_name, data_types.data(), data_types.size()));
  }
  /** An output that is always the same memory as an input. */
  KernelDefBuilder& AddInputOutputAlias(int input_index, int output_index) {
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputAliases(p_, &input_index, &output_index, 1));
  }
  KernelDefBuilder& AddInputOutputAliases(const std::vector<int>& input_indices,
                                          const std::vector<int>& output_indices) {
    RequireAsMany(input_indices, output_indices);
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputAliases(p_, input_indices.data(), output_indices.data(),
                                                                  input_indices.size()));
  }
  /** An output that may be written over an input. */
  KernelDefBuilder& AddInputOutputMutableAlias(int input_index, int output_index) {
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputMutableAliases(p_, &input_index, &output_index, 1));
  }
  KernelDefBuilder& AddInputOutputMutableAliases(const std::vector<int>& input_indices,
                                                 const std::vector<int>& output_indices) {
    RequireAsMany(input_indices, output_indices);
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputMutableAliases(p_, input_indices.data(),
                                                                         output_indices.data(), input_indices.size()));
  }
  KernelDef Build() { return KernelDef{detail::Get<OrtKernelDef*>(GetEpApi().KernelDefBuilder_Build, p_)}; }

 private:
  KernelDefBuilder& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }

  static void RequireAsMany(const std::vector<int>& input_indices, const std::vector<int>& output_indices) {
    if (input_indices.size() != output_indices.size()) {
      ORT_CXX_API_THROW("There are not as many inputs as outputs.", ORT_INVALID_ARGUMENT);
    }
  }
};

/** The kernels of a provider. */
struct KernelRegistry : detail::Base<OrtKernelRegistry> {
  KernelRegistry() { ThrowOnError(GetEpApi().CreateKernelRegistry(&p_)); }
  explicit KernelRegistry(std::nullptr_t) {}
  /** Takes ownership. */
  explicit KernelRegistry(OrtKernelRegistry* ort_kernel_registry) : Base<OrtKernelRegistry>{ort_kernel_registry} {}

  /** Adds a kernel: what it is for (copied), and the function that makes it. */
  Status AddKernel(const OrtKernelDef* kernel_def, OrtKernelCreateFunc kernel_create_func,
                   void* kernel_create_func_state) {
    return Status{GetEpApi().KernelRegistry_AddKernel(p_, kernel_def, kernel_create_func, kernel_create_func_state)};
  }
};

namespace detail {

/** Gives packed weights to a cache that sessions share. */
template <typename T>
struct SharedPrePackedWeightCacheImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** The cache takes the memory over, which must come from the allocator that PrePackWeight received. */
  Status StoreWeightData(void** buffer_data_ptrs, size_t* buffer_data_sizes, size_t num_buffers) {
    return Status{GetEpApi().SharedPrePackedWeightCache_StoreWeightData(this->p_, buffer_data_ptrs, buffer_data_sizes,
                                                                        num_buffers)};
  }
};

}  // namespace detail

using UnownedSharedPrePackedWeightCache =
    detail::SharedPrePackedWeightCacheImpl<detail::Unowned<OrtSharedPrePackedWeightCache>>;

}  // namespace Ort
