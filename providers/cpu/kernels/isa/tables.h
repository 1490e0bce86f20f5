// Names the objects that a level defines, for the files beside this one.
#pragma once

#include "cpu/kernels/kernel_table.h"

#define ORTOLAN_OBJECT(type, name, object) extern const type object;
#define ORTOLAN_REFERENCE(type, name, object) .name = &object,
#define ORTOLAN_SET(type, name, object) table.name = &object;
