// What goes wrong on or beside a device.
#pragma once

#include <stdexcept>
#include <string>

namespace ortolan::gpu {

enum class ErrorKind {
  kInvalid,      // what was asked for cannot be done: a model's or a caller's fault
  kOutOfMemory,  // the device has no room; the device stays usable
  kDeviceLost,   // the device answers no more; every further call fails like this
  kCompile,      // a kernel did not compile; the text holds the compiler's words
  kNoDevice,     // there is no driver or no device
  kInternal,     // a driver's or our own fault
};

/** The one exception of the GPU providers. The text says where, what and how to mend. */
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/** What to do about a call of a driver that failed: the end of an error's text. */
inline const char* remedy(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kOutOfMemory:
      return "; release sessions or tensors on the device, or run smaller batches";
    case ErrorKind::kDeviceLost:
      return "; make the sessions on this device anew, the system's log may tell why its driver stopped";
    default:
      return "; a newer driver may help, as may another device";
  }
}

}  // namespace ortolan::gpu
