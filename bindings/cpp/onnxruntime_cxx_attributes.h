// Attributes of nodes, and the places of initializers in files. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_values.h"

namespace Ort {

namespace detail {

/** The place of an initializer in a file. */
template <typename T>
struct ConstExternalInitializerInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** Relative to the model's folder. */
  std::basic_string<ORTCHAR_T> GetFilePath() const { return GetApi().ExternalInitializerInfo_GetFilePath(this->p_); }
  int64_t GetFileOffset() const { return GetApi().ExternalInitializerInfo_GetFileOffset(this->p_); }
  size_t GetByteSize() const { return GetApi().ExternalInitializerInfo_GetByteSize(this->p_); }
};

/** The type of attributes that hold one R or several. */
template <typename R>
struct AttributeTypes;
template <>
struct AttributeTypes<int64_t> {
  static constexpr OrtOpAttrType one = ORT_OP_ATTR_INT, several = ORT_OP_ATTR_INTS;
};
template <>
struct AttributeTypes<float> {
  static constexpr OrtOpAttrType one = ORT_OP_ATTR_FLOAT, several = ORT_OP_ATTR_FLOATS;
};
template <>
struct AttributeTypes<std::string> {
  static constexpr OrtOpAttrType one = ORT_OP_ATTR_STRING, several = ORT_OP_ATTR_STRINGS;
};

/** Reads the bytes of an attribute into `bytes`, elements of one byte or a number each. */
template <typename Bytes>
Status ReadAttribute(const OrtOpAttr* attribute, OrtOpAttrType type, Bytes& bytes) {
  size_t size = 0;
  Status size_status{GetApi().ReadOpAttr(attribute, type, nullptr, 0, &size)};  // fails, and says the size
  if (size == 0) {
    bytes.clear();
    return size_status;
  }
  bytes.resize(size / sizeof(typename Bytes::value_type));
  return Status{GetApi().ReadOpAttr(attribute, type, bytes.data(), size, &size)};
}

/** Strings that stand one after the other, each with its terminator. */
inline std::vector<std::string> SplitStrings(const std::string& joined) {
  std::vector<std::string> out;
  for (size_t begin = 0, end; begin < joined.size(); begin = end + 1) {
    end = std::min(joined.find('\0', begin), joined.size());
    out.push_back(joined.substr(begin, end - begin));
  }
  return out;
}

template <typename R>
Status ReadAttributeArray(const OrtOpAttr* attribute, std::vector<R>& out) {
  if constexpr (std::is_same_v<R, std::string>) {
    std::string joined;
    Status status = ReadAttribute(attribute, AttributeTypes<R>::several, joined);
    if (status.IsOK()) out = SplitStrings(joined);
    return status;
  } else {
    return ReadAttribute(attribute, AttributeTypes<R>::several, out);
  }
}

template <typename R>
Status ReadAttributeValue(const OrtOpAttr* attribute, R& out) {
  if constexpr (std::is_same_v<R, std::string>) {
    return ReadAttribute(attribute, AttributeTypes<R>::one, out);
  } else {
    size_t size = 0;
    return Status{GetApi().ReadOpAttr(attribute, AttributeTypes<R>::one, &out, sizeof(R), &size)};
  }
}

/** An attribute of a node. R is int64_t, float or std::string. */
template <typename T>
struct ConstOpAttrImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  std::string GetName() const { return GetBorrowedString(GetApi().OpAttr_GetName, this->p_); }
  OrtOpAttrType GetType() const { return Get<OrtOpAttrType>(GetApi().OpAttr_GetType, this->p_); }
  template <typename R>
  Status GetValue(R& out) const {
    return ReadAttributeValue<R>(this->p_, out);
  }
  template <typename R>
  Status GetValueArray(std::vector<R>& out) const {
    return ReadAttributeArray<R>(this->p_, out);
  }
  Status GetTensorAttributeAsOrtValue(Value& out) const {
    OrtValue* tensor = nullptr;
    Status status{GetApi().OpAttr_GetTensorAttributeAsOrtValue(this->p_, &tensor)};
    if (status.IsOK()) out = Value{tensor};
    return status;
  }
};

}  // namespace detail

using ConstExternalInitializerInfo =
    detail::ConstExternalInitializerInfoImpl<detail::Unowned<const OrtExternalInitializerInfo>>;
using ConstOpAttr = detail::ConstOpAttrImpl<detail::Unowned<const OrtOpAttr>>;

struct ExternalInitializerInfo : detail::ConstExternalInitializerInfoImpl<OrtExternalInitializerInfo> {
  using Base = detail::ConstExternalInitializerInfoImpl<OrtExternalInitializerInfo>;
  using Base::Base;

  explicit ExternalInitializerInfo(std::nullptr_t) {}
  /** Takes ownership. */
  explicit ExternalInitializerInfo(OrtExternalInitializerInfo* p) : Base{p} {}
  ExternalInitializerInfo(const ORTCHAR_T* filepath, int64_t file_offset, size_t byte_size) {
    ThrowOnError(GetApi().CreateExternalInitializerInfo(filepath, file_offset, byte_size, &p_));
  }
  /** As the last constructor, with a status. */
  static Status Create(const ORTCHAR_T* filepath, int64_t file_offset, size_t byte_size, ExternalInitializerInfo& out) {
    OrtExternalInitializerInfo* info = nullptr;
    Status status{GetApi().CreateExternalInitializerInfo(filepath, file_offset, byte_size, &info)};
    if (status.IsOK()) out = ExternalInitializerInfo{info};
    return status;
  }
  ConstExternalInitializerInfo GetConst() const { return ConstExternalInitializerInfo{p_}; }
};

/** An attribute that the program made. */
struct OpAttr : detail::ConstOpAttrImpl<OrtOpAttr> {
  using Base = detail::ConstOpAttrImpl<OrtOpAttr>;
  using Base::Base;

  OpAttr() = default;
  explicit OpAttr(std::nullptr_t) {}
  /** Takes ownership. */
  explicit OpAttr(OrtOpAttr* p) : Base{p} {}
  /** With a copy of `len` elements of data; bytes for a string. */
  OpAttr(const char* name, const void* data, int len, OrtOpAttrType type) {
    ThrowOnError(GetApi().CreateOpAttr(name, data, len, type, &p_));
  }
  ConstOpAttr GetConst() const { return ConstOpAttr{p_}; }
};

}  // namespace Ort
