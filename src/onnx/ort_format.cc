// From the tables of ORT format to the messages of ONNX.
#include "onnx/ort_format.h"

#include <unordered_map>

#include "base/flat_reader.h"
#include "base/text_hash.h"
#include "onnx/wire_writer.h"

namespace ortolan::onnx {
namespace {

constexpr std::string_view kMark = "ORTM";
constexpr int kDeepest = 64;
// Names may be shared by many tables, so the texts together may be longer than the file.
constexpr size_t kTextGrowth = 64;
constexpr size_t kSmallTexts = size_t{1} << 20;

// The fields of the schema's tables, in their order.
enum SessionField : size_t { kSessionModel = 1 };
enum ModelField : size_t {
  kIrVersion,
  kOpsetImport,
  kProducerName,
  kProducerVersion,
  kModelDomain,
  kModelVersion,
  kModelDoc,
  kModelGraph,
  kGraphDoc,
  kMetadata,
};
enum GraphField : size_t { kInitializers, kNodeArgs, kNodes, kInputs = 5, kOutputs, kSparseInitializers };
enum NodeField : size_t { kNodeName, kNodeDoc, kNodeDomain, kOpType = 5, kNodeInputs = 8, kNodeOutputs, kAttributes };
enum AttributeField : size_t {
  kAttributeName,
  kAttributeType = 2,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
};
enum TensorField : size_t { kTensorName, kDims = 2, kDataType, kBytesOfTensor, kTextsOfTensor, kExternalOffset };
enum ValueField : size_t { kValueName, kValueType = 2 };
enum TypeField : size_t { kDenotation, kTypeKind, kTypeValue };
enum TypeKind : uint8_t { kNoType, kTensorType, kSequenceType, kMapType };
enum AttributeKind : int32_t { kFloatAttribute = 1, kIntAttribute, kStringAttribute };
enum DimensionKind : int8_t { kUnknown, kNumber, kSymbol };

/** Translates one file, with bounds on depth and on what tables that share parts can grow to. */
class Translator {
 public:
  explicit Translator(Bytes bytes) : reader_(bytes, "the ORT file") {}

  WireWriter model() {
    size_t table = reader_.table_field(reader_.follow(0), kSessionModel);
    require(table != 0, ErrorCode::kInvalidProtobuf, "the ORT file has no model");
    WireWriter out;
    out.integer(1, reader_.number_field<int64_t>(table, kIrVersion));
    copy_text(out, 2, table, kProducerName);
    copy_text(out, 3, table, kProducerVersion);
    copy_text(out, 4, table, kModelDomain);
    out.integer(5, reader_.number_field<int64_t>(table, kModelVersion));
    copy_text(out, 6, table, kModelDoc);
    each(table, kOpsetImport, [&](size_t import) {
      WireWriter message;
      copy_text(message, 1, import, 0);
      message.integer(2, reader_.number_field<int64_t>(import, 1));
      out.message(8, std::move(message));
    });
    each(table, kMetadata, [&](size_t entry) {
      WireWriter message;
      copy_text(message, 1, entry, 0);
      copy_text(message, 2, entry, 1);
      out.message(14, std::move(message));
    });
    WireWriter graph = graph_of(reader_.table_field(table, kModelGraph), 0);
    copy_text(graph, 10, table, kGraphDoc);
    out.message(7, std::move(graph));
    return out;
  }

 private:
  void spend(size_t& used, size_t count, size_t most) const {
    used = checked_add(used, count);
    require(used <= most, ErrorCode::kInvalidProtobuf, "the ORT file is damaged: its tables share parts");
  }

  std::string_view text_at(size_t start) {
    auto [at, count] = reader_.vector(start, 1);
    spend(texts_, count, checked_add(checked_mul(reader_.size(), kTextGrowth), kSmallTexts));
    return {static_cast<const char*>(static_cast<const void*>(reader_.range(at, count))), count};
  }
  std::string_view text(size_t table, size_t index) {
    size_t at = reader_.table_field(table, index);
    return at == 0 ? std::string_view{} : text_at(at);
  }
  void copy_text(WireWriter& out, uint32_t number, size_t table, size_t index) { out.text(number, text(table, index)); }
  void copy_texts(WireWriter& out, uint32_t number, size_t table, size_t index) {
    each(table, index, [&](size_t start) { out.bytes(number, text_at(start)); });
  }

