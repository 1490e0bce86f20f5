// Proves at compile time that the structs of the public headers have the layout that the tables in symbols/ demand.
#include <cstddef>

#include "onnxruntime_c_api.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define ORTOLAN_MEMBER(type, member, offset, size)                                \
  static_assert(offsetof(type, member) == offset, #type "::" #member ": offset"); \
  static_assert(sizeof(type::member) == size, #type "::" #member ": size");
#include "abi_members.inc"

#define ORTOLAN_STRUCT(type, members, size, alignment) \
  static_assert(sizeof(type) == size, #type ": size"); \
  static_assert(alignof(type) == alignment, #type ": alignment");
#include "abi_structs.inc"
#endif

#define ORTOLAN_ENUM(type, constant, value)                            \
  static_assert(static_cast<long long>(constant) == value, #constant); \
  static_assert(sizeof(type) == sizeof(int), #type ": size");
#include "abi_enums.inc"
