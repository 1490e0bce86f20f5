// OrtAllocator on both sides: the core's allocators as the caller sees them, and the caller's own as the core does.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/key_values.h"
#include "onnxruntime_c_api.h"
#include "tensor/allocator.h"

namespace ortolan::api {

/** The core's view: of one that we handed out, the allocator behind it; of the caller's own, a wrapper that needs
    `allocator` to live as long as anything made with it. Throws when it is NULL. */
std::shared_ptr<tensor::Allocator> core_allocator(OrtAllocator* allocator);

/** The caller's view of a core allocator; it goes to the caller, who ends it with ReleaseAllocator. */
OrtAllocator* new_api_allocator(std::shared_ptr<tensor::Allocator> core);

/** The one default allocator; never freed. */
OrtAllocator* default_api_allocator();

/** A block from `allocator`; throws when there is none. */
void* allocate_for_caller(OrtAllocator* allocator, size_t bytes);

/** A copy of the text, with a NUL at its end, in memory from `allocator`. */
char* copy_text(OrtAllocator* allocator, std::string_view text);

/** Copies of the texts and an array of pointers to them, all from `allocator`; NULL when there are none. */
char** copy_texts(OrtAllocator* allocator, const std::vector<std::string_view>& texts);

/** The statistics under the names that OrtAllocator::GetStats uses. */
base::KeyValues stats_of(const tensor::Allocator& allocator);

}  // namespace ortolan::api
