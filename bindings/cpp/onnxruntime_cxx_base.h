// The ground of the C++ interface: the function table, errors as exceptions, and owners of C objects. Include
// onnxruntime_cxx_api.h instead of this file.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "onnxruntime_c_api.h"
#include "onnxruntime_float16.h"

namespace Ort {

/** What every function that fails throws. */
struct Exception : std::exception {
  Exception(const std::string& string, OrtErrorCode code) : message_{string}, code_{code} {}
  Exception(std::string&& string, OrtErrorCode code) : message_{std::move(string)}, code_{code} {}

  OrtErrorCode GetOrtErrorCode() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
  OrtErrorCode code_;
};

namespace detail {

/** Ends the process where exceptions are switched off. */
[[noreturn]] inline void StopWith(const std::string& message) noexcept {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

}  // namespace detail

/** Throws an Ort::Exception. With ORT_NO_EXCEPTIONS: writes the text to stderr and aborts. */
#ifdef ORT_NO_EXCEPTIONS
#define ORT_CXX_API_THROW(string, code) (static_cast<void>(code), ::Ort::detail::StopWith(string))
#else
#define ORT_CXX_API_THROW(string, code) throw ::Ort::Exception(string, code)
#endif

namespace detail {

/** Holds the function table of this program or library. Where ORT_API_MANUAL_INIT is defined, InitApi must be called
 *  before anything else; otherwise the table comes from OrtGetApiBase when it is first used. */
struct Global {
  /** The table; with an argument that is not NULL, takes that table from now on. */
  static const OrtApi* Api(const OrtApi* replacement = nullptr) noexcept {
    static const OrtApi* api = replacement != nullptr ? replacement : Default();
    if (replacement != nullptr) api = replacement;
    return api;
  }

