// What names the objects that levels define, for the files beside this one.
#pragma once

#include "cpu/kernels/kernel_table.h"

#define ORTOLAN_OBJECT(type, name, object) extern const type object;
#define ORTOLAN_REFERENCE(type, name, object) .name = &object,
#define ORTOLAN_SET(type, name, object) table.name = &object;

// kTable of a level that defines every family.
#define ORTOLAN_WHOLE_TABLE(isa_name, level)                                                                 \
  namespace isa_name {                                                                                       \
  ORTOLAN_KERNEL_FAMILIES(ORTOLAN_OBJECT)                                                                    \
  constexpr KernelTable kTable = {.isa = base::IsaLevel::level, ORTOLAN_KERNEL_FAMILIES(ORTOLAN_REFERENCE)}; \
  }