  /** A vector of numbers, each part of the file in one vector only. */
  std::pair<size_t, size_t> numbers(size_t table, size_t index, size_t item_bytes) {
    auto [at, count] = reader_.vector_field(table, index, item_bytes);
    spend(data_, count * item_bytes, reader_.size());
    return {at, count};
  }
  void copy_integers(WireWriter& out, uint32_t number, size_t table, size_t index) {
    auto [at, count] = numbers(table, index, sizeof(int64_t));
    for (size_t i = 0; i < count; ++i) out.integer(number, reader_.number<int64_t>(at + i * sizeof(int64_t)));
  }

  /** Calls use(place) for each item of a vector of references. */
  template <class Use>
  void each(size_t table, size_t index, Use use) {
    auto [at, count] = reader_.vector_field(table, index, sizeof(uint32_t));
    spend(items_, count, reader_.size());
    for (size_t i = 0; i < count; ++i) use(reader_.follow(at + i * sizeof(uint32_t)));
  }

  void enter(size_t table, int depth, std::string_view what) const {
    require(table != 0, ErrorCode::kInvalidProtobuf, "the ORT file is damaged: ", what, " is missing");
    require(depth <= kDeepest, ErrorCode::kInvalidProtobuf, "the ORT file is nested more than ", kDeepest, " deep");
  }

  WireWriter graph_of(size_t table, int depth) {
    enter(table, depth, "a graph");
    require(reader_.vector_field(table, kSparseInitializers, sizeof(uint32_t)).second == 0, ErrorCode::kNotImplemented,
            "the ORT file has sparse initializers, which are not read here; use the ONNX file that it was made from");
    WireWriter out;
    std::unordered_map<std::string_view, size_t, base::TextHash> values;
    each(table, kNodeArgs, [&](size_t value) { values.emplace(text(value, kValueName), value); });
    auto copy_values = [&](uint32_t number, size_t index) {
      each(table, index, [&](size_t start) {
        auto found = values.find(text_at(start));
        require(found != values.end(), ErrorCode::kInvalidProtobuf, "the ORT file is damaged: '", text_at(start),
                "' is not among its values");
        out.message(number, value_of(found->second, depth + 1));
      });
    };
    copy_values(11, kInputs);
    copy_values(12, kOutputs);
    each(table, kInitializers, [&](size_t tensor) { out.message(5, tensor_of(tensor)); });
    each(table, kNodes, [&](size_t node) { out.message(1, node_of(node, depth)); });
    return out;
  }

  WireWriter node_of(size_t table, int depth) {
    WireWriter out;
    copy_texts(out, 1, table, kNodeInputs);
    copy_texts(out, 2, table, kNodeOutputs);
    copy_text(out, 3, table, kNodeName);
    copy_text(out, 4, table, kOpType);
    each(table, kAttributes, [&](size_t attribute) { out.message(5, attribute_of(attribute, depth)); });
    copy_text(out, 6, table, kNodeDoc);
    copy_text(out, 7, table, kNodeDomain);
    return out;
  }

