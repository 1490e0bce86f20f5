"""The parts of bench/scaling: points, programs that measure them, results, and the page."""
