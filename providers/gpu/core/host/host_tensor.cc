// Elements of host tensors from and to bytes.
#include "gpu/core/host/host_tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "gpu/device/error.h"

namespace ortolan::gpu {
namespace {

template <class T>
T element(const std::byte* bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

/** Calls body(read), where read(i) is element i. */
template <class Body>
void with_reader(const HostTensor& tensor, Body&& body) {
  const std::byte* data = tensor.elements.bytes.data();
  switch (tensor.type) {
    case ElementType::kFloat:
      return body([=](size_t i) { return element<float>(data, i); });
    case ElementType::kDouble:
      return body([=](size_t i) { return element<double>(data, i); });
    case ElementType::kFloat16:
      return body([=](size_t i) { return from_half(element<uint16_t>(data, i)); });
    case ElementType::kUint8:
      return body([=](size_t i) { return element<uint8_t>(data, i); });
    case ElementType::kBool:
      return body([=](size_t i) { return element<uint8_t>(data, i); });
    case ElementType::kInt8:
      return body([=](size_t i) { return element<int8_t>(data, i); });
    case ElementType::kUint16:
      return body([=](size_t i) { return element<uint16_t>(data, i); });
    case ElementType::kInt16:
      return body([=](size_t i) { return element<int16_t>(data, i); });
    case ElementType::kInt32:
      return body([=](size_t i) { return element<int32_t>(data, i); });
    case ElementType::kUint32:
      return body([=](size_t i) { return element<uint32_t>(data, i); });
    case ElementType::kInt64:
      return body([=](size_t i) { return element<int64_t>(data, i); });
    default:
      throw Error(ErrorKind::kInternal,
                  std::string("elements of ") + type_name(tensor.type) + " are not read on the host");
  }
}

size_t count_of(const HostTensor& tensor) { return tensor.elements.bytes.size() / element_bytes(tensor.type); }

template <class T>
std::vector<T> converted(const HostTensor& tensor) {
  std::vector<T> values(count_of(tensor));
  with_reader(tensor, [&](auto read) {
    for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<T>(read(i));
  });
  return values;
}

template <class Stored, class T, class Convert>
HostTensor stored(ElementType type, Shape shape, const std::vector<T>& values, Convert convert) {
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(Stored));
  for (size_t i = 0; i < values.size(); i++) {
    Stored value = convert(values[i]);
    std::memcpy(bytes->data() + i * sizeof(Stored), &value, sizeof(Stored));
  }
  return {type, std::move(shape), {*bytes, bytes}};
}

template <class Stored, class T>
HostTensor stored_as(ElementType type, Shape shape, const std::vector<T>& values) {
  return stored<Stored>(type, std::move(shape), values, [](T value) { return static_cast<Stored>(value); });
}

}  // namespace

HostBytes owned(const HostBytes& bytes) {
  if (bytes.owner != nullptr) return bytes;
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.bytes.begin(), bytes.bytes.end());
  return {*copy, copy};
}

std::vector<int64_t> HostTensor::integers() const { return converted<int64_t>(*this); }
std::vector<float> HostTensor::floats() const { return converted<float>(*this); }
std::vector<double> HostTensor::doubles() const { return converted<double>(*this); }

HostTensor HostTensor::of_integers(ElementType type, Shape shape, const std::vector<int64_t>& values) {
  switch (type) {
    case ElementType::kBool:
      return stored<uint8_t>(type, std::move(shape), values, [](int64_t v) { return static_cast<uint8_t>(v != 0); });
    case ElementType::kUint8:
      return stored_as<uint8_t>(type, std::move(shape), values);
    case ElementType::kInt8:
      return stored_as<int8_t>(type, std::move(shape), values);
    case ElementType::kUint16:
      return stored_as<uint16_t>(type, std::move(shape), values);
    case ElementType::kInt16:
      return stored_as<int16_t>(type, std::move(shape), values);
    case ElementType::kInt32:
      return stored_as<int32_t>(type, std::move(shape), values);
    case ElementType::kUint32:
      return stored_as<uint32_t>(type, std::move(shape), values);
    case ElementType::kInt64:
      return stored_as<int64_t>(type, std::move(shape), values);
    default:
      throw Error(ErrorKind::kInternal, std::string("integers are not stored as ") + type_name(type));
  }
}

HostTensor HostTensor::of_floats(ElementType type, Shape shape, const std::vector<float>& values) {
  if (type == ElementType::kFloat16) return stored<uint16_t>(type, std::move(shape), values, to_half);
  return stored_as<float>(ElementType::kFloat, std::move(shape), values);
}

}  // namespace ortolan::gpu
