// Data of compiled nodes from a function of the caller's.
#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/status.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {
namespace {

/** What the function gives for the name. */
std::string read_data(OrtReadNamedBufferFunc read, void* state, const std::string& name) {
  OrtAllocator* allocator = nullptr;
  check_status(GetAllocatorWithDefaultOptions(&allocator));
  void* block = nullptr;
  size_t size = 0;
  OrtStatus* status = read(state, name.c_str(), allocator, &block, &size);
  auto free_block = [&](void* used) { allocator->Free(allocator, used); };
  std::unique_ptr<void, decltype(free_block)> owned(block, free_block);
  check_status(status);
  require(block != nullptr || size == 0, ErrorCode::kFail, "it gave ", size, " bytes and no place of them");
  return size == 0 ? std::string() : std::string(static_cast<const char*>(block), size);
}

}  // namespace

OrtStatus* ORT_API_CALL SessionOptionsSetEpContextDataReadFunc(OrtSessionOptions* options,
                                                               OrtReadNamedBufferFunc read_func, void* state) noexcept {
  return guard([&] {
    auto& read = unwrap(options, "options").read_context_data;
    read = nullptr;
    if (read_func == nullptr) return;
    read = [read_func, state](const std::string& name) { return read_data(read_func, state, name); };
  });
}

}  // namespace ortolan::api
