"""The page of a measurement: curves of every model, a table of all points. It needs no other file and no script."""
from xml.etree import ElementTree

from .charts import Curve, chart, element, short

COLOURS = ("#c2410c", "#2563eb", "#15803d", "#7c3aed")
DASHES = ("", "6 3", "2 3", "9 3 2 3")
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 96em; padding: 0 1em; }
svg { font: 12px system-ui, sans-serif; margin: 0 1.5em 1.5em 0; vertical-align: top; }
svg text { fill: currentColor; stroke: none; }
.chart-title { font-weight: 600; }
.grid { stroke: currentColor; opacity: 0.15; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 0.15em 0.6em; text-align: right; border-bottom: 1px solid #8884; }
.name { text-align: left; }
"""


def speed_up(results, points):
    """Runs a second of one caller, over the threads, as a multiple of the same library's on the fewest threads."""
    alone = [point for point in points if point.callers == 1]
    for i, side in enumerate(results.sides):
        places = [(point.threads, results.median(point, side, "per_second")) for point in alone]
        places = [place for place in places if place[1]]
        if places:
            yield Curve(side, COLOURS[i], DASHES[i], [(x, y / places[0][1]) for x, y in places])


def over_callers(results, points, figure):
    """A figure over the callers; each library has a curve for one session and one for a session each."""
    alone = [point for point in points if point.callers == 1]  # has one session
    for many in (False, True):
        several = [point for point in points if point.many == many and point.callers > 1]
        if several:
            label, dashes = ("a session each", DASHES[2]) if many else ("one session", "")
            yield from curves_of(results, alone + several, figure, label, dashes)


def curves_of(results, points, figure, label, dashes):
    for i, side in enumerate(results.sides):
        places = [(point.callers, results.median(point, side, figure)) for point in points]
        places = [place for place in places if place[1]]
        if places:
            yield Curve(f"{side}: {label}", COLOURS[i], dashes, places)


def drawings(results, points, batch):
    """What is drawn of one batch of one model: (title, title of the numbers below, curves, whether by powers)."""
    of_batch = [point for point in points if point.batch == batch]
    yield f"batch {batch}: speed-up over threads", "threads", speed_up(results, of_batch), False
    for threads in sorted({point.threads for point in of_batch if point.callers > 1}):
        chosen = [point for point in of_batch if point.threads == threads]
        start = f"batch {batch}, {threads} thread{'s' if threads > 1 else ''}"
        yield f"{start}: runs a second", "callers", over_callers(results, chosen, "per_second"), False
        yield f"{start}: 99th percentile of a run, ms", "callers", over_callers(results, chosen, "p99_ms"), True


def add_charts(body, results, model):
    points = [point for point in results.points() if point.model == model]
    element(body, "h2", model)
    holder = element(body, "div")
    for batch in sorted({point.batch for point in points}):
        for title, across, curves, logarithmic in drawings(results, points, batch):
            curves = list(curves)
            if curves:
                holder.append(chart(title, across, curves, logarithmic))


def add_table(body, results):
    first, others = results.sides[0], results.sides[1:]
    shown = (("runs/s", "per_second"), ("p50 ms", "p50_ms"), ("p90 ms", "p90_ms"), ("p99 ms", "p99_ms"), ("CPU ms", "cpu_ms"))
    rows = element(body, "table")
    head = element(rows, "tr")
    for name in ("model", "batch", "threads", "callers", "sessions"):
        element(head, "th", name, class_="name")
    for title, _ in shown:
        for side in results.sides:
            element(head, "th", f"{title} {side}")
        for other in others:
            element(head, "th", f"{first}/{other}")
    for point in results.points():
        row = element(rows, "tr")
        for cell in (point.model, point.batch, point.threads, point.callers, "many" if point.many else "one"):
            element(row, "td", str(cell), class_="name")
        for _, figure in shown:
            for number in (*(results.median(point, side, figure) for side in results.sides),
                           *(results.ratio(point, other, figure) for other in others)):
                element(row, "td", "–" if number is None else short(number))


def page(results, facts):
    """The text of the page; `facts` are lines about the machine and the settings."""
    html = ElementTree.Element("html", {"lang": "en"})
    head = element(html, "head")
    element(head, "meta", charset="utf-8")
    element(head, "title", "Scaling over threads and callers")
    element(head, "style", STYLE)
    body = element(html, "body")
    element(body, "h1", "Scaling over threads and callers")
    for fact in facts:
        element(body, "p", fact)
    for model in sorted({point.model for point in results.points()}):
        add_charts(body, results, model)
    element(body, "h2", "All points")
    element(body, "p", "Medians over the rounds; a ratio is the median of the rounds' own. The CPU's time is that of "
                       "all threads, a run.")
    add_table(body, results)
    missing = [f"{point}, {side}: {reason}" for (point, side), reason in sorted(results.reasons.items())]
    if missing:
        element(body, "h2", "Not measured")
        for line in missing:
            element(body, "p", line)
    return "<!DOCTYPE html>\n" + ElementTree.tostring(html, encoding="unicode") + "\n"
