// Tests run as on a machine with many processors, so that work is divided as it is there, however few there are.
#include "base/threads/processor_count.h"

namespace ortolan::base {
namespace {

const PretendedProcessors many_processors(64);

}  // namespace
}  // namespace ortolan::base
