// Loops that stay in the thread that they begin in.
#pragma once

namespace ortolan::base {

/** While it lives, loops of the calling thread on any pool are its alone. In the body of a loop there is one. */
class LoopsAlone {
 public:
  /** Changes nothing where it is not wanted. */
  explicit LoopsAlone(bool wanted = true) noexcept;
  ~LoopsAlone();
  LoopsAlone(const LoopsAlone&) = delete;
  LoopsAlone& operator=(const LoopsAlone&) = delete;

 private:
  const bool before_;
};

}  // namespace ortolan::base
