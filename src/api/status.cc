// The status object and its four functions.
#include "api/status.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "api/tables/slots.h"
#include "base/error.h"

/** The text follows the struct in the same block of memory. */
struct OrtStatus {
  OrtErrorCode code;
  const char* text;
};

namespace ortolan::api {

namespace {

OrtStatus out_of_memory{ORT_FAIL, "out of memory"};

}  // namespace

OrtStatus* make_status(OrtErrorCode code, std::string_view text) noexcept {
  void* block = std::malloc(sizeof(OrtStatus) + text.size() + 1);
  if (block == nullptr) {
    return &out_of_memory;
  }
  char* copy = static_cast<char*>(block) + sizeof(OrtStatus);
  if (!text.empty()) {
    std::memcpy(copy, text.data(), text.size());
  }
  copy[text.size()] = '\0';
  return new (block) OrtStatus{code, copy};
}

void throw_status(OrtStatus* status) {
  base::Error error(static_cast<base::ErrorCode>(status->code), status->text);
  ReleaseStatus(status);
  throw error;
}

OrtStatus* ORT_API_CALL CreateStatus(OrtErrorCode code, const char* msg) noexcept {
  return make_status(code, msg == nullptr ? "" : msg);
}

OrtErrorCode ORT_API_CALL GetErrorCode(const OrtStatus* status) noexcept {
  return status == nullptr ? ORT_OK : status->code;
}

const char* ORT_API_CALL GetErrorMessage(const OrtStatus* status) noexcept {
  return status == nullptr ? "" : status->text;
}

void ORT_API_CALL ReleaseStatus(OrtStatus* status) noexcept {
  if (status != &out_of_memory) {
    std::free(status);
  }
}

}  // namespace ortolan::api
