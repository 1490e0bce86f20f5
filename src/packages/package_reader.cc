// Reads manifest.json and what it names.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <optional>

#include "base/error.h"
#include "base/memory/mapped_file.h"
#include "packages/json.h"
#include "packages/package.h"

namespace ortolan::packages {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::join;
using base::require;
using Kind = Json::Kind;

constexpr int64_t kSchema = 1;
/** Session entries by which a session writes files: only the caller may ask for those. */
constexpr std::string_view kOnlyTheCallers[] = {"session.enable_profiling",
                                                "session.optimized_model_filepath",
                                                "session.debug_layout_transformation",
                                                "session.collect_node_memory_stats_to_file",
                                                "ortolan.compiled_model_folder",
                                                "ortolan.prepared_model_path"};

/** Runs `body`; its errors are kFail, with what it was about before their text. */
template <class Body>
auto about(std::string_view what, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(ErrorCode::kFail, error.text()).within(what);
  }
}

const Json& of_kind(const Json& value, Kind kind, std::string_view name, const char* must_be) {
  require(value.is(kind), ErrorCode::kFail, "'", name, "' must be ", must_be);
  return value;
}

const std::string& text_in(const Json& value, std::string_view name) {
  const std::string& text = of_kind(value, Kind::kText, name, "a string").text;
  require(text.find('\0') == text.npos, ErrorCode::kFail, "'", name, "' holds the character 0; leave it out");
  return text;
}

/** A member that is a string; empty where it was left out. */
std::string text_of(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr ? text_in(*member, name) : std::string();
}

/** Throws unless it is an object with no other members than these. */
void check_members(const Json& value, std::initializer_list<std::string_view> known) {
  require(value.is(Kind::kObject), ErrorCode::kFail, "it must be a JSON object");
  for (const std::string& name : value.names) {
    require(std::ranges::find(known, name) != known.end(), ErrorCode::kFail, "member '", name,
            "' is not known; remove it, or put it into additional_metadata");
  }
}

const Json& needed_object(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  require(member != nullptr, ErrorCode::kFail, "'", name, "' is missing; add this object");
  return of_kind(*member, Kind::kObject, name, "an object");
}

/** Runs `read(name, value)` for the members of an object, with errors that name the member as `what` and its name. */
template <class Read>
void for_members(const Json& object, std::string_view what, Read&& read) {
  for (size_t i = 0; i < object.names.size(); ++i) {
    const std::string& name = object.names[i];
    about(join(what, " '", name, "'"), [&] {
      require(name.find('\0') == name.npos, ErrorCode::kFail, "the name holds the character 0; leave it out");
      read(name, object.items[i]);
    });
  }
}

