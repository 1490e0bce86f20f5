// LoRA adapters: files of named tensors that runs add to their inputs. The files are FlatBuffers of one small schema,
// and every offset in them is checked.
#include <cstring>

#include "api/allocators.h"
#include "api/arguments.h"
#include "api/guard.h"
#include "base/mapped_file.h"
#include "runtime/session_options.h"
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

/** Reads within the bytes of a FlatBuffer; positions count from its start. Throws on anything outside. */
class FlatReader {
 public:
  explicit FlatReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T number(size_t at) const {
    T value;
    std::memcpy(&value, range(at, sizeof value), sizeof value);
    return value;
  }
  /** The place that an offset at `at` points to. */
  size_t follow(size_t at) const { return checked_add(at, size_t{number<uint32_t>(at)}); }
  const std::byte* range(size_t at, size_t count) const {
    require(at <= bytes_.size() && count <= bytes_.size() - at, ErrorCode::kFail, "the adapter is damaged: ", count,
            " bytes at ", at, " are outside its ", bytes_.size(), " bytes");
    return bytes_.data() + at;
  }
  /** Where a field of the table is; 0 when it was left out. */
  size_t field(size_t table, size_t index) const {
    int64_t vtable = static_cast<int64_t>(table) - number<int32_t>(table);
    require(vtable >= 0, ErrorCode::kFail, "the adapter is damaged: a table's description is at ", vtable);
    auto start = static_cast<size_t>(vtable);
    size_t entry = 4 + 2 * index;
    if (entry + 2 > number<uint16_t>(start)) return 0;
    uint16_t offset = number<uint16_t>(start + entry);
    return offset == 0 ? 0 : table + offset;
  }
  int32_t int_field(size_t table, size_t index) const {
    size_t at = field(table, index);
    return at == 0 ? 0 : number<int32_t>(at);
  }
  /** A vector's place and count, of items of that size; place 0 when it was left out. */
  std::pair<size_t, size_t> vector_field(size_t table, size_t index, size_t item_bytes) const {
    size_t at = field(table, index);
    if (at == 0) return {0, 0};
    size_t start = follow(at);
    size_t count = number<uint32_t>(start);
    range(start + 4, checked_mul(count, item_bytes));
    return {start + 4, count};
  }

 private:
  std::span<const std::byte> bytes_;
};

std::string name_of_parameter(const FlatReader& reader, size_t table) {
  auto [at, count] = reader.vector_field(table, kName, 1);
  require(at != 0, ErrorCode::kFail, "a parameter of the adapter has no name");
  const std::byte* text = reader.range(at, count);
  return {static_cast<const char*>(static_cast<const void*>(text)), count};
}

Shape shape_of_parameter(const FlatReader& reader, size_t table, const std::string& name) {
  auto [at, count] = reader.vector_field(table, kDims, sizeof(int64_t));
  constexpr size_t kMostDims = 64;
  require(count > 0 && count <= kMostDims, ErrorCode::kFail, "parameter '", name, "' of the adapter has ", count,
          " dimensions; it must have 1 to ", kMostDims);
  Shape shape;
  for (size_t i = 0; i < count; ++i) shape.push_back(reader.number<int64_t>(at + i * sizeof(int64_t)));
  return shape;
}

ElementType type_of_parameter(const FlatReader& reader, size_t table, const std::string& name) {
  int32_t number = reader.int_field(table, kType);
  constexpr auto kLast = static_cast<int32_t>(ElementType::kFloat8E5M2FNUZ);
  require(number > 0 && number <= kLast && number != static_cast<int32_t>(ElementType::kString), ErrorCode::kFail,
          "parameter '", name, "' of the adapter has element type ", number, "; types are those of numbers, 1 to ",
          kLast);
  return static_cast<ElementType>(number);
}

/** A view of the adapter's bytes, which `owner` keeps, or a copy where they are not aligned. */
Value tensor_of_parameter(const FlatReader& reader, size_t table, const std::string& name,
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
  FlatReader reader(bytes);
  bool marked = bytes.size() >= 8 && std::memcmp(reader.range(4, 4), kIdentifier.data(), kIdentifier.size()) == 0;
  require(marked, ErrorCode::kFail, "these ", bytes.size(), " bytes are no adapter: the mark ", kIdentifier,
          " is missing at byte 4");
  size_t root = reader.follow(0);
  int32_t version = reader.int_field(root, kFormat);
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
