// ortolan api: which functions of the interface the library implements.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/library.h"
#include "common/options.h"
#include "common/terminal.h"
#include "ortolan.h"

namespace ortolan::tools {
namespace {

struct Count {
  int implemented = 0, stub = 0;
};

// "1.9" before "1.10".
struct ByVersion {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

Table make_table(const char* title) { return Table({title, ">functions", ">implemented", ">stub"}); }

void add_row(Table& table, const std::string& name, const Count& count) {
  table.add({name, std::to_string(count.implemented + count.stub), std::to_string(count.implemented),
             std::to_string(count.stub)});
}

void add(Count& count, const OrtApiSlot& slot) { ++(slot.implemented ? count.implemented : count.stub); }

void print_text(const OrtApiSlot* slots, size_t size, bool list) {
  std::vector<std::string> order;
  std::map<std::string, Count> tables;
  std::map<std::string, Count, ByVersion> versions;
  for (size_t i = 0; i < size; ++i) {
    if (!tables.count(slots[i].table)) order.push_back(slots[i].table);
    add(tables[slots[i].table], slots[i]);
    if (std::string(slots[i].table) == "OrtApi") add(versions[slots[i].since], slots[i]);
  }
  Table by_table = make_table("table");
  Table by_version = make_table("OrtApi since");
  Count all;
  for (const std::string& name : order) {
    add_row(by_table, name, tables[name]);
    all.implemented += tables[name].implemented;
    all.stub += tables[name].stub;
  }
  add_row(by_table, "all", all);
  for (const auto& [version, count] : versions) add_row(by_version, version, count);
  std::printf("%s\n%s", by_version.text().c_str(), by_table.text().c_str());
  if (!list) return;
  Table missing({"stub", ">slot", "since"});
  for (size_t i = 0; i < size; ++i) {
    if (slots[i].implemented) continue;
    missing.add({join(slots[i].table, "::", slots[i].name), std::to_string(slots[i].slot), slots[i].since});
  }
  std::printf("\n%s", missing.text().c_str());
}

void print_json(const OrtApiSlot* slots, size_t size) {
  auto out = nlohmann::ordered_json::array();
  for (size_t i = 0; i < size; ++i) {
    out.push_back({{"table", slots[i].table},
                   {"slot", slots[i].slot},
                   {"name", slots[i].name},
                   {"since", slots[i].since},
                   {"implemented", slots[i].implemented != 0}});
  }
  std::printf("%s\n", out.dump(1).c_str());
}

}  // namespace

int api_command(int argc, char** argv) {
  bool json = false, list = false;
  std::string library_path;
  std::vector<std::string> rest =
      parse(argc, argv,
            {"ortolan api [OPTION...]",
             "Counts the functions of the interface that are implemented and those that only say that they are not.",
             {{'l', "list", nullptr, "list the functions that are not implemented", turn(list)},
              {0, "json", nullptr, "print every function as JSON", turn(json)},
              {0, "library", "PATH", "ask this library instead of the linked one", into(library_path)}}});
  if (!rest.empty()) fail_usage("api takes no arguments, but got '", rest[0], "'");
  Library library = choose_library(library_path);
  auto coverage = reinterpret_cast<decltype(&OrtApiCoverage)>(library.symbol("OrtApiCoverage"));
  if (!coverage) fail("this library (", library.build, ") does not say what it implements: it has no OrtApiCoverage");
  size_t size = 0;
  const OrtApiSlot* slots = coverage(&size);
  json ? print_json(slots, size) : print_text(slots, size, list);
  return 0;
}

}  // namespace ortolan::tools
