// Pages of memory, whose size the system decides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ortolan::base {

/** What transparent huge pages hold, and where they begin. */
inline constexpr size_t kHugePage = size_t{2} << 20;

/** The least multiple of `unit` that is not below `bytes`. */
constexpr size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/** Addresses, from `begin` up to `end`. */
struct AddressRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  size_t bytes() const { return end - begin; }
  bool operator==(const AddressRange&) const = default;
};

/** The pages of `page` bytes that lie wholly in the block, and so hold nothing else; empty where there is none. */
constexpr AddressRange whole_pages(uintptr_t block, size_t bytes, size_t page) {
  const uintptr_t first = block / page + (block % page != 0 ? 1 : 0), last = (block + bytes) / page;
  return first < last ? AddressRange{first * page, last * page} : AddressRange{block, block};
}

/** Gives the memory of the pages back that lie wholly in the block. What they held is gone, or, where they are a
    file's, is read again when it is asked for. */
void give_back_pages(const void* block, size_t bytes) noexcept;

}  // namespace ortolan::base
