// Functions of the host that hear of the work of a thread pool.
#pragma once

namespace ortolan::base {

/** Any may be nullptr. `enqueue` is called as a piece of work is put in, on that thread; what it returns goes to
   `start` and `stop`, on the thread that carries the work out, or to `abandon`, when nobody had to. They must not
   throw. */
struct WorkCallbacks {
  void* (*enqueue)(void* user) = nullptr;
  void (*start)(void* user, void* work) = nullptr;
  void (*stop)(void* user, void* work) = nullptr;
  void (*abandon)(void* user, void* work) = nullptr;
  void* user = nullptr;

  bool any() const { return enqueue != nullptr || start != nullptr || stop != nullptr || abandon != nullptr; }
};

/** The pools that this thread makes while the object lives call the functions. */
class ScopedWorkCallbacks {
 public:
  explicit ScopedWorkCallbacks(const WorkCallbacks& callbacks);
  ~ScopedWorkCallbacks();
  ScopedWorkCallbacks(const ScopedWorkCallbacks&) = delete;
  ScopedWorkCallbacks& operator=(const ScopedWorkCallbacks&) = delete;

 private:
  const WorkCallbacks* before_;
};

}  // namespace ortolan::base
