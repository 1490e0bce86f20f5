// The GNU build identifier, from the notes in memory.
#include "base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace ortolan::base {
namespace {

struct Search {
  uintptr_t address;  // of something in the object that is looked for
  std::string found;
};

size_t padded(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

void read_notes(const char* notes, size_t bytes, std::string& found) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const size_t whole = sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
    if (whole > bytes) return;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(notes + sizeof head, "GNU", 4) == 0) {
      const char* id = notes + sizeof head + padded(head.n_namesz);
      for (size_t i = 0; i < head.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(id[i]);
        found += {kDigits[byte >> 4], kDigits[byte & 15]};
      }
      return;
    }
    notes += whole;
    bytes -= whole;
  }
}

int look_at(dl_phdr_info* object, size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  bool is_here = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    is_here |= part.p_type == PT_LOAD && search.address >= begin && search.address - begin < part.p_memsz;
  }
  for (int i = 0; is_here && i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !search.found.empty()) continue;
    read_notes(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz, search.found);
  }
  return is_here ? 1 : 0;
}

std::string find_build_id() {
  static const char here = 0;
  Search search{reinterpret_cast<uintptr_t>(&here), {}};
  dl_iterate_phdr(look_at, &search);
  return search.found;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = find_build_id();
  return id;
}

}  // namespace ortolan::base
