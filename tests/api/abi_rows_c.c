/* The layout of the public headers as a C or C++ compiler sees it; abi_rows_cc.cc includes this file. */
#include "abi_rows.h"
#include "onnxruntime_c_api.h"

#ifdef __cplusplus
#define ABI_ROWS abi_rows_cc
#define ABI_ALIGNMENT(type) alignof(type)
#else
#define ABI_ROWS abi_rows_c
#define ABI_ALIGNMENT(type) _Alignof(type)
#endif

static const AbiRow members[] = {
#define ORTOLAN_MEMBER(type, member, offset, size) \
  {#type, #member, (long long)offsetof(struct type, member), sizeof(((struct type*)0)->member)},
#include "abi_members.inc"
};

static const AbiRow structs[] = {
#define ORTOLAN_STRUCT(type, members, size, alignment) \
  {#type, "", (long long)ABI_ALIGNMENT(struct type), sizeof(struct type)},
#include "abi_structs.inc"
};

static const AbiRow enums[] = {
#define ORTOLAN_ENUM(type, constant, value) {#type, #constant, constant, sizeof(enum type)},
#include "abi_enums.inc"
};

AbiRows ABI_ROWS(void) {
  AbiRows rows;
  rows.members = members;
  rows.member_count = sizeof members / sizeof *members;
  rows.structs = structs;
  rows.struct_count = sizeof structs / sizeof *structs;
  rows.enums = enums;
  rows.enum_count = sizeof enums / sizeof *enums;
  return rows;
}
