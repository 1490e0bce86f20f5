// Compiling models. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_options.h"

namespace Ort {

/** What to compile, and where to. */
struct ModelCompilationOptions : detail::Base<OrtModelCompilationOptions> {
  using Base = detail::Base<OrtModelCompilationOptions>;
  using Base::Base;

  explicit ModelCompilationOptions(std::nullptr_t) {}
  /** With the providers of these session options, which are copied. */
  ModelCompilationOptions(const Env& env, const SessionOptions& session_options)
      : ModelCompilationOptions(env, session_options.GetConst()) {}
  ModelCompilationOptions(const Env& env, ConstSessionOptions session_options) {
    ThrowOnError(GetCompileApi().CreateModelCompilationOptionsFromSessionOptions(env, session_options, &p_));
  }

  ModelCompilationOptions& SetInputModelPath(const ORTCHAR_T* input_model_path) {
    return Done(GetCompileApi().ModelCompilationOptions_SetInputModelPath(p_, input_model_path));
  }
  /** The bytes must live until CompileModel returns. */
  ModelCompilationOptions& SetInputModelFromBuffer(const void* input_model_data, size_t input_model_data_size) {
    return Done(
        GetCompileApi().ModelCompilationOptions_SetInputModelFromBuffer(p_, input_model_data, input_model_data_size));
  }
  /** The model must live until CompileModel returns. */
  ModelCompilationOptions& SetInputModel(const OrtModel* model) {
    return Done(GetCompileApi().ModelCompilationOptions_SetInputModel(p_, model));
  }
  /** Whether compiled data stands in the model or in files beside it. */
  ModelCompilationOptions& SetEpContextEmbedMode(bool embed_ep_context_in_model) {
    return Done(GetCompileApi().ModelCompilationOptions_SetEpContextEmbedMode(p_, embed_ep_context_in_model));
  }
  ModelCompilationOptions& SetOutputModelPath(const ORTCHAR_T* output_model_path) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelPath(p_, output_model_path));
  }
  /** A file beside the model for initializers from that size in bytes. */
  ModelCompilationOptions& SetOutputModelExternalInitializersFile(const ORTCHAR_T* file_path,
                                                                  size_t initializer_size_threshold) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelExternalInitializersFile(
        p_, file_path, initializer_size_threshold));
  }
  /** A function that decides for each initializer whether it stands in the model or in a file. */
  ModelCompilationOptions& SetOutputModelGetInitializerLocationFunc(
      OrtGetInitializerLocationFunc get_initializer_location_func, void* state) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(
        p_, get_initializer_location_func, state));
  }
  /** Writes to memory from the allocator; CompileModel fills the two places. */
  ModelCompilationOptions& SetOutputModelBuffer(OrtAllocator* allocator, void** output_model_buffer_ptr,
                                                size_t* output_model_buffer_size_ptr) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelBuffer(p_, allocator, output_model_buffer_ptr,
                                                                             output_model_buffer_size_ptr));
  }
  /** Gives the compiled model to a function piece by piece. */
  ModelCompilationOptions& SetOutputModelWriteFunc(OrtWriteBufferFunc write_func, void* state) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelWriteFunc(p_, write_func, state));
  }
  /** Folder and model name from which providers make names of files. */
  ModelCompilationOptions& SetEpContextBinaryInformation(const ORTCHAR_T* output_directory,
                                                         const ORTCHAR_T* model_name) {
    return Done(
        GetCompileApi().ModelCompilationOptions_SetEpContextBinaryInformation(p_, output_directory, model_name));
  }
  /** Bits of OrtCompileApiFlags. */
  ModelCompilationOptions& SetFlags(uint32_t flags) {
    return Done(GetCompileApi().ModelCompilationOptions_SetFlags(p_, flags));
  }
  ModelCompilationOptions& SetGraphOptimizationLevel(GraphOptimizationLevel graph_optimization_level) {
    return Done(GetCompileApi().ModelCompilationOptions_SetGraphOptimizationLevel(p_, graph_optimization_level));
  }
  /** Whether compiled data may leave out weights, which then stay in the source model. */
  ModelCompilationOptions& SetWeightlessEnabled(bool use_weightless) {
    return Done(GetCompileApi().ModelCompilationOptions_SetWeightlessEnabled(p_, use_weightless));
  }

 private:
  ModelCompilationOptions& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

/** Compiles a model. Does not throw for what the compilation says. */
inline Status CompileModel(const Env& env, const ModelCompilationOptions& model_compilation_options) {
  return Status{GetCompileApi().CompileModel(env, model_compilation_options)};
}

/** Whether a compiled model works on these devices, by the text that it carries. */
inline OrtCompiledModelCompatibility GetModelCompatibilityForEpDevices(const std::vector<ConstEpDevice>& ep_devices,
                                                                       const char* compatibility_info) {
  const std::vector<const OrtEpDevice*> devices(ep_devices.begin(), ep_devices.end());
  return detail::Get<OrtCompiledModelCompatibility>(GetApi().GetModelCompatibilityForEpDevices, devices.data(),
                                                    devices.size(), compatibility_info);
}

/** The text that a compiled model carries for a provider; holds NULL when it carries none. */
inline AllocatedStringPtr GetCompatibilityInfoFromModelAllocated(const ORTCHAR_T* model_path, const char* ep_type,
                                                                 OrtAllocator* allocator) {
  return AllocatedStringPtr(detail::Get<char*>(GetApi().GetCompatibilityInfoFromModel, model_path, ep_type, allocator),
                            detail::AllocatedFree(allocator));
}

/** The same from the bytes of a model. */
inline AllocatedStringPtr GetCompatibilityInfoFromModelBytesAllocated(const void* model_data, size_t model_data_length,
                                                                      const char* ep_type, OrtAllocator* allocator) {
  return AllocatedStringPtr(detail::Get<char*>(GetApi().GetCompatibilityInfoFromModelBytes, model_data,
                                               model_data_length, ep_type, allocator),
                            detail::AllocatedFree(allocator));
}

}  // namespace Ort
