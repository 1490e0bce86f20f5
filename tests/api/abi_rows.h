/* What a compiler made of the public headers: one row per member of every struct, per struct and per enum constant. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** `type` and `name` as in the tables; numbers as the compiler sees them. */
typedef struct AbiRow {
  const char* type;
  const char* name;
  long long offset_or_value;
  size_t size;
} AbiRow;

typedef struct AbiRows {
  const AbiRow* members;
  size_t member_count;
  const AbiRow* structs; /* offset_or_value: the alignment */
  size_t struct_count;
  const AbiRow* enums;
  size_t enum_count;
} AbiRows;

AbiRows abi_rows_c(void);
AbiRows abi_rows_cc(void);

#ifdef __cplusplus
}
#endif