  WireWriter attribute_of(size_t table, int depth) {
    WireWriter out;
    copy_text(out, 1, table, kAttributeName);
    auto type = reader_.number_field<int32_t>(table, kAttributeType);
    out.integer(20, type);
    if (type == kFloatAttribute) out.real(2, reader_.number_field<float>(table, kFloat));
    if (type == kIntAttribute) out.integer(3, reader_.number_field<int64_t>(table, kInt));
    if (type == kStringAttribute) out.bytes(4, text(table, kString));
    if (size_t tensor = reader_.table_field(table, kTensor)) out.message(5, tensor_of(tensor));
    if (size_t graph = reader_.table_field(table, kGraph)) out.message(6, graph_of(graph, depth + 1));
    auto [at, count] = numbers(table, kFloats, sizeof(float));
    for (size_t i = 0; i < count; ++i) out.real(7, reader_.number<float>(at + i * sizeof(float)));
    copy_integers(out, 8, table, kInts);
    copy_texts(out, 9, table, kStrings);
    each(table, kTensors, [&](size_t tensor) { out.message(10, tensor_of(tensor)); });
    each(table, kGraphs, [&](size_t graph) { out.message(11, graph_of(graph, depth + 1)); });
    return out;
  }

  WireWriter tensor_of(size_t table) {
    std::string_view name = text(table, kTensorName);
    require(reader_.number_field<int64_t>(table, kExternalOffset, -1) < 0, ErrorCode::kNotImplemented, "tensor '", name,
            "' of the ORT file has its data in a second file, which is not read here; use the ONNX file that it was "
            "made from");
    WireWriter out;
    copy_integers(out, 1, table, kDims);
    out.integer(2, reader_.number_field<int32_t>(table, kDataType));
    copy_texts(out, 6, table, kTextsOfTensor);
    out.text(8, name);
    auto [at, count] = numbers(table, kBytesOfTensor, 1);
    if (at != 0) out.borrowed(9, {reader_.range(at, count), count});
    return out;
  }

  WireWriter value_of(size_t table, int depth) {
    WireWriter out;
    copy_text(out, 1, table, kValueName);
    if (size_t type = reader_.table_field(table, kValueType)) out.message(2, type_of(type, depth));
    return out;
  }

  WireWriter type_of(size_t table, int depth) {
    enter(table, depth, "a type");
    WireWriter out, inner;
    size_t value = reader_.table_field(table, kTypeValue);
    uint8_t kind = value == 0 ? uint8_t{kNoType} : reader_.number_field<uint8_t>(table, kTypeKind);
    if (kind == kTensorType) {
      inner.integer(1, reader_.number_field<int32_t>(value, 0));
      if (size_t shape = reader_.table_field(value, 1)) inner.message(2, shape_of(shape));
      out.message(1, std::move(inner));
    } else if (kind == kSequenceType) {
      inner.message(1, type_of(reader_.table_field(value, 0), depth + 1));
      out.message(4, std::move(inner));
    } else if (kind == kMapType) {
      inner.integer(1, reader_.number_field<int32_t>(value, 0));
      inner.message(2, type_of(reader_.table_field(value, 1), depth + 1));
      out.message(5, std::move(inner));
    }
    copy_text(out, 6, table, kDenotation);
    return out;
  }

  WireWriter shape_of(size_t table) {
    WireWriter out;
    each(table, 0, [&](size_t dimension) {
      WireWriter message;
      if (size_t value = reader_.table_field(dimension, 0)) {
        auto kind = reader_.number_field<int8_t>(value, 0);
        if (kind == kNumber) message.integer(1, reader_.number_field<int64_t>(value, 1));
        if (kind == kSymbol) copy_text(message, 2, value, 2);
      }
      copy_text(message, 3, dimension, 1);
      out.message(1, std::move(message));
    });
    return out;
  }

  base::FlatReader reader_;
  size_t texts_ = 0;  // bytes of texts, numbers and data, and items of vectors, that were read so far
  size_t data_ = 0;
  size_t items_ = 0;
};

}  // namespace

bool is_ort_format(Bytes bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, kMark.data(), kMark.size()) == 0;
}

std::string model_of_ort_format(Bytes bytes) {
  try {
    WireWriter model = Translator(bytes).model();
    std::string result;
    result.reserve(model.size());
    for (Bytes piece : model.pieces()) {
      result.append(static_cast<const char*>(static_cast<const void*>(piece.data())), piece.size());
    }
    return result;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFail) throw;
    throw Error(ErrorCode::kInvalidProtobuf, error.what());
  }
}

}  // namespace ortolan::onnx