 private:
  static const OrtApi* Default() noexcept {
#ifdef ORT_API_MANUAL_INIT
    return nullptr;
#else
    return OrtGetApiBase()->GetApi(ORT_API_VERSION);
#endif
  }
};

}  // namespace detail

/** Takes the function table from the library that the program is linked with. */
inline void InitApi() noexcept { detail::Global::Api(OrtGetApiBase()->GetApi(ORT_API_VERSION)); }

/** Takes this function table: for libraries that are not linked with the runtime, as those of custom operators. */
inline void InitApi(const OrtApi* api) noexcept { detail::Global::Api(api); }

/** The function table. */
inline const OrtApi& GetApi() noexcept { return *detail::Global::Api(); }

/** The release that the library stands for, as "1.31.0". */
inline std::string GetVersionString() { return OrtGetApiBase()->GetVersionString(); }

/** Which library it is and how it was built. */
inline std::string GetBuildInfoString() { return GetApi().GetBuildInfoString(); }

/** The functions that build and change models. */
inline const OrtModelEditorApi& GetModelEditorApi() {
  const OrtModelEditorApi* api = GetApi().GetModelEditorApi();
  if (api == nullptr) ORT_CXX_API_THROW("This library has no functions that build models.", ORT_FAIL);
  return *api;
}

/** The functions that compile models ahead of use. */
inline const OrtCompileApi& GetCompileApi() {
  const OrtCompileApi* api = GetApi().GetCompileApi();
  if (api == nullptr) ORT_CXX_API_THROW("This library has no functions that compile models.", ORT_FAIL);
  return *api;
}

/** The functions for plugin libraries. */
inline const OrtEpApi& GetEpApi() {
  const OrtEpApi* api = GetApi().GetEpApi();
  if (api == nullptr) ORT_CXX_API_THROW("This library has no functions for plugin providers.", ORT_FAIL);
  return *api;
}

/** The functions that share memory and semaphores with graphics libraries. */
inline const OrtInteropApi& GetInteropApi() {
  const OrtInteropApi* api = GetApi().GetInteropApi();
  if (api == nullptr) ORT_CXX_API_THROW("This library has no functions for graphics libraries.", ORT_FAIL);
  return *api;
}

namespace detail {

/** Ends an object of the C interface; an overload for each kind that a program can own. */
#define ORT_DEFINE_RELEASE(NAME) \
  inline void OrtRelease(Ort##NAME* ptr) { GetApi().Release##NAME(ptr); }
#define ORT_DEFINE_RELEASE_FROM_API_STRUCT(NAME, API_GETTER) \
  inline void OrtRelease(Ort##NAME* ptr) { API_GETTER().Release##NAME(ptr); }

ORT_DEFINE_RELEASE(Allocator)
ORT_DEFINE_RELEASE(ArenaCfg)
ORT_DEFINE_RELEASE(CustomOpDomain)
ORT_DEFINE_RELEASE(DeviceEpIncompatibilityDetails)
ORT_DEFINE_RELEASE(Env)
ORT_DEFINE_RELEASE(ExternalInitializerInfo)
ORT_DEFINE_RELEASE(Graph)
ORT_DEFINE_RELEASE(IoBinding)
ORT_DEFINE_RELEASE(KernelInfo)
ORT_DEFINE_RELEASE(KeyValuePairs)
ORT_DEFINE_RELEASE(LoraAdapter)
ORT_DEFINE_RELEASE(MapTypeInfo)
ORT_DEFINE_RELEASE(MemoryInfo)
ORT_DEFINE_RELEASE(Model)
ORT_DEFINE_RELEASE(ModelMetadata)
ORT_DEFINE_RELEASE(Node)
ORT_DEFINE_RELEASE(Op)
ORT_DEFINE_RELEASE(OpAttr)
ORT_DEFINE_RELEASE(PrepackedWeightsContainer)
ORT_DEFINE_RELEASE(RunOptions)
ORT_DEFINE_RELEASE(SequenceTypeInfo)
ORT_DEFINE_RELEASE(Session)
ORT_DEFINE_RELEASE(SessionOptions)
ORT_DEFINE_RELEASE(Status)
ORT_DEFINE_RELEASE(SyncStream)
ORT_DEFINE_RELEASE(TensorTypeAndShapeInfo)
ORT_DEFINE_RELEASE(ThreadingOptions)
ORT_DEFINE_RELEASE(TypeInfo)
ORT_DEFINE_RELEASE(Value)
ORT_DEFINE_RELEASE(ValueInfo)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(ModelCompilationOptions, GetCompileApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(ExternalResourceImporter, GetInteropApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(ExternalMemoryHandle, GetInteropApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(ExternalSemaphoreHandle, GetInteropApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(EpDevice, GetEpApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(HardwareDevice, GetEpApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(KernelDef, GetEpApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(KernelDefBuilder, GetEpApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(KernelRegistry, GetEpApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(OpSchema, GetEpApi)
ORT_DEFINE_RELEASE_FROM_API_STRUCT(ProfilingEvent, GetEpApi)

#undef ORT_DEFINE_RELEASE
#undef ORT_DEFINE_RELEASE_FROM_API_STRUCT

inline void OrtRelease(OrtTensorRTProviderOptionsV2* ptr) { GetApi().ReleaseTensorRTProviderOptions(ptr); }
inline void OrtRelease(OrtCUDAProviderOptionsV2* ptr) { GetApi().ReleaseCUDAProviderOptions(ptr); }

/** Marks a wrapper that borrows its object: Base<Unowned<OrtValue>>. */
template <typename T>
struct Unowned {
  using Type = T;
};

/** Owns an object of the C interface, or holds NULL. Wrappers can be moved, not copied, and turn into the pointer
 *  wherever a C function wants one. */
template <typename T>
struct Base {
  using contained_type = T;

  constexpr Base() = default;
  constexpr explicit Base(contained_type* p) noexcept : p_{p} {}
  ~Base() { OrtRelease(p_); }

  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;
  Base(Base&& v) noexcept : p_{v.p_} { v.p_ = nullptr; }
  Base& operator=(Base&& v) noexcept {
    OrtRelease(release());
    p_ = v.release();
    return *this;
  }

  constexpr operator contained_type*() const noexcept { return p_; }
  /** The object itself, which must be there. */
  constexpr contained_type& operator*() const noexcept { return *p_; }

  /** Gives the object to the caller; the wrapper holds NULL then. */
  contained_type* release() {
    contained_type* p = p_;
    p_ = nullptr;
    return p;
  }

 protected:
  contained_type* p_{};
};

/** Borrows an object of the C interface; may be copied. */
template <typename T>
struct Base<Unowned<T>> {
  using contained_type = typename Unowned<T>::Type;

  constexpr Base() = default;
  constexpr explicit Base(contained_type* p) noexcept : p_{p} {}

  constexpr operator contained_type*() const noexcept { return p_; }
  constexpr contained_type& operator*() const noexcept { return *p_; }

 protected:
  contained_type* p_{};
};

/** Frees memory with the allocator that it came from. */
struct AllocatedFree {
  OrtAllocator* allocator_;
  explicit AllocatedFree(OrtAllocator* allocator) : allocator_(allocator) {}
  void operator()(void* ptr) const {
    if (ptr != nullptr) allocator_->Free(allocator_, ptr);
  }
};

}  // namespace detail

/** A string that the runtime made with an allocator, which must live as long. */
using AllocatedStringPtr = std::unique_ptr<char, detail::AllocatedFree>;

/** Owns a status: what a C function returned, or an error to give to one. */
struct Status : detail::Base<OrtStatus> {
  using Base = detail::Base<OrtStatus>;
  using Base::Base;

  Status() = default;
  explicit Status(std::nullptr_t) noexcept {}
  /** Takes a status over; NULL is success. */
  explicit Status(OrtStatus* status) noexcept : Base{status} {}
  explicit Status(const Exception& e) : Status(e.what(), e.GetOrtErrorCode()) {}
  explicit Status(const std::exception& e) : Status(e.what(), ORT_FAIL) {}
  Status(const char* message, OrtErrorCode code) : Base{GetApi().CreateStatus(code, message)} {}

  std::string GetErrorMessage() const { return p_ == nullptr ? std::string{} : GetApi().GetErrorMessage(p_); }
  OrtErrorCode GetErrorCode() const { return p_ == nullptr ? ORT_OK : GetApi().GetErrorCode(p_); }
  bool IsOK() const noexcept { return p_ == nullptr || GetApi().GetErrorCode(p_) == ORT_OK; }
};

/** Throws what the status says, if it is an error. */
inline void ThrowOnError(const Status& status) {
  if (!status.IsOK()) ORT_CXX_API_THROW(status.GetErrorMessage(), status.GetErrorCode());
}

/** The same for a status from a C function, which is freed. */
inline void ThrowOnError(OrtStatus* ort_status) {
  if (ort_status != nullptr) ThrowOnError(Status{ort_status});
}

namespace detail {

inline void ThrowStatus(const Status& status) { ThrowOnError(status); }

/** Calls a C function with the arguments and a place for what it gives last, and returns that. */
template <typename R, typename Function, typename... Args>
R Get(Function function, Args... args) {
  R out{};
  ThrowOnError(function(args..., &out));
  return out;
}

/** Reads a string from a C function that copies it into room given by the caller. */
template <typename Function, typename... Args>
std::string GetSizedString(Function function, Args... args) {
  size_t size = 0;
  ThrowOnError(function(args..., static_cast<char*>(nullptr), &size));
  std::string out(size, '\0');
  ThrowOnError(function(args..., out.data(), &size));
  out.resize(size == 0 ? 0 : size - 1);  // the size counts the terminator
  return out;
}

/** A string from a C function that gives a borrowed one, which may be NULL. */
template <typename Function, typename... Args>
std::string GetBorrowedString(Function function, Args... args) {
  const char* out = Get<const char*>(function, args...);
  return out == nullptr ? std::string{} : std::string{out};
}

/** A string from a C function that makes it with the allocator. */
template <typename Function, typename Owner>
AllocatedStringPtr GetAllocatedString(Function function, Owner* owner, OrtAllocator* allocator) {
  return AllocatedStringPtr(Get<char*>(function, owner, allocator), AllocatedFree(allocator));
}

/** Objects that a C function writes to an array, as wrappers: `count` of them. */
template <typename Wrapper, typename Function, typename Owner>
std::vector<Wrapper> GetWrapped(Function function, Owner* owner, size_t count) {
  std::vector<const std::remove_const_t<typename Wrapper::contained_type>*> raw(count);
  if (count != 0) ThrowOnError(function(owner, raw.data(), count));
  std::vector<Wrapper> wrapped;
  wrapped.reserve(count);
  for (const auto* object : raw) wrapped.emplace_back(object);
  return wrapped;
}

/** Keys and values as the two arrays that C functions want; the strings are borrowed from the map. */
struct KeysAndValues {
  explicit KeysAndValues(const std::unordered_map<std::string, std::string>& entries) {
    keys.reserve(entries.size());
    values.reserve(entries.size());
    for (const auto& [key, value] : entries) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  size_t size() const { return keys.size(); }

  std::vector<const char*> keys, values;
};

/** The strings as C strings, borrowed. */
inline std::vector<const char*> CStrings(const std::vector<std::string>& strings) {
  std::vector<const char*> out;
  out.reserve(strings.size());
  for (const std::string& string : strings) out.push_back(string.c_str());
  return out;
}

}  // namespace detail

/** The names of execution providers that this library can add, best first. */
inline std::vector<std::string> GetAvailableProviders() {
  char** names = nullptr;
  int count = 0;
  ThrowOnError(GetApi().GetAvailableProviders(&names, &count));
  std::vector<std::string> providers(names, names + count);
  ThrowOnError(GetApi().ReleaseAvailableProviders(names, count));
  return providers;
}

/** Returns the status of a C function that failed from a function that returns an Ort::Status. */
#define ORT_CXX_RETURN_ON_API_FAIL(expression)        \
  {                                                   \
    auto ort_status = (expression);                   \
    if (ort_status) return ::Ort::Status(ort_status); \
  }

}  // namespace Ort