Json read_json(const std::string& path) {
  return about(join("file '", path, "'"), [&] {
    auto file = base::MappedFile::open(path);
    auto bytes = file->bytes();
    return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

/** The first number of "1.2", "1" or 1; nothing for anything else. */
std::optional<int64_t> major_version(const Json& version) {
  if (version.integer) return version.integer;
  int64_t numbers[2] = {0, 0};
  const char *next = version.text.data(), *end = next + version.text.size();
  for (int64_t& number : numbers) {
    if (next == end || *next < '0' || *next > '9') return std::nullopt;
    auto [after, error] = std::from_chars(next, end, number);
    if (error != std::errc()) return std::nullopt;
    if (after == end) return numbers[0];
    if (*after != '.') return std::nullopt;
    next = after + 1;
  }
  return std::nullopt;
}

int64_t read_schema(const Json& manifest) {
  const Json* version = manifest.find("schema_version");
  require(version != nullptr, ErrorCode::kFail, "'schema_version' is missing; add \"1.0\"");
  auto major = major_version(*version);
  require(major.has_value(), ErrorCode::kFail, "'schema_version' must be a string of two numbers, as \"1.0\"");
  require(*major == kSchema, ErrorCode::kFail, "'schema_version' is ", *major,
          " in its first number; this library reads version ", kSchema);
  return *major;
}

bool read_layout(const Json& manifest) {
  if (manifest.find("layout") == nullptr) return true;
  std::string layout = text_of(manifest, "layout");
  require(layout == "portable" || layout == "installed", ErrorCode::kFail, "'layout' is '", layout,
          "'; it must be \"portable\" or \"installed\"");
  return layout == "portable";
}

class Reader {
 public:
  explicit Reader(const std::string& root) : paths_(root) {}

  std::shared_ptr<const Package> read() {
    Json manifest = read_json(paths_.root() + "/manifest.json");
    int64_t schema = about("manifest.json", [&] { return read_manifest(manifest); });
    std::vector<Component> components;
    for_members(needed_object(manifest, "components"), "manifest.json: component",
                [&](auto& name, auto& value) { components.push_back(read_component(name, value)); });
    return std::make_shared<Package>(std::move(paths_), schema, std::move(components));
  }

 private:
  /** Everything but the components. */
  int64_t read_manifest(const Json& manifest) {
    check_members(manifest, {"schema_version", "package_name", "package_version", "description", "layout", "components",
                             "shared_assets", "additional_metadata"});
    int64_t schema = read_schema(manifest);
    for (const char* name : {"package_name", "package_version", "description"}) text_of(manifest, name);
    paths_.set_portable(read_layout(manifest));
    if (manifest.find("shared_assets") != nullptr) {
      for_members(needed_object(manifest, "shared_assets"), "shared asset",
                  [&](auto& uri, auto& path) { paths_.place_asset(uri, text_in(path, "path")); });
    }
    needed_object(manifest, "components");
    return schema;
  }

  Component read_component(const std::string& name, const Json& value) {
    if (value.is(Kind::kObject)) return read_body(name, value, paths_.root());
    require(value.is(Kind::kText), ErrorCode::kFail, "it must be an object, or the path of one");
    std::string path = paths_.resolve({}, value.text, true);
    if (fs::is_directory(path)) path = paths_.resolve(path, "component.json", true);
    Json body = read_json(path);
    return about(join("file '", path, "'"),
                 [&] { return read_body(name, body, fs::path(path).parent_path().native()); });
  }

  /** `folder`: where the variants' folders are. */
  Component read_body(const std::string& name, const Json& body, const std::string& folder) {
    check_members(body, {"component_name", "variants", "additional_metadata"});
    text_of(body, "component_name");
    Component component{name, {}, {}};
    for_members(needed_object(body, "variants"), "variant", [&](auto& variant, auto& value) {
      component.variants.push_back(read_variant(variant, value, folder));
    });
    return component;
  }

  Variant read_variant(const std::string& name, const Json& value, const std::string& folder) {
    check_members(
        value, {"variant_directory", "ep", "device", "compatibility_string", "executor_info", "additional_metadata"});
    Variant variant;
    variant.name = name;
    variant.ep = text_of(value, "ep");
    variant.device = text_of(value, "device");
    variant.compatibility = text_of(value, "compatibility_string");
    variant.folder = folder_of(name, value.find("variant_directory"), folder);
    if (value.find("executor_info") != nullptr) {
      for_members(needed_object(value, "executor_info"), "executor_info",
                  [&](auto& executor, auto& info) { read_info(executor, info, variant); });
    }
    return variant;
  }

  /** The variant's folder: the one that it names must be there, that of its own name need not. */
  std::string folder_of(const std::string& name, const Json* named, const std::string& component) {
    std::string path =
        paths_.resolve(component, named != nullptr ? text_in(*named, "variant_directory") : name, named != nullptr);
    if (named == nullptr && !fs::exists(path)) return {};
    require(fs::is_directory(path), ErrorCode::kFail, "'", path, "' is no folder; a variant has a folder of its own");
    return path;
  }

  /** What a variant tells one executor; only what it tells ours means something here. */
  void read_info(const std::string& executor, const Json& given, Variant& variant) {
    require(given.is(Kind::kObject) || given.is(Kind::kText), ErrorCode::kFail,
            "it must be an object, or the path of a JSON file");
    Json loaded;
    if (given.is(Kind::kText)) loaded = read_json(paths_.resolve(variant.folder, text_in(given, "path"), true));
    const Json& info = given.is(Kind::kText) ? loaded : given;
    if (executor != "ort") return;
    require(info.is(Kind::kObject), ErrorCode::kFail, "it must be a JSON object");
    if (const Json* model = info.find("model_file")) {
      variant.model = about("model_file", [&] { return resolved(*model, variant); });
    }
    variant.session_options = read_entries(info, "session_options", variant);
    variant.provider_options = read_entries(info, "provider_options", variant);
    for (const auto& [key, entry] : variant.session_options) {
      require(std::ranges::find(kOnlyTheCallers, key) == std::end(kOnlyTheCallers), ErrorCode::kFail,
              "session_options may not set '", key,
              "', which writes files; set it on the session options of the caller");
    }
  }

  std::string resolved(const Json& path, const Variant& variant) {
    return paths_.resolve(variant.folder, text_in(path, "path"), false);
  }

  Entries read_entries(const Json& info, const char* name, const Variant& variant) {
    Entries entries;
    if (info.find(name) == nullptr) return entries;
    for_members(needed_object(info, name), name, [&](auto& key, auto& value) {
      entries.emplace_back(key, is_path_entry(key) ? resolved(value, variant) : text_in(value, "value"));
    });
    return entries;
  }

  Paths paths_;
};

}  // namespace

std::shared_ptr<const Package> open_package(const std::string& root) {
  return about(join("model package '", root, "'"), [&] { return Reader(root).read(); });
}

}  // namespace ortolan::packages
