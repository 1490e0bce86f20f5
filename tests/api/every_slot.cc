// every_slot.c as a C++17 program.
#include "every_slot.c"
