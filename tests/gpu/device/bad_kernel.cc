// The kernel of deliberate faults for the test device.
#include "gpu/testdevice/dialect.h"

namespace ortolan::gpu::test::bad_4 {
#undef K_VW
#define K_VW 4
#include "bad.k"
}  // namespace ortolan::gpu::test::bad_4
