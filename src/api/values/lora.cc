// LoRA adapters: files of named tensors that runs add to their inputs. The files are FlatBuffers of one small schema,
// and every offset in them is checked.
#include <cstring>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "base/flat_reader.h"
#include "base/memory/mapped_file.h"
#include "runtime/session/session_options.h"
#include "tensor/tensor.h"

namespace ortolan::api {

/** OrtLoraAdapter. */
struct LoraAdapter {
  std::vector<std::pair<std::string, Value>> parameters;
};

namespace {

constexpr int32_t kFormatVersion = 1;
constexpr std::string_view kIdentifier = "TORT";
// The fields of the schema's two tables, in their order.
enum AdapterField : size_t { kFormat = 0, kParameters = 3 };
enum ParameterField : size_t { kName = 0, kDims = 1, kType = 2, kData = 3 };

std::string name_of_parameter(const base::FlatReader& reader, size_t table) {
  auto [at, count] = reader.vector_field(table, kName, 1);
  require(at != 0, ErrorCode::kFail, "a parameter of the adapter has no name");
  const std::byte* text = reader.range(at, count);
  return {static_cast<const char*>(static_cast<const void*>(text)), count};
}

Shape shape_of_parameter(const base::FlatReader& reader, size_t table, const std::string& name) {
  auto [at, count] = reader.vector_field(table, kDims, sizeof(int64_t));
  constexpr size_t kMostDims = 64;
  require(count > 0 && count <= kMostDims, ErrorCode::kFail, "parameter '", name, "' of the adapter has ", count,
          " dimensions; it must have 1 to ", kMostDims);
  Shape shape;
  for (size_t i = 0; i < count; ++i) shape.push_back(reader.number<int64_t>(at + i * sizeof(int64_t)));
  return shape;
}

ElementType type_of_parameter(const base::FlatReader& reader, size_t table, const std::string& name) {
  int32_t number = reader.number_field<int32_t>(table, kType);
  constexpr auto kLast = static_cast<int32_t>(ElementType::kFloat8E5M2FNUZ);
  require(number > 0 && number <= kLast && number != static_cast<int32_t>(ElementType::kString), ErrorCode::kFail,
          "parameter '", name, "' of the adapter has element type ", number, "; types are those of numbers, 1 to ",
          kLast);
  return static_cast<ElementType>(number);
}

/** A view of the adapter's bytes, which `owner` keeps, or a copy where they are not aligned. */
Value tensor_of_parameter(const base::FlatReader& reader, size_t table, const std::string& name,
                          const std::shared_ptr<void>& owner) {
  Shape shape = shape_of_parameter(reader, table, name);
  ElementType type = type_of_parameter(reader, table, name);
  auto [at, count] = reader.vector_field(table, kData, 1);
  size_t needed = bytes_for(type, checked_size(shape));
  require(count == needed, ErrorCode::kFail, "parameter '", name, "' of the adapter has ", count,
          " bytes of data, but its shape ", shape, " needs ", needed);
  const std::byte* data = reader.range(at, count);
  if (is_aligned(type, data)) return Tensor(type, shape, const_cast<std::byte*>(data), owner);
  Tensor copy(type, shape);
  if (needed != 0) std::memcpy(copy.mutable_raw(), data, needed);
  return copy;
}

/** The adapter in the bytes, which `owner` keeps. */
LoraAdapter read_adapter(std::span<const std::byte> bytes, const std::shared_ptr<void>& owner) {
  base::FlatReader reader(bytes, "the adapter");
  bool marked = bytes.size() >= 8 && std::memcmp(reader.range(4, 4), kIdentifier.data(), kIdentifier.size()) == 0;
  require(marked, ErrorCode::kFail, "these ", bytes.size(), " bytes are no adapter: the mark ", kIdentifier,
          " is missing at byte 4");
  size_t root = reader.follow(0);
  int32_t version = reader.number_field<int32_t>(root, kFormat);
  require(version == kFormatVersion, ErrorCode::kFail, "the adapter has format version ", version,
          "; this library reads ", kFormatVersion);
  LoraAdapter adapter;
  auto [at, count] = reader.vector_field(root, kParameters, sizeof(uint32_t));
  size_t used = 0;  // parameters that share bytes could grow without bound when they are copied
  for (size_t i = 0; i < count; ++i) {
    size_t table = reader.follow(at + i * sizeof(uint32_t));
    used += reader.vector_field(table, kName, 1).second + reader.vector_field(table, kData, 1).second;
    require(used <= bytes.size(), ErrorCode::kFail, "the adapter is damaged: its parameters share bytes");
    std::string name = name_of_parameter(reader, table);
    Value value = tensor_of_parameter(reader, table, name, owner);
    adapter.parameters.emplace_back(std::move(name), std::move(value));
  }
  return adapter;
}

/** An allocator says on which device the parameters are wanted. They stay with the CPU all the same: a run brings what
   it is fed to where it is read. */
void check_allocator(OrtAllocator* allocator) {
  if (allocator == nullptr) return;
  const MemoryInfo& memory = core_allocator(allocator)->info();
  require(!memory.on_cpu(), ErrorCode::kFail, "the allocator is for memory '", memory.name,
          "' of the CPU; give NULL, or an allocator of a device");
}

}  // namespace

OrtStatus* ORT_API_CALL CreateLoraAdapter(const ORTCHAR_T* adapter_file_path, OrtAllocator* allocator,
                                          OrtLoraAdapter** out) noexcept {
  return guard([&] {
    std::string path = text(adapter_file_path, "adapter_file_path");
    check_allocator(allocator);
    auto file = base::MappedFile::open(path);
    try {
      give(out, read_adapter(file->bytes(), file));
    } catch (const Error& error) {
      throw error.within(path);
    }
  });
}

OrtStatus* ORT_API_CALL CreateLoraAdapterFromArray(const void* bytes, size_t num_bytes, OrtAllocator* allocator,
                                                   OrtLoraAdapter** out) noexcept {
  return guard([&] {
    auto given = array(static_cast<const std::byte*>(bytes), num_bytes, "bytes");
    check_allocator(allocator);
    Tensor copy(ElementType::kUInt8, Shape{checked_cast<int64_t>(num_bytes)});
    if (num_bytes != 0) std::memcpy(copy.mutable_raw(), given.data(), num_bytes);
    give(out, read_adapter({static_cast<const std::byte*>(copy.raw()), num_bytes}, copy.owner()));
  });
}

void ORT_API_CALL ReleaseLoraAdapter(OrtLoraAdapter* adapter) noexcept { release(adapter); }

OrtStatus* ORT_API_CALL RunOptionsAddActiveLoraAdapter(OrtRunOptions* options, const OrtLoraAdapter* adapter) noexcept {
  return guard([&] { unwrap(options, "options").extra_inputs.emplace_back(unwrap(adapter, "adapter").parameters); });
}

}  // namespace ortolan::api
