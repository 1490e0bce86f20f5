// Containers made from parts: maps with ordered keys, sequences of one kind.
#include "tensor/value.h"

#include <algorithm>
#include <numeric>

namespace ortolan::tensor {
namespace {

template <class T>
std::vector<size_t> order_of(std::span<const T> keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  for (size_t i = 1; i < order.size(); ++i) {
    require(keys[order[i - 1]] != keys[order[i]], ErrorCode::kInvalidArgument, "the key '", keys[order[i]],
            "' stands twice in the map; keys must differ");
  }
  return order;
}

/** The elements of a rank-1 tensor in the order given. */
Tensor reordered(const Tensor& tensor, const std::vector<size_t>& order) {
  Tensor result(tensor.type(), Shape{static_cast<int64_t>(order.size())});
  dispatch<kPlainTypes | ElementType::kString>(tensor.type(), [&]<class T>(TypeTag<T>) {
    const T* from = tensor.data<T>();
    T* to = result.mutable_data<T>();
    for (size_t i = 0; i < order.size(); ++i) to[i] = from[order[i]];
  });
  return result;
}

/** The maps lie side by side and share the memory of keys and values: none allocates for itself. */
std::vector<Value> maps_of(const MapRows& rows) {
  const Tensor& values = rows.values.tensor();
  const Shape& shape = rows.keys.tensor().shape();
  const size_t row_bytes = bytes_for(values.type(), shape.element_count());
  auto* row = static_cast<std::byte*>(const_cast<void*>(values.raw()));
  auto maps = std::make_shared<std::vector<Map>>(static_cast<size_t>(values.shape()[0]));
  std::vector<Value> items;
  items.reserve(maps->size());
  for (Map& map : *maps) {
    map = {rows.keys, Tensor(values.type(), shape, row, values.owner(), values.memory())};
    items.emplace_back(std::shared_ptr<Map>(maps, &map));
    row += row_bytes;
  }
  return items;
}

}  // namespace

Sequence::Sequence(ElementType element) : element_type(element) {}

Sequence::Sequence(ElementType element, std::vector<Value> items) : element_type(element), items_(std::move(items)) {}

Sequence::Sequence(MapRows rows)
    : element_type(ElementType::kUndefined), rows_(std::make_unique<const MapRows>(std::move(rows))) {}

Sequence::~Sequence() = default;

size_t Sequence::size() const { return rows_ ? static_cast<size_t>(rows_->values.tensor().shape()[0]) : items_.size(); }

const std::vector<Value>& Sequence::items() const {
  if (rows_) std::call_once(made_, [this] { items_ = maps_of(*rows_); });
  return items_;
}

std::shared_ptr<Map> make_map(const Tensor& keys, const Tensor& values) {
  constexpr TypeSet kKeyTypes = ElementType::kInt64 | ElementType::kString;
  require(kKeyTypes.contains(keys.type()), ErrorCode::kInvalidArgument, "a map's keys are of ", kKeyTypes, ", not ",
          name_of(keys.type()));
  require(keys.element_count() == values.element_count(), ErrorCode::kInvalidArgument, "a map cannot have ",
          keys.element_count(), " keys and ", values.element_count(), " values");
  std::vector<size_t> order = dispatch<kKeyTypes>(
      keys.type(), [&]<class T>(TypeTag<T>) -> std::vector<size_t> { return order_of(keys.span<T>()); });
  return std::make_shared<Map>(Map{{reordered(keys, order)}, {reordered(values, order)}});
}

std::shared_ptr<Sequence> make_sequence(std::vector<Value> items) {
  ElementType element = ElementType::kUndefined;
  for (const Value& item : items) {
    require(item.is_tensor() || item.kind() == ValueKind::kMap, ErrorCode::kInvalidArgument,
            "a sequence holds tensors or maps, not values of kind ", item.kind());
    require(item.kind() == items[0].kind(), ErrorCode::kInvalidArgument,
            "the items of a sequence must all be tensors or all be maps");
    if (!item.is_tensor()) continue;
    require(item.tensor().type() == items[0].tensor().type(), ErrorCode::kInvalidArgument, "a sequence of tensors of ",
            name_of(items[0].tensor().type()), " cannot hold one of ", name_of(item.tensor().type()));
    element = item.tensor().type();
  }
  return std::make_shared<Sequence>(element, std::move(items));
}

}  // namespace ortolan::tensor
