// A reference to something callable: no allocation, valid only while the callable lives.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace ortolan::base {

template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Args...>)
      FunctionRef(F&& callable)
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* context, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(context))(std::forward<Args>(args)...);
        }) {}
  Result operator()(Args... args) const { return call_(context_, std::forward<Args>(args)...); }

 private:
  void* context_;
  Result (*call_)(void*, Args...);
};

}  // namespace ortolan::base
