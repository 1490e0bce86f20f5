// Merges dimensions, widens elements, and launches strided copies.
#include "gpu/core/elements/moves.h"

#include <algorithm>
#include <cstring>

namespace ortolan::gpu {
namespace {

constexpr size_t kDimensions = 6;          // of the kernel
constexpr int64_t kElementsAnItem = 4096;  // on devices whose groups have one item
constexpr int64_t kTile = 16;              // a side of what such an item transposes

void drop(StridedCopy& copy, size_t i) {
  copy.shape.erase(copy.shape.begin() + static_cast<int64_t>(i));
  copy.from.erase(copy.from.begin() + static_cast<int64_t>(i));
  copy.to.erase(copy.to.begin() + static_cast<int64_t>(i));
}

/** Takes several elements of the innermost run as one wherever the places allow it; gives its bytes. */
size_t widen(StridedCopy& copy, size_t bytes) {
  if (copy.shape.empty() || copy.from.back() != 1 || copy.to.back() != 1) return bytes;
  size_t last = copy.shape.size() - 1;
  int64_t all = copy.shape[last] | copy.from_start | copy.to_start;  // its low zeros are those of all
  for (size_t i = 0; i < last; i++) all |= copy.from[i] | copy.to[i];
  int64_t factor = 1;
  while (factor * 2 * static_cast<int64_t>(bytes) <= 16 && all % (factor * 2) == 0) factor *= 2;
  for (size_t i = 0; i < last; i++) {
    copy.from[i] /= factor;
    copy.to[i] /= factor;
  }
  copy.shape[last] /= factor;
  copy.from_start /= factor;
  copy.to_start /= factor;
  return bytes * static_cast<size_t>(factor);
}

/** Lets the fifth of the kernel's dimensions be the one along which the source lies without gaps. */
void bring_source_run_inside(StridedCopy& copy) {
  size_t last = copy.shape.size() - 1;
  for (size_t i = 0; i + 1 < last; i++) {
    if (copy.from[i] != 1) continue;
    std::rotate(copy.shape.begin() + static_cast<int64_t>(i), copy.shape.begin() + static_cast<int64_t>(i) + 1,
                copy.shape.begin() + static_cast<int64_t>(last));
    std::rotate(copy.from.begin() + static_cast<int64_t>(i), copy.from.begin() + static_cast<int64_t>(i) + 1,
                copy.from.begin() + static_cast<int64_t>(last));
    std::rotate(copy.to.begin() + static_cast<int64_t>(i), copy.to.begin() + static_cast<int64_t>(i) + 1,
                copy.to.begin() + static_cast<int64_t>(last));
    return;
  }
}

void fill_up(StridedCopy& copy) {
  size_t missing = kDimensions - copy.shape.size();
  copy.shape.insert(copy.shape.begin(), missing, 1);
  copy.from.insert(copy.from.begin(), missing, 0);
  copy.to.insert(copy.to.begin(), missing, 0);
}

Grain grain_of_copy(const DeviceTraits& traits, const StridedCopy& copy) {
  Grain grain = grain_of(traits, copy.shape[4], copy.shape[5]);
  if (traits.kind != DeviceClass::kWide || copy.from[5] == 1 || copy.from[4] != 1) return grain;
  auto parts = [](int64_t size) { return (size + kTile - 1) / kTile; };
  return {1, kTile, parts(copy.shape[4]), kTile, parts(copy.shape[5])};
}

void launch(Lowering& l, Memory from, Memory to, size_t bytes, StridedCopy copy) {
  fill_up(copy);
  Grain grain = grain_of_copy(l.traits(), copy);
  int64_t items = element_count(copy.shape, 0, 4) * grain.items();
  l.call("strided_copy")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(bytes))
      .constant("FROM_UNIT", copy.from[5] == 1)
      .constant("TO_UNIT", copy.to[5] == 1)
      .read(from)
      .write(to)
      .params(items, copy.shape[4], grain.block, grain.blocks, copy.shape[5], grain.chunk, grain.chunks,
              Shape(copy.shape.begin(), copy.shape.begin() + 4), copy.from, copy.to, copy.from_start, copy.to_start)
      .run_items(items);
}

/** Copies of more dimensions than the kernel has are several of fewer. */
void launch_all(Lowering& l, Memory from, Memory to, size_t bytes, const StridedCopy& copy) {
  if (copy.shape.size() <= kDimensions) return launch(l, from, to, bytes, copy);
  auto shortest = std::min_element(copy.shape.begin(), copy.shape.end() - 1) - copy.shape.begin();
  StridedCopy part = copy;
  drop(part, static_cast<size_t>(shortest));
  for (int64_t i = 0; i < copy.shape[shortest]; i++) {
    launch_all(l, from, to, bytes, part);
    part.from_start += copy.from[shortest];
    part.to_start += copy.to[shortest];
  }
}

}  // namespace

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void merge_dimensions(StridedCopy& copy) {
  for (size_t i = copy.shape.size(); i-- > 0;) {
    if (copy.shape[i] == 1) drop(copy, i);
  }
  for (size_t i = copy.shape.size(); i-- > 1;) {
    int64_t inner = copy.shape[i];
    if (copy.from[i - 1] != copy.from[i] * inner || copy.to[i - 1] != copy.to[i] * inner) continue;
    copy.shape[i] *= copy.shape[i - 1];
    drop(copy, i - 1);
  }
}

