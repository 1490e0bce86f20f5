// Handles of the C API and the core objects behind them: which is which, and the only reinterpret_cast of the API.
#pragma once

#include <memory>
#include <type_traits>

#include "base/error.h"
#include "onnxruntime_c_api.h"

namespace ortolan::base {
class KeyValues;
}
namespace ortolan::tensor {
class Value;
struct MemoryInfo;
struct ArenaOptions;
}  // namespace ortolan::tensor

namespace ortolan::api {

struct TensorDescription;
struct TypeDescription;

/** The core type behind a handle: one specialisation a handle. */
template <class Handle>
struct CoreOf;

#define ORTOLAN_CORE_OF(Handle, Type) \
  template <>                         \
  struct CoreOf<Handle> {             \
    using type = Type;                \
  };
ORTOLAN_CORE_OF(OrtValue, tensor::Value)
ORTOLAN_CORE_OF(OrtMemoryInfo, tensor::MemoryInfo)
ORTOLAN_CORE_OF(OrtArenaCfg, tensor::ArenaOptions)
ORTOLAN_CORE_OF(OrtKeyValuePairs, base::KeyValues)
ORTOLAN_CORE_OF(OrtTensorTypeAndShapeInfo, TensorDescription)
ORTOLAN_CORE_OF(OrtTypeInfo, TypeDescription)
ORTOLAN_CORE_OF(OrtMapTypeInfo, TypeDescription)
ORTOLAN_CORE_OF(OrtSequenceTypeInfo, TypeDescription)
ORTOLAN_CORE_OF(OrtOptionalTypeInfo, TypeDescription)
#undef ORTOLAN_CORE_OF

/** The core type behind a handle, const where the handle is. */
template <class Handle>
using Core = std::conditional_t<std::is_const_v<Handle>, const typename CoreOf<std::remove_const_t<Handle>>::type,
                                typename CoreOf<std::remove_const_t<Handle>>::type>;

/** The core object, NULL for NULL. */
template <class Handle>
Core<Handle>* unwrap_optional(Handle* handle) noexcept {
  return reinterpret_cast<Core<Handle>*>(handle);
}

/** The core object. Throws when the handle is NULL; `name` is the parameter's, for the text. */
template <class Handle>
Core<Handle>& unwrap(Handle* handle, const char* name) {
  base::require(handle != nullptr, base::ErrorCode::kInvalidArgument, "argument '", name, "' must not be NULL");
  return *unwrap_optional(handle);
}

/** The handle of a core object that stays with its owner. */
template <class Handle>
Handle* wrap(Core<Handle>* core) noexcept {
  return reinterpret_cast<Handle*>(core);
}

/** The handle of a core object that goes to the caller, who ends it with `release`. */
template <class Handle>
Handle* wrap(std::unique_ptr<Core<Handle>> core) noexcept {
  return wrap<Handle>(core.release());
}

/** Ends what `wrap` handed out; NULL is fine. */
template <class Handle>
void release(Handle* handle) noexcept {
  delete unwrap_optional(handle);
}

/** Throws unless an argument that is no handle (a string, an array, an out parameter) is there. */
inline void require_argument(const void* argument, const char* name) {
  base::require(argument != nullptr, base::ErrorCode::kInvalidArgument, "argument '", name, "' must not be NULL");
}

}  // namespace ortolan::api
