// Noting and taking the parts of packed weights.
#include "base/memory/packed_parts.h"

#include "base/error.h"
#include "base/memory/lasting_memory.h"

namespace ortolan::base {
namespace {

/** What packing on a thread does with its parts. */
struct Packing {
  PackedParts* noted = nullptr;
  const PackedParts* kept = nullptr;
  size_t blocks = 0, choices = 0;  // taken so far
};

constinit thread_local Packing t_packing;

[[noreturn]] void fail_for_parts() {
  fail(ErrorCode::kFail, "the kept parts of packed weights are not those of these weights; the file is damaged");
}

}  // namespace

NotesParts::NotesParts(PackedParts& parts) noexcept : parts_(parts) { t_packing = {&parts}; }
NotesParts::~NotesParts() {
  t_packing = {};
  std::erase_if(parts_.blocks, [](const PackedParts::Block& block) { return block.data.use_count() == 1; });
}

TakesParts::TakesParts(const PackedParts& parts) noexcept { t_packing = {nullptr, &parts}; }
TakesParts::~TakesParts() { t_packing = {}; }
void TakesParts::check_all_taken() const {
  const Packing& packing = t_packing;
  if (packing.blocks != packing.kept->blocks.size() || packing.choices != packing.kept->choices.size())
    fail_for_parts();
}

bool parts_are_kept() noexcept { return t_packing.kept != nullptr; }

std::shared_ptr<void> packed_block(size_t bytes) {
  Packing& packing = t_packing;
  if (packing.kept != nullptr) {
    if (packing.blocks == packing.kept->blocks.size()) fail_for_parts();
    const PackedParts::Block& block = packing.kept->blocks[packing.blocks++];
    if (block.bytes != bytes) fail_for_parts();
    return block.data;
  }
  std::shared_ptr<void> made = allocate_lasting(bytes);
  if (packing.noted != nullptr) packing.noted->blocks.push_back({made, bytes});
  return made;
}

uint8_t note_choice(uint8_t choice) {
  if (t_packing.noted != nullptr) t_packing.noted->choices.push_back(choice);
  return choice;
}

uint8_t kept_choice(uint8_t end) {
  Packing& packing = t_packing;
  if (packing.choices == packing.kept->choices.size()) fail_for_parts();
  const uint8_t choice = packing.kept->choices[packing.choices++];
  if (choice >= end) fail_for_parts();
  return choice;
}

}  // namespace ortolan::base
