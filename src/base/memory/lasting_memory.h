// Memory that lives as long as a session, such as its weights.
#pragma once

#include <cstddef>
#include <memory>

namespace ortolan::base {

/** `bytes` of uninitialised memory, aligned to kBlockAlignment. Blocks made one after the other lie side by side where
    they can, so that processors that read them in that order fetch ahead from one into the next, and share huge pages.
    Throws std::bad_alloc. May be called by any thread, and the block may be let go by any. */
std::shared_ptr<void> allocate_lasting(size_t bytes);

/** While an object of this class lives, lasting memory that ends keeps its pages, and blocks made later take them as
    they are: the system need not clear others. The last object to go gives the pages back that nobody took. Without
    one, pages go back at once. */
class LastingReuse {
 public:
  LastingReuse();
  ~LastingReuse();
  LastingReuse(const LastingReuse&) = delete;
  LastingReuse& operator=(const LastingReuse&) = delete;
};

}  // namespace ortolan::base
