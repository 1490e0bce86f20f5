"""What was measured: figures of points by library, their medians, the ratios of two libraries, a table in a file."""
import statistics

FIGURES = ("per_second", "mean_ms", "p50_ms", "p90_ms", "p99_ms", "cpu_ms")


class Results:
    """Rounds of figures of each point in each library."""

    def __init__(self, sides):
        self.sides = list(sides)  # names; ratios are of the first to each of the others
        self.rounds = {}  # (point, side): a list of figures, None where a round has none
        self.reasons = {}  # (point, side): why there is none

    def add(self, point, side, figures, reason=""):
        self.rounds.setdefault((point, side), []).append(figures)
        if figures is None:
            self.reasons[point, side] = reason

    def points(self):
        return sorted({point for point, _ in self.rounds})

    def median(self, point, side, figure):
        """Over the rounds; None where nothing was measured."""
        known = [figures[figure] for figures in self.rounds.get((point, side), ()) if figures]
        return statistics.median(known) if known else None

    def ratio(self, point, other, figure):
        """The median over the rounds of the first library's figure to that of another in the same round."""
        pairs = zip(self.rounds.get((point, self.sides[0]), ()), self.rounds.get((point, other), ()))
        known = [ours[figure] / theirs[figure] for ours, theirs in pairs if ours and theirs and theirs[figure] > 0]
        return statistics.median(known) if known else None


def table(results):
    """Rows of text, the titles first: a row for each point and library."""
    first = results.sides[0]
    ratios = [(other, figure) for other in results.sides[1:] for figure in ("per_second", "p90_ms", "p99_ms", "cpu_ms")]
    yield ["model", "batch", "threads", "callers", "sessions", "library", "rounds", *FIGURES,
           *(f"{figure} {first}/{other}" for other, figure in ratios)]
    for point in results.points():
        for side in results.sides:
            rounds = results.rounds.get((point, side), [])
            row = [point.model, point.batch, point.threads, point.callers, "many" if point.many else "one", side,
                   sum(figures is not None for figures in rounds)]
            row += [results.median(point, side, figure) for figure in FIGURES]
            row += [results.ratio(point, other, figure) if side == first else None for other, figure in ratios]
            yield ["" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]


def write_table(results, path):
    path.write_text("".join("\t".join(row) + "\n" for row in table(results)), encoding="utf-8")
