// Operators that a program implements, what their kernels see, and logging from them. Include onnxruntime_cxx_api.h
// instead of this file.
#pragma once

#include "onnxruntime_cxx_session.h"

namespace Ort {

/** Writes a line of text. The macros below add file, line and function. */
struct Logger {
  Logger() = default;
  explicit Logger(std::nullptr_t) {}
  /** Borrows a logger and reads its severity once. */
  explicit Logger(const OrtLogger* logger)
      : logger_{logger},
        cached_severity_level_{detail::Get<OrtLoggingLevel>(GetApi().Logger_GetLoggingSeverityLevel, logger)} {}
  ~Logger() = default;
  Logger(const Logger&) = default;
  Logger& operator=(const Logger&) = default;
  Logger(Logger&&) noexcept = default;
  Logger& operator=(Logger&&) noexcept = default;

  /** The least severity that is written. */
  OrtLoggingLevel GetLoggingSeverityLevel() const noexcept { return cached_severity_level_; }

  Status LogMessage(OrtLoggingLevel log_severity_level, const ORTCHAR_T* file_path, int line_number,
                    const char* func_name, const char* message) const noexcept {
    return Status{GetApi().Logger_LogMessage(logger_, log_severity_level, message, file_path, line_number, func_name)};
  }

  /** A text as printf writes it. */
  template <typename... Args>
  Status LogFormattedMessage(OrtLoggingLevel log_severity_level, const ORTCHAR_T* file_path, int line_number,
                             const char* func_name, const char* format, Args&&... args) const noexcept {
    const int length = Print(nullptr, 0, format, args...);
    if (length < 0) return Status{"The text cannot be formatted.", ORT_FAIL};
    const size_t size = static_cast<size_t>(length) + 1;
    const std::unique_ptr<char[]> text(new (std::nothrow) char[size]);
    if (text == nullptr) return Status{"There is no memory for the text.", ORT_FAIL};
    Print(text.get(), size, format, args...);
    return LogMessage(log_severity_level, file_path, line_number, func_name, text.get());
  }

 private:
  template <typename... Args>
  static int Print(char* text, size_t size, const char* format, const Args&... args) noexcept {
    if constexpr (sizeof...(Args) == 0) {
      return std::snprintf(text, size, "%s", format);
    } else {
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#endif
      return std::snprintf(text, size, format, args...);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
    }
  }

  const OrtLogger* logger_{};
  OrtLoggingLevel cached_severity_level_{};
};

/** Writes a line when the severity is enough; the text is not made otherwise. The first two throw when that fails. */
#define ORT_CXX_LOG(logger, message_severity, message)                                                                 \
  do {                                                                                                                 \
    if ((message_severity) >= (logger).GetLoggingSeverityLevel()) {                                                    \
      ::Ort::ThrowOnError(                                                                                             \
          (logger).LogMessage(message_severity, ORT_FILE, __LINE__, static_cast<const char*>(__FUNCTION__), message)); \
    }                                                                                                                  \
  } while (false)
#define ORT_CXX_LOGF(logger, message_severity, /*format,*/...)                                                \
  do {                                                                                                        \
    if ((message_severity) >= (logger).GetLoggingSeverityLevel()) {                                           \
      ::Ort::ThrowOnError((logger).LogFormattedMessage(message_severity, ORT_FILE, __LINE__,                  \
                                                       static_cast<const char*>(__FUNCTION__), __VA_ARGS__)); \
    }                                                                                                         \
  } while (false)
#define ORT_CXX_LOG_NOEXCEPT(logger, message_severity, message)                                                        \
  do {                                                                                                                 \
    if ((message_severity) >= (logger).GetLoggingSeverityLevel()) {                                                    \
      static_cast<void>(                                                                                               \
          (logger).LogMessage(message_severity, ORT_FILE, __LINE__, static_cast<const char*>(__FUNCTION__), message)); \
    }                                                                                                                  \
  } while (false)
#define ORT_CXX_LOGF_NOEXCEPT(logger, message_severity, /*format,*/...)                                     \
  do {                                                                                                      \
    if ((message_severity) >= (logger).GetLoggingSeverityLevel()) {                                         \
      static_cast<void>((logger).LogFormattedMessage(message_severity, ORT_FILE, __LINE__,                  \
                                                     static_cast<const char*>(__FUNCTION__), __VA_ARGS__)); \
    }                                                                                                       \
  } while (false)

/** Inputs and outputs of one computation of a custom kernel; borrows the context. */
struct KernelContext {
  explicit KernelContext(OrtKernelContext* context) : ctx_(context) {}

