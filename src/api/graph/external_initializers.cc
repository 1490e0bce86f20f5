// Places of initializers in files: making them and what they answer.
#include "api/graph/external_initializers.h"

#include "api/arguments.h"
#include "api/guard.h"

namespace ortolan::api {

OrtStatus* ORT_API_CALL CreateExternalInitializerInfo(const char* filepath, int64_t file_offset, size_t byte_size,
                                                      OrtExternalInitializerInfo** out) noexcept {
  return guard([&] { give(out, ExternalInitializer{text(filepath, "filepath"), file_offset, byte_size}); });
}

const char* ORT_API_CALL ExternalInitializerInfo_GetFilePath(const OrtExternalInitializerInfo* info) noexcept {
  return info != nullptr ? unwrap_optional(info)->path.c_str() : nullptr;
}

int64_t ORT_API_CALL ExternalInitializerInfo_GetFileOffset(const OrtExternalInitializerInfo* info) noexcept {
  return info != nullptr ? unwrap_optional(info)->offset : 0;
}

size_t ORT_API_CALL ExternalInitializerInfo_GetByteSize(const OrtExternalInitializerInfo* info) noexcept {
  return info != nullptr ? unwrap_optional(info)->bytes : 0;
}

void ORT_API_CALL ReleaseExternalInitializerInfo(OrtExternalInitializerInfo* info) noexcept { release(info); }

}  // namespace ortolan::api
