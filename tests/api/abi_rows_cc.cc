// The layout of the public headers as a C++ compiler sees it.
#include "abi_rows_c.c"