  /** Left-out ones included, here and for outputs. */
  size_t GetInputCount() const { return detail::Get<size_t>(GetApi().KernelContext_GetInputCount, ctx_); }
  size_t GetOutputCount() const { return detail::Get<size_t>(GetApi().KernelContext_GetOutputCount, ctx_); }
  /** Holds NULL for an input that was left out. */
  ConstValue GetInput(size_t index) const {
    return ConstValue{detail::Get<const OrtValue*>(GetApi().KernelContext_GetInput, ctx_, index)};
  }
  /** An output with this shape, to be written; holds NULL for one that nobody asked for. */
  UnownedValue GetOutput(size_t index, const int64_t* dim_values, size_t dim_count) const {
    return UnownedValue{detail::Get<OrtValue*>(GetApi().KernelContext_GetOutput, ctx_, index, dim_values, dim_count)};
  }
  UnownedValue GetOutput(size_t index, const std::vector<int64_t>& dims) const {
    return GetOutput(index, dims.data(), dims.size());
  }
  /** An output whose memory is already there; holds NULL when GetOutput has to make it. */
  UnownedValue GetPreallocatedOutput(size_t index) const {
    return UnownedValue{detail::Get<OrtValue*>(GetApi().KernelContext_GetPreallocatedOutput, ctx_, index)};
  }
  /** The native stream that the kernel must use; NULL on the CPU. */
  void* GetGPUComputeStream() const { return detail::Get<void*>(GetApi().KernelContext_GetGPUComputeStream, ctx_); }
  /** The stream that the kernel must use; holds NULL on the CPU. */
  UnownedSyncStream GetSyncStream() const {
    return UnownedSyncStream{detail::Get<OrtSyncStream*>(GetApi().KernelContext_GetSyncStream, ctx_)};
  }
  Logger GetLogger() const { return Logger{detail::Get<const OrtLogger*>(GetApi().KernelContext_GetLogger, ctx_)}; }
  /** An allocator for temporary memory; Ort::Allocator frees it. */
  OrtAllocator* GetAllocator(const OrtMemoryInfo& memory_info) const {
    return detail::Get<OrtAllocator*>(GetApi().KernelContext_GetAllocator, ctx_, &memory_info);
  }
  /** Memory that is free again when the computation ends. */
  void* GetScratchBuffer(const OrtMemoryInfo& memory_info, size_t count_or_bytes) const {
    return detail::Get<void*>(GetApi().KernelContext_GetScratchBuffer, ctx_, &memory_info, count_or_bytes);
  }
  OrtKernelContext* GetOrtKernelContext() const { return ctx_; }
  /** Calls `fn(usr_data, i)` for each i below `total` on the session's threads, and waits. `num_batch` 0 chooses. */
  void ParallelFor(void (*fn)(void*, size_t), size_t total, size_t num_batch, void* usr_data) const {
    ThrowOnError(GetApi().KernelContext_ParallelFor(ctx_, fn, total, num_batch, usr_data));
  }

