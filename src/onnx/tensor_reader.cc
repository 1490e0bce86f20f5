// TensorProto and SparseTensorProto: from raw bytes, typed lists or external files to tensors.
#include "onnx/tensor_reader.h"

#include <algorithm>

#include "tensor/external_place.h"

namespace ortolan::onnx {
namespace {

/** The numbers of TensorProto's fields that hold elements. */
enum DataField : uint32_t {
  kNoData = 0,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kRawData = 9,
  kDoubleData = 10,
  kUInt64Data = 11,
};

std::string_view name_of(DataField field) {
  switch (field) {
    case kFloatData:
      return "float_data";
    case kInt32Data:
      return "int32_data";
    case kStringData:
      return "string_data";
    case kInt64Data:
      return "int64_data";
    case kRawData:
      return "raw_data";
    case kDoubleData:
      return "double_data";
    case kUInt64Data:
      return "uint64_data";
    case kNoData:
      break;
  }
  return "nothing";
}

/** The typed field that holds elements of `type`. */
DataField field_for(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return kFloatData;
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return kDoubleData;
    case ElementType::kInt64:
      return kInt64Data;
    case ElementType::kUInt32:
    case ElementType::kUInt64:
      return kUInt64Data;
    case ElementType::kString:
      return kStringData;
    default:
      return kInt32Data;
  }
}

[[noreturn]] void fail_size(ElementType type, const Shape& shape, size_t wanted, std::string_view field, size_t found,
                            std::string_view unit) {
  fail(ErrorCode::kInvalidGraph, "its shape ", shape, " of ", tensor::name_of(type), " needs ", wanted, " ", unit,
       ", but ", field, " holds ", found, "; the model is damaged");
}

/** Fills `tensor` with the elements that `each(take)` hands out, as T; throws when there are more or fewer. */
template <class T, class Each>
void fill(Tensor& tensor, size_t count, std::string_view field, Each&& each) {
  auto* out = static_cast<T*>(tensor.mutable_raw());
  size_t filled = 0;
  each([&](auto value) {
    if (filled < count) out[filled] = static_cast<T>(value);
    ++filled;
  });
  if (filled != count) fail_size(tensor.type(), tensor.shape(), count, field, filled, "numbers");
}

/** Throws unless `value` fits in `bits`, signed or not. */
void check_fits(int64_t value, int bits) {
  int64_t limit = int64_t{1} << bits;
  require(value >= -limit / 2 && value < limit, ErrorCode::kInvalidGraph, "int32_data holds ", value,
          ", which does not fit in ", bits, " bits");
}

Shape shape_of(std::span<const int64_t> dims) {
  require(dims.size() <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidGraph, "its rank ", dims.size(),
          " is above ", kMaxRank);
  Shape shape(dims.begin(), dims.end());
  shape.element_count();
  return shape;
}

int64_t type_in(Bytes message) {
  WireReader reader(message, "TensorProto");
  while (reader.next()) {
    if (reader.number() == 2) return reader.field().integer();
  }
  return 0;
}

}  // namespace

/** What a TensorProto message holds, as far as it can be told without decoding elements. */
struct TensorReader::Parts {
  Bytes message;
  std::vector<int64_t> dims;
  int64_t type = 0;
  std::string_view name;
  DataField data = kNoData;  // the field with elements: raw data before others, the type's own field before the rest
  size_t chunks = 0;         // how often it occurs
  Bytes first_chunk;
  bool external = false;
  ExternalLocation location;

  explicit Parts(Bytes message) : message(message) {}
  void parse() {
    type = type_in(message);
    WireReader reader(message, "TensorProto");
    while (reader.next()) read_field(reader.field());
  }
  void read_field(const Field& field) {
    switch (field.number()) {
      case 1:
        return field.each_integer([&](int64_t dim) { dims.push_back(dim); });
      case 8:
        name = field.text();
        return;
      case 13:
        return ExternalFiles::read_entry(field.bytes(), location);
      case 14:
        external = field.integer() == 1;
        return;
      case kFloatData:
      case kInt32Data:
      case kStringData:
      case kInt64Data:
      case kRawData:
      case kDoubleData:
      case kUInt64Data:
        return read_data(field);
      default:
        return;
    }
  }
  void read_data(const Field& field) {
    auto number = static_cast<DataField>(field.number());
    if (number == kRawData || number == kStringData) field.bytes();
    if (number != kStringData && field.is_packed() && field.bytes().empty()) return;
    require(number != kRawData || data != kRawData, ErrorCode::kInvalidGraph,
            "its raw_data is given twice; a tensor must have it once");
    if (data != number && preference(number) <= preference(data)) return;
    if (data != number) chunks = 0;
    data = number;
    if (chunks++ == 0) first_chunk = field.is_packed() ? field.bytes() : Bytes();
  }
  /** Of several fields with elements, the one with the highest counts. */
  int preference(DataField field) const {
    if (field == kRawData) return 3;
    if (field == kNoData) return 0;
    return field == field_for(element_type_numbered(type)) ? 2 : 1;
  }
  /** Calls `take` for each field with elements. */
  template <class Take>
  void each_chunk(Take&& take) const {
    WireReader reader(message, "TensorProto");
    while (reader.next()) {
      if (reader.number() == data) take(reader.field());
    }
  }
  // Functions that call their argument with each element, read as one of the types that fields have.
  auto integers() const {
    return [this](auto&& take) { each_chunk([&](const Field& field) { field.each_integer(take); }); };
  }
  auto narrow_integers(int bits) const {
    return [this, bits](auto&& take) {
      integers()([&](int64_t value) {
        check_fits(value, bits);
        take(value);
      });
    };
  }
  template <class Real>
  auto reals() const {
    return [this](auto&& take) { each_chunk([&](const Field& field) { field.each_real<Real>(take); }); };
  }
  auto texts() const {
    return [this](auto&& take) { each_chunk([&](const Field& field) { take(field.text()); }); };
  }
};

