// Random edits of bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "mutator.h"

namespace ortolan::fuzz {
namespace {

struct Piece {
  size_t start = 0, count = 0;
};

Piece piece_of(std::string_view bytes, std::mt19937& random) {
  if (bytes.empty()) return {};
  size_t start = random() % bytes.size();
  return {start, 1 + random() % std::min<size_t>(bytes.size() - start, 32)};
}

void change_number(std::string& bytes, std::mt19937& random) {
  constexpr uint32_t kNumbers[] = {0, 1, 2, 4, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
  uint32_t number = kNumbers[random() % std::size(kNumbers)];
  size_t width = size_t{1} << random() % 3;
  if (bytes.size() < width) return;
  std::memcpy(bytes.data() + random() % (bytes.size() - width + 1), &number, width);
}

void edit(std::string& bytes, std::string_view other, std::mt19937& random) {
  Piece mine = piece_of(bytes, random), theirs = piece_of(other, random);
  switch (random() % 6) {
    case 0:
      bytes.erase(mine.start, mine.count);
      break;
    case 1:
      bytes.insert(mine.start, bytes.substr(mine.start, mine.count));
      break;
    case 2:
      bytes.replace(mine.start, mine.count, other.substr(theirs.start, theirs.count));
      break;
    case 3:
      bytes.insert(mine.start, other.substr(theirs.start, theirs.count));
      break;
    case 4:
      change_number(bytes, random);
      break;
    default:
      if (!bytes.empty()) bytes[mine.start] = static_cast<char>(random());
  }
}

}  // namespace

std::string mutate(std::string_view input, std::string_view other, std::mt19937& random) {
  std::string bytes(input);
  for (unsigned i = 0, count = random() % 4 + 1; i < count; ++i) edit(bytes, other, random);
  return bytes;
}

}  // namespace ortolan::fuzz
