// What packed weights consist of, so that they can be kept in a file and be found there again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ortolan::base {

/** The parts of one packed form in the order in which packing makes them: large blocks of memory, and small choices
    that depend on the weights' values. What else belongs to the form follows from the weights' type and shape and from
    the packing's parameters, so parts of a damaged file make wrong values at worst, and no access outside. */
struct PackedParts {
  struct Block {
    std::shared_ptr<void> data;
    size_t bytes = 0;
  };
  std::vector<Block> blocks;
  std::vector<uint8_t> choices;
};

/** While it lives, packing on the calling thread notes its parts there. */
class NotesParts {
 public:
  explicit NotesParts(PackedParts& parts) noexcept;
  /** Parts that packing has let go again are none. */
  ~NotesParts();
  NotesParts(const NotesParts&) = delete;
  NotesParts& operator=(const NotesParts&) = delete;

 private:
  PackedParts& parts_;
};

/** While it lives, packing on the calling thread takes its parts from there, and computes nothing. */
class TakesParts {
 public:
  explicit TakesParts(const PackedParts& parts) noexcept;
  ~TakesParts();
  TakesParts(const TakesParts&) = delete;
  TakesParts& operator=(const TakesParts&) = delete;

  /** Throws kFail unless every part has been taken. */
  void check_all_taken() const;
};

// For code that packs. It asks for the same parts in the same order whether they are kept or not.

/** Whether the parts are there already: neither the weights nor the blocks may then be touched. */
bool parts_are_kept() noexcept;

/** A block of that size for as long as a session lives. Where parts are kept, throws kFail if the next has another
    size; else as allocate_lasting(). */
std::shared_ptr<void> packed_block(size_t bytes);

/** Notes and returns a choice. */
uint8_t note_choice(uint8_t choice);
/** Where parts are kept, the next choice; throws kFail unless there is one below `end`. */
uint8_t kept_choice(uint8_t end);
/** The one or the other: compute() is called where parts are not kept. */
template <class Compute>
uint8_t packed_choice(uint8_t end, Compute&& compute) {
  return parts_are_kept() ? kept_choice(end) : note_choice(compute());
}

}  // namespace ortolan::base
