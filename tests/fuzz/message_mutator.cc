// A message as a tree of fields, and random edits of it.
#include "mutator.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace ortolan::fuzz {
namespace {

constexpr int kMostDepth = 12;

struct Item {
  uint64_t tag = 0;
  uint64_t number = 0;      // varint or fixed
  std::string bytes;        // of a leaf
  std::vector<Item> inner;  // of a message
  bool is_message = false;
};

bool take_varint(std::string_view& rest, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < rest.size() && i < 10; ++i) {
    auto byte = static_cast<uint8_t>(rest[i]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      rest.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool take_fixed(std::string_view& rest, size_t size, uint64_t& value) {
  if (rest.size() < size) return false;
  value = 0;
  std::memcpy(&value, rest.data(), size);
  rest.remove_prefix(size);
  return true;
}

/** Splits a message into fields; false when it is none. */
bool parse(std::string_view rest, std::vector<Item>& items, int depth) {
  while (!rest.empty()) {
    Item item;
    if (!take_varint(rest, item.tag) || item.tag >> 3 == 0 || item.tag >> 3 > 100) return false;
    switch (item.tag & 7) {
      case 0:
        if (!take_varint(rest, item.number)) return false;
        break;
      case 1:
      case 5:
        if (!take_fixed(rest, (item.tag & 7) == 1 ? 8 : 4, item.number)) return false;
        break;
      case 2: {
        uint64_t size;
        if (!take_varint(rest, size) || size > rest.size()) return false;
        item.bytes = rest.substr(0, size);
        rest.remove_prefix(size);
        item.is_message = depth < kMostDepth && size > 1 && parse(item.bytes, item.inner, depth + 1);
        if (!item.is_message) item.inner.clear();
        break;
      }
      default:
        return false;
    }
    items.push_back(std::move(item));
  }
  return true;
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::string written(const std::vector<Item>& items) {
  std::string out;
  for (const Item& item : items) {
    append_varint(out, item.tag);
    switch (item.tag & 7) {
      case 0:
        append_varint(out, item.number);
        break;
      case 1:
      case 5:
        out.append(reinterpret_cast<const char*>(&item.number), (item.tag & 7) == 1 ? 8 : 4);
        break;
      default: {
        std::string bytes = item.is_message ? written(item.inner) : item.bytes;
        append_varint(out, bytes.size());
        out += bytes;
      }
    }
  }
  return out;
}

struct Place {
  std::vector<Item>* list;
  size_t index;
  Item& item() const { return (*list)[index]; }
};

void collect(std::vector<Item>& items, std::vector<Place>& places) {
  for (size_t i = 0; i < items.size(); ++i) {
    places.push_back({&items, i});
    if (items[i].is_message) collect(items[i].inner, places);
  }
}

class Mutation {
 public:
  explicit Mutation(std::mt19937& random) : random_(random) {}

  void apply(std::vector<Item>& items, const std::vector<Place>& others) {
    std::vector<Place> places;
    collect(items, places);
    if (places.empty()) return;
    Place place = pick(places);
    switch (random_() % 8) {
      case 0:
        place.list->erase(place.list->begin() + static_cast<std::ptrdiff_t>(place.index));
        break;
      case 1:
        place.list->insert(place.list->begin() + static_cast<std::ptrdiff_t>(place.index), Item(place.item()));
        break;
      case 2:
        take_over(place.item(), others.empty() ? places : others);
        break;
      case 3:
        take_over(place.item(), places);
        break;
      default:
        change(place.item());
    }
  }

 private:
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[random_() % list.size()];
  }
  uint64_t number() {
    constexpr int64_t kNumbers[] = {0,         1,         2,         3,         4,         5,         7,
                                    8,         16,        64,        255,       256,       1000,      65535,
                                    65536,     1 << 24,   INT32_MAX, 1LL << 31, 1LL << 32, 1LL << 40, INT64_MAX,
                                    INT64_MIN, INT32_MIN, -1,        -2,        -3,        -5,        -1000};
    return static_cast<uint64_t>(kNumbers[random_() % std::size(kNumbers)]);
  }
  /** Becomes like a field with the same tag elsewhere, if a few tries find one. */
  void take_over(Item& item, const std::vector<Place>& from) {
    for (int i = 0; i < 64; ++i) {
      const Item& other = pick(from).item();
      if (other.tag != item.tag || other.is_message != item.is_message) continue;
      item = Item(other);
      return;
    }
  }
  void change(Item& item) {
    switch (item.tag & 7) {
      case 0:
        item.number = random_() % 3 ? number() : item.number + (random_() % 2 ? 1 : -1);
        break;
      case 1:
      case 5:
        item.number = random_() % 2 ? number() : (uint64_t{random_()} << 32) | random_();
        break;
      default:
        if (!item.is_message) change_bytes(item.bytes);
    }
  }
  void change_bytes(std::string& bytes) {
    switch (random_() % 6) {
      case 0:
        bytes.resize(bytes.size() / 2);
        break;
      case 1:
        bytes += bytes.substr(0, 64);
        break;
      case 2: {  // one number of a packed list
        std::string varint;
        append_varint(varint, number());
        bytes = random_() % 2 ? bytes + varint : varint + bytes.substr(bytes.empty() ? 0 : 1);
        break;
      }
      case 3:  // one number of raw data
        if (bytes.size() >= 8) {
          uint64_t value = number();
          std::memcpy(bytes.data() + random_() % (bytes.size() / 8) * 8, &value, 8);
        }
        break;
      default:
        if (!bytes.empty()) bytes[random_() % bytes.size()] = static_cast<char>(random_());
    }
  }
  std::mt19937& random_;
};

}  // namespace

std::string mutate(std::string_view model, std::string_view other, std::mt19937& random) {
  std::vector<Item> items, foreign;
  if (!parse(model, items, 0)) return std::string(model);
  std::vector<Place> others;
  if (parse(other, foreign, 0)) collect(foreign, others);
  Mutation mutation(random);
  for (unsigned i = 0, count = random() % 4 + 1; i < count; ++i) mutation.apply(items, others);
  return written(items);
}

}  // namespace ortolan::fuzz