 private:
  OrtKernelContext* ctx_;
};

struct KernelInfo;

namespace detail {

namespace attr_utils {

/** One attribute, which the node must have. */
inline void GetAttr(const OrtKernelInfo* p, const char* name, float& out) {
  ThrowOnError(GetApi().KernelInfoGetAttribute_float(p, name, &out));
}
inline void GetAttr(const OrtKernelInfo* p, const char* name, int64_t& out) {
  ThrowOnError(GetApi().KernelInfoGetAttribute_int64(p, name, &out));
}
inline void GetAttr(const OrtKernelInfo* p, const char* name, std::string& out) {
  out = GetSizedString(GetApi().KernelInfoGetAttribute_string, p, name);
}

template <typename Function, typename R>
void GetList(Function function, const OrtKernelInfo* p, const char* name, std::vector<R>& out) {
  size_t size = 0;
  ThrowOnError(function(p, name, static_cast<R*>(nullptr), &size));
  out.resize(size);
  if (size != 0) ThrowOnError(function(p, name, out.data(), &size));
}

/** A list, which the node must have. */
inline void GetAttrs(const OrtKernelInfo* p, const char* name, std::vector<float>& out) {
  GetList(GetApi().KernelInfoGetAttributeArray_float, p, name, out);
}
inline void GetAttrs(const OrtKernelInfo* p, const char* name, std::vector<int64_t>& out) {
  GetList(GetApi().KernelInfoGetAttributeArray_int64, p, name, out);
}
inline void GetAttrs(const OrtKernelInfo* p, const char* name, std::vector<std::string>& out) {
  AllocatorWithDefaultOptions allocator;
  char** strings = nullptr;
  size_t count = 0;
  ThrowOnError(GetApi().KernelInfoGetAttributeArray_string(p, name, allocator, &strings, &count));
  const std::unique_ptr<char*, AllocatedFree> array(strings, AllocatedFree(allocator));
  out.assign(strings, strings + count);
  for (size_t i = 0; i < count; ++i) allocator.Free(strings[i]);
}

}  // namespace attr_utils

/** What a kernel may know of its node. */
template <typename T>
struct KernelInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** A copy that may outlive the original. */
  KernelInfo Copy() const;

  /** R is float, int64_t or std::string. */
  template <typename R>
  R GetAttribute(const char* name) const {
    R out;
    attr_utils::GetAttr(this->p_, name, out);
    return out;
  }
  template <typename R>
  std::vector<R> GetAttributes(const char* name) const {
    std::vector<R> out;
    attr_utils::GetAttrs(this->p_, name, out);
    return out;
  }
  Value GetTensorAttribute(const char* name, OrtAllocator* allocator) const {
    return Value{Get<OrtValue*>(GetApi().KernelInfoGetAttribute_tensor, this->p_, name, allocator)};
  }

  size_t GetInputCount() const { return Get<size_t>(GetApi().KernelInfo_GetInputCount, this->p_); }
  size_t GetOutputCount() const { return Get<size_t>(GetApi().KernelInfo_GetOutputCount, this->p_); }
  std::string GetInputName(size_t index) const {
    return GetSizedString(GetApi().KernelInfo_GetInputName, this->p_, index);
  }
  std::string GetOutputName(size_t index) const {
    return GetSizedString(GetApi().KernelInfo_GetOutputName, this->p_, index);
  }
  TypeInfo GetInputTypeInfo(size_t index) const {
    return TypeInfo{Get<OrtTypeInfo*>(GetApi().KernelInfo_GetInputTypeInfo, this->p_, index)};
  }
  TypeInfo GetOutputTypeInfo(size_t index) const {
    return TypeInfo{Get<OrtTypeInfo*>(GetApi().KernelInfo_GetOutputTypeInfo, this->p_, index)};
  }
  /** An input that is known when the session is created; holds NULL, and `*is_constant` is 0, when it is not. */
  ConstValue GetTensorConstantInput(size_t index, int* is_constant) const {
    const OrtValue* value = nullptr;
    ThrowOnError(GetApi().KernelInfoGetConstantInput_tensor(this->p_, index, is_constant, &value));
    return ConstValue{value};
  }

