// Random nodes that choose, move or arrange elements.
#pragma once

#include "dice.h"

namespace shape_oracle {

RandomNode slice(Dice& dice);
RandomNode pad(Dice& dice);
RandomNode resize(Dice& dice);
RandomNode gather(Dice& dice);
RandomNode split(Dice& dice);
RandomNode concat(Dice& dice);
RandomNode reshape(Dice& dice);
RandomNode scatter(Dice& dice);
/** Nodes of many operators, each with little to draw. */
RandomNode other(Dice& dice);

}  // namespace shape_oracle