std::string_view TensorReader::name_in(Bytes message) {
  std::string_view name;
  WireReader reader(message, "TensorProto");
  while (reader.next()) {
    if (reader.number() == 8) name = reader.field().text();
  }
  return name;
}

std::string_view TensorReader::sparse_name_in(Bytes message) {
  std::string_view name;
  WireReader reader(message, "SparseTensorProto");
  while (reader.next()) {
    if (reader.number() == 1) name = name_in(reader.field().bytes());
  }
  return name;
}

Tensor TensorReader::read(Bytes message) {
  Parts parts(message);
  try {
    parts.parse();
    return from_parts(parts);
  } catch (const Error& error) {
    throw error.within(parts.name.empty() ? std::string("a tensor") : join("tensor '", parts.name, "'"));
  }
}

void TensorReader::check_replacement(Bytes message, const Tensor& value) {
  Parts parts(message);
  parts.parse();
  const ElementType type = element_type_numbered(parts.type);
  const Shape shape = shape_of(parts.dims);
  require(value.type() == type && value.shape() == shape, ErrorCode::kFail, "the value given for initializer '",
          parts.name, "' is ", tensor::name_of(value.type()), " of shape ", value.shape(), ", but the model has ",
          tensor::name_of(type), " of shape ", shape, "; give one like the model's");
}

Tensor TensorReader::from_parts(const Parts& parts) {
  ElementType type = element_type_numbered(parts.type);
  require(type != ElementType::kUndefined, ErrorCode::kInvalidGraph, "its element type ", parts.type,
          " is unknown; ONNX defines 1 to ", kElementTypeCount - 1);
  Shape shape = shape_of(parts.dims);
  size_t size = bytes_for(type, shape.element_count());
  require(size <= static_cast<uint64_t>(options_.max_tensor_bytes), ErrorCode::kInvalidGraph, "its shape ", shape,
          " needs ", size, " bytes, more than the limit of ", options_.max_tensor_bytes,
          "; set the session entry ortolan.max_initializer_bytes higher");
  if (parts.external) {
    require(parts.data == kNoData, ErrorCode::kInvalidGraph, "its elements are external, but ", name_of(parts.data),
            " holds some too; a tensor must have one of them");
    require(type != ElementType::kString, ErrorCode::kInvalidGraph, "strings cannot be external data");
    auto [blob, bytes] = files_.find(parts.location, size);
    Tensor tensor = blob->tensor_of(type, std::move(shape), bytes);
    bool on_disk = blob->file != nullptr && tensor.owner() != nullptr;
    return on_disk ? with_place(tensor, {parts.location.file, parts.location.offset, size}) : tensor;
  }
  bool in_place =
      parts.data == kRawData || (parts.chunks == 1 && (parts.data == kFloatData || parts.data == kDoubleData) &&
                                 parts.data == field_for(type) && !parts.first_chunk.empty());
  if (!in_place) return from_typed(parts, std::move(shape));
  require(type != ElementType::kString, ErrorCode::kInvalidGraph, "strings must be in string_data, not in raw_data");
  if (parts.first_chunk.size() != size) {
    fail_size(type, shape, size, name_of(parts.data), parts.first_chunk.size(), "bytes");
  }
  return model_.tensor_of(type, std::move(shape), parts.first_chunk);
}

Tensor TensorReader::from_typed(const Parts& parts, Shape shape) {
  ElementType type = element_type_numbered(parts.type);
  DataField wanted = field_for(type);
  require(parts.data == wanted || parts.data == kNoData, ErrorCode::kInvalidGraph, "elements of ",
          tensor::name_of(type), " must be in raw_data or ", name_of(wanted), ", but are in ", name_of(parts.data));
  auto count = static_cast<size_t>(shape.element_count());
  // A list cannot be longer than its message, so a size that is far from that is wrong before memory is taken.
  bool possible = count <= parts.message.size() * (is_packed(type) ? 4 : 1);
  if (!possible) fail_size(type, shape, count, name_of(wanted), 0, "elements");
  Tensor tensor(type, std::move(shape));
  fill_typed(tensor, parts, count, name_of(wanted));
  return tensor;
}

