// MurmurHash3_x86_32 of Austin Appleby's SMHasher, from its description.
#include <bit>
#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** Four bytes as they enter the hash. */
uint32_t scrambled(uint32_t word) { return std::rotl(word * 0xcc9e2d51u, 15) * 0x1b873593u; }

/** The count % 4 last bytes, lowest first; without branches on their number where there are four bytes to read. */
uint32_t last_bytes(const char* bytes, size_t count) {
  if (count >= 4) {
    uint32_t word;
    std::memcpy(&word, bytes + count - 4, 4);
    return static_cast<uint32_t>(uint64_t{word} >> (8 * (4 - count % 4)));
  }
  uint32_t rest = 0;
  for (size_t i = count; i-- > 0;) rest = rest << 8 | static_cast<uint8_t>(bytes[i]);
  return rest;
}

uint32_t hash_of(const char* bytes, size_t count, uint32_t seed) {
  uint32_t hash = seed;
  size_t words = count / 4;
  for (size_t i = 0; i < words; ++i) {
    uint32_t word;
    std::memcpy(&word, bytes + 4 * i, 4);
    hash = std::rotl(hash ^ scrambled(word), 13) * 5 + 0xe6546b64u;
  }
  hash ^= scrambled(last_bytes(bytes, count));
  hash ^= static_cast<uint32_t>(count);
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

class MurmurHash3 : public OpKernel {
 public:
  explicit MurmurHash3(const KernelInfo& info) : seed_(static_cast<uint32_t>(info.node().int_or("seed", 0))) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    auto* to = static_cast<uint32_t*>(context.output(0).mutable_raw());
    const int64_t least = kernels::least_items(kernels::kHashNs);
    context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
      if (x.type() == ElementType::kString) {
        const std::string* from = x.data<std::string>();
        for (int64_t i = begin; i < end; ++i) to[i] = hash_of(from[i].data(), from[i].size(), seed_);
      } else {
        int64_t size = bits_of(x.type()) / 8;
        auto* from = static_cast<const char*>(x.raw());
        for (int64_t i = begin; i < end; ++i) to[i] = hash_of(from + i * size, static_cast<size_t>(size), seed_);
      }
    });
  }

 private:
  uint32_t seed_;
};

constexpr KernelRow kRows[] = {{"com.microsoft", "MurmurHash3", 1, kLatest, make_kernel<MurmurHash3>}};

}  // namespace

extern const KernelTable murmur_hash3_rows;
const KernelTable murmur_hash3_rows(kRows);

}  // namespace ortolan::cpu::microsoft
