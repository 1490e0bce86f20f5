// Images brought into the form in which the elements that a window's tap meets lie together.
#pragma once

#include "gpu/core/convolution/window.h"

namespace ortolan::gpu {

/** A plane with its padding, dealt out by strides: [phase_d][phase_h][phase_w][size...]. What a phase holds begins as
 * many elements further on as its number says. */
struct Spread {
  Triple phases = {1, 1, 1}, size = {1, 1, 1};  // of a phase
  bool by_columns = false;                      // each column of taps has a phase_w
  int64_t phase_size() const { return size[0] * size[1] * size[2]; }
  int64_t plane_size() const { return phases[0] * phases[1] * phases[2] * phase_size(); }
};

/** What the taps of a window meet. */
Spread spread_of(const Window& window);
/** The same by columns of taps, which are not dilated: rows of places lie together. */
Spread spread_by_columns(const Window& window);
/** Input 0 so as floats, with `slack` elements behind that may be read. */
Memory spread_image(Lowering& l, const Window& window, const Spread& spread, int64_t slack);

}  // namespace ortolan::gpu