void TensorReader::fill_typed(Tensor& tensor, const Parts& parts, size_t count, std::string_view field) {
  const ElementType type = tensor.type();
  switch (type) {
    case ElementType::kFloat:
      return fill<float>(tensor, count, field, parts.reals<float>());
    case ElementType::kComplex64:
      return fill<float>(tensor, 2 * count, field, parts.reals<float>());
    case ElementType::kDouble:
      return fill<double>(tensor, count, field, parts.reals<double>());
    case ElementType::kComplex128:
      return fill<double>(tensor, 2 * count, field, parts.reals<double>());
    case ElementType::kInt64:
    case ElementType::kUInt64:
      return fill<int64_t>(tensor, count, field, parts.integers());
    case ElementType::kInt32:
    case ElementType::kUInt32:
      return fill<int32_t>(tensor, count, field, parts.integers());
    case ElementType::kBool:
      return fill<bool>(tensor, count, field, parts.integers());
    case ElementType::kString:
      return fill<std::string>(tensor, count, field, parts.texts());
    default:
      break;
  }
  if (bits_of(type) == 16) return fill<uint16_t>(tensor, count, field, parts.narrow_integers(16));
  const size_t bytes = bytes_for(type, static_cast<int64_t>(count));
  fill<uint8_t>(tensor, bytes, field, parts.narrow_integers(8));
}

std::shared_ptr<SparseTensor> TensorReader::read_sparse(Bytes message) {
  auto sparse = std::make_shared<SparseTensor>();
  std::vector<int64_t> dims;
  Tensor indices;
  WireReader reader(message, "SparseTensorProto");
  while (reader.next()) {
    const Field& field = reader.field();
    if (field.number() == 1) {
      sparse->values = read(field.bytes());
    } else if (field.number() == 2) {
      indices = read(field.bytes());
    } else if (field.number() == 3) {
      field.each_integer([&](int64_t dim) { dims.push_back(dim); });
    }
  }
  const Tensor& values = sparse->values;
  require(values.rank() == 1 && indices.type() == ElementType::kInt64, ErrorCode::kInvalidGraph,
          "a sparse tensor needs values of rank 1 and int64 indices; it has values ", values.shape(),
          " and indices of ", tensor::name_of(indices.type()));
  sparse->type = values.type();
  sparse->dense_shape = shape_of(dims);
  sparse->format = SparseFormat::kCoo;
  int64_t count = values.element_count();
  auto rank = static_cast<int64_t>(dims.size());
  bool flat = indices.rank() == 1;
  require(flat ? indices.shape()[0] == count
               : indices.rank() == 2 && indices.shape()[0] == count && indices.shape()[1] == rank,
          ErrorCode::kInvalidGraph, "a sparse tensor of ", count, " values and rank ", rank, " needs indices [", count,
          "] or [", count, ",", rank, "], not ", indices.shape());
  auto list = indices.span<int64_t>();
  for (size_t i = 0; i < list.size(); ++i) {
    int64_t limit = flat ? sparse->dense_shape.element_count() : dims[i % dims.size()];
    require(list[i] >= 0 && list[i] < limit, ErrorCode::kInvalidGraph, "a sparse tensor's index ", list[i],
            " is outside [0, ", limit - 1, "]");
  }
  sparse->indices.push_back(std::move(indices));
  sparse->allocator = cpu_allocator();
  return sparse;
}

Tensor TensorReader::densify(const SparseTensor& sparse) {
  size_t size = bytes_for(sparse.type, sparse.dense_shape.element_count());
  require(!is_packed(sparse.type) && size <= static_cast<uint64_t>(options_.max_expanded_bytes - expanded_),
          ErrorCode::kInvalidGraph, "a sparse tensor of shape ", sparse.dense_shape, " needs ", size,
          " bytes when made dense; the limit for all of them is ", options_.max_expanded_bytes);
  expanded_ += static_cast<int64_t>(size);
  Tensor dense(sparse.type, sparse.dense_shape);
  if (sparse.type != ElementType::kString && size) std::memset(dense.mutable_raw(), 0, size);
  const Tensor& indices = sparse.indices[0];
  auto list = indices.span<int64_t>();
  size_t width = indices.rank() == 1 ? 1 : sparse.dense_shape.rank();
  size_t element = static_cast<size_t>(bits_of(sparse.type)) / 8;
  for (size_t i = 0; i < static_cast<size_t>(sparse.values.element_count()); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < width; ++d) at = at * (width == 1 ? 1 : sparse.dense_shape[d]) + list[i * width + d];
    if (sparse.type == ElementType::kString) {
      dense.mutable_data<std::string>()[at] = sparse.values.data<std::string>()[i];
    } else {
      std::memcpy(static_cast<char*>(dense.mutable_raw()) + static_cast<size_t>(at) * element,
                  static_cast<const char*>(sparse.values.raw()) + i * element, element);
    }
  }
  return dense;
}

}  // namespace ortolan::onnx