  std::string GetNodeName() const { return GetSizedString(GetApi().KernelInfo_GetNodeName, this->p_); }
  std::string GetOperatorDomain() const { return GetSizedString(GetApi().KernelInfo_GetOperatorDomain, this->p_); }
  std::string GetOperatorType() const { return GetSizedString(GetApi().KernelInfo_GetOperatorType, this->p_); }
  int GetOperatorSinceVersion() const { return Get<int>(GetApi().KernelInfo_GetOperatorSinceVersion, this->p_); }
  /** All entries of the session options. */
  KeyValuePairs GetConfigEntries() const {
    return KeyValuePairs{Get<OrtKeyValuePairs*>(GetApi().KernelInfo_GetConfigEntries, this->p_)};
  }
  /** The plugin provider that the kernel is made for. */
  const OrtEp* GetEp() const { return Get<const OrtEp*>(GetEpApi().KernelInfo_GetEp, this->p_); }
  /** An allocator of the session for that use of memory. */
  Allocator GetAllocator(OrtMemType mem_type) const {
    return Allocator{Get<OrtAllocator*>(GetApi().KernelInfoGetAllocator, this->p_, mem_type)};
  }
  Logger GetLogger() const { return Logger{Get<const OrtLogger*>(GetApi().KernelInfo_GetLogger, this->p_)}; }
};

}  // namespace detail

using ConstKernelInfo = detail::KernelInfoImpl<detail::Unowned<const OrtKernelInfo>>;

/** A copy of what a kernel may know of its node. For what CreateKernel receives, use ConstKernelInfo. */
struct KernelInfo : detail::KernelInfoImpl<OrtKernelInfo> {
  using Base = detail::KernelInfoImpl<OrtKernelInfo>;
  using Base::Base;

  explicit KernelInfo(std::nullptr_t) {}
  /** Takes ownership. */
  explicit KernelInfo(OrtKernelInfo* info) : Base{info} {}
  ConstKernelInfo GetConst() const { return ConstKernelInfo{p_}; }
};

template <typename T>
KernelInfo detail::KernelInfoImpl<T>::Copy() const {
  return KernelInfo{Get<OrtKernelInfo*>(GetApi().CopyKernelInfo, this->p_)};
}

/** A standard operator for use within a kernel. */
struct Op : detail::Base<OrtOp> {
  using Base = detail::Base<OrtOp>;
  using Base::Base;

  explicit Op(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Op(OrtOp* p) : Base{p} {}

  static Op Create(const OrtKernelInfo* info, const char* op_name, const char* domain, int version,
                   const char** type_constraint_names, const ONNXTensorElementDataType* type_constraint_values,
                   size_t type_constraint_count, const OpAttr* attr_values, size_t attr_count, size_t input_count,
                   size_t output_count) {
    return Op{detail::Get<OrtOp*>(GetApi().CreateOp, info, op_name, domain, version, type_constraint_names,
                                  type_constraint_values, static_cast<int>(type_constraint_count),
                                  reinterpret_cast<const OrtOpAttr* const*>(attr_values), static_cast<int>(attr_count),
                                  static_cast<int>(input_count), static_cast<int>(output_count))};
  }

  /** Computes it; the outputs must be there with their shapes. */
  void Invoke(const OrtKernelContext* context, const Value* input_values, size_t input_count, Value* output_values,
              size_t output_count) {
    Invoke(context, detail::Pointers(input_values), input_count, detail::Pointers(output_values), output_count);
  }
  void Invoke(const OrtKernelContext* context, const OrtValue* const* input_values, size_t input_count,
              OrtValue* const* output_values, size_t output_count) {
    ThrowOnError(GetApi().InvokeOp(context, p_, input_values, static_cast<int>(input_count), output_values,
                                   static_cast<int>(output_count)));
  }
};

}  // namespace Ort