bool moves_nothing(const StridedCopy& copy, int64_t elements) {
  bool is_run = copy.shape.empty() || (copy.shape.size() == 1 && copy.from[0] == 1);
  return is_run && copy.from_start == 0 && element_count(copy.shape) == elements;
}

Grain grain_of(const DeviceTraits& traits, int64_t rows, int64_t inner) {
  if (traits.kind != DeviceClass::kWide) return {64, 1, rows, 1, inner};
  int64_t chunk = std::clamp<int64_t>(inner, 1, 4 * kElementsAnItem);
  int64_t block = std::clamp<int64_t>(kElementsAnItem / chunk, 1, std::max<int64_t>(rows, 1));
  return {1, block, (rows + block - 1) / block, chunk, (inner + chunk - 1) / chunk};
}

void copy_strided(Lowering& l, Memory from, Memory to, size_t bytes, StridedCopy copy) {
  if (element_count(copy.shape) == 0) return;
  merge_dimensions(copy);
  bytes = widen(copy, bytes);
  if (!copy.shape.empty() && copy.from.back() != 1) bring_source_run_inside(copy);
  launch_all(l, from, to, bytes, copy);
}

void move_input(Lowering& l, const Shape& shape, StridedCopy copy) {
  merge_dimensions(copy);
  if (moves_nothing(copy, l.count(0))) return l.view(0, 0, shape);
  copy_strided(l, l.input(0), l.output(0, shape), element_bytes(l.type(0)), std::move(copy));
}

void fill(Lowering& l, Memory to, size_t bytes, int64_t count, std::span<const std::byte> value) {
  int32_t words[2] = {0, 0};
  if (!value.empty()) std::memcpy(words, value.data(), bytes);
  Grain grain = grain_of(l.traits(), count);
  l.call("fill")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(bytes))
      .write(to)
      .params(count, grain.chunk, words[0], words[1])
      .run_items(grain.items());
}

void gather_slots(Lowering& l, Memory from, Memory to, size_t bytes, Memory slots, int64_t rows, int64_t inner) {
  Grain grain = grain_of(l.traits(), rows, inner);
  int64_t size = static_cast<int64_t>(from.bytes / bytes) / std::max<int64_t>(inner, 1);
  l.call("gather")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(bytes))
      .read(from)
      .write(to)
      .read(slots)
      .write(l.scratch(4))
      .params(grain.items(), rows, grain.block, rows, size, inner, grain.chunk, grain.chunks, 0)
      .params(0, size, 0)
      .run_items(grain.items());
}

std::string refuse_unstorable(const Candidate& candidate, size_t i) {
  if (element_bytes(candidate.type(i)) > 0) return "";
  return "input " + std::to_string(i) + " is of " + type_name(candidate.type(i)) + ", which cannot lie on a device";
}

}  // namespace ortolan::gpu
