// Session options on what a model takes: dimensions fixed beforehand, initializers and external files from the caller.
#include "api/arguments.h"
#include "api/guard.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {
namespace {

using Dimensions = std::map<std::string, int64_t>;
using Initializers = std::map<std::string, Value>;

void override_dimension(Dimensions& dimensions, const char* name, int64_t value) {
  std::string key = text(name, "dim_name");
  require(!key.empty(), ErrorCode::kInvalidArgument, "the dimension's name is empty");
  require(value >= 0, ErrorCode::kInvalidArgument, "dimension '", key, "' cannot be ", value);
  dimensions[key] = value;
}

void add_initializer(Initializers& initializers, const char* name, const OrtValue* value) {
  std::string key = text(name, "name");
  require(!key.empty(), ErrorCode::kInvalidArgument, "an initializer's name is empty");
  const Value& core = unwrap(value, "val");
  require(core.is_tensor(), ErrorCode::kInvalidArgument, "initializer '", key, "' is not a tensor");
  require(initializers.emplace(key, core).second, ErrorCode::kInvalidArgument, "an initializer '", key,
          "' has been added already");
}

}  // namespace

OrtStatus* ORT_API_CALL AddFreeDimensionOverride(OrtSessionOptions* options, const char* dim_denotation,
                                                 int64_t dim_value) noexcept {
  return guard(
      [&] { override_dimension(unwrap(options, "options").dimensions_by_denotation, dim_denotation, dim_value); });
}

OrtStatus* ORT_API_CALL AddFreeDimensionOverrideByName(OrtSessionOptions* options, const char* dim_name,
                                                       int64_t dim_value) noexcept {
  return guard([&] { override_dimension(unwrap(options, "options").dimensions_by_name, dim_name, dim_value); });
}

OrtStatus* ORT_API_CALL AddInitializer(OrtSessionOptions* options, const char* name, const OrtValue* val) noexcept {
  return guard([&] { add_initializer(unwrap(options, "options").initializers, name, val); });
}

OrtStatus* ORT_API_CALL AddExternalInitializers(OrtSessionOptions* options, const char* const* initializer_names,
                                                const OrtValue* const* initializers, size_t count) noexcept {
  return guard([&] {
    Initializers& known = unwrap(options, "options").external_initializers;
    auto names = array(initializer_names, count, "initializer_names");
    auto values = array(initializers, count, "initializers");
    Initializers all = known;
    for (size_t i = 0; i < count; ++i) add_initializer(all, names[i], values[i]);
    known = std::move(all);
  });
}

OrtStatus* ORT_API_CALL AddExternalInitializersFromFilesInMemory(OrtSessionOptions* options,
                                                                 const char* const* file_names,
                                                                 char* const* file_buffers, const size_t* file_lengths,
                                                                 size_t count) noexcept {
  return guard([&] {
    auto& files = unwrap(options, "options").external_files;
    auto names = array(file_names, count, "external_initializer_file_names");
    auto buffers = array(file_buffers, count, "external_initializer_file_buffer_array");
    auto lengths = array(file_lengths, count, "external_initializer_file_lengths");
    auto all = files;
    for (size_t i = 0; i < count; ++i) {
      std::string name = text(names[i], "file name");
      require(!name.empty() && lengths[i] != 0, ErrorCode::kInvalidArgument, "file ", i, " ('", name, "') of ",
              lengths[i], " bytes: a file needs a name and content");
      auto bytes = std::as_bytes(array(buffers[i], lengths[i], "file content"));
      require(all.emplace(name, bytes).second, ErrorCode::kInvalidArgument, "a file '", name,
              "' has been added already");
    }
    files = std::move(all);
  });
}

}  // namespace ortolan::api
