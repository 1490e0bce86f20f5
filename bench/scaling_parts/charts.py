"""Charts as SVG: curves over a few numbers that stand at equal distances, such as 1, 2, 4, 8."""
import dataclasses
import math
from xml.etree import ElementTree

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 30, 40
LEGEND_LINE = 15


@dataclasses.dataclass
class Curve:
    label: str
    colour: str
    dashes: str  # of the line, "" for none
    places: list  # (x, y)


def element(parent, tag, text=None, **attributes):
    made = ElementTree.SubElement(parent, tag, {key.rstrip("_").replace("_", "-"): str(value)
                                                for key, value in attributes.items()})
    made.text = text
    return made


def short(number):
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


class Scale:
    """From 0 to a round number above the greatest, or by powers of ten."""

    def __init__(self, numbers, logarithmic):
        self.logarithmic = logarithmic
        top = max(numbers)
        if logarithmic:
            self.low, self.high = (math.floor(math.log10(min(numbers))), math.ceil(math.log10(top)))
            self.high = max(self.high, self.low + 1)
        else:
            unit = 10 ** math.floor(math.log10(top))
            self.low, self.high = 0, next(step * unit for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * unit >= top)

    def ticks(self):
        if self.logarithmic:
            return [10 ** power for power in range(self.low, self.high + 1)]
        return [self.high * part / 4 for part in range(5)]

    def place(self, number):
        value = math.log10(number) if self.logarithmic else number
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


def chart(title, x_title, curves, logarithmic=False):
    """An svg element; `curves` must have a place at least, and numbers above 0."""
    height = HEIGHT + LEGEND_LINE * len(curves) + 6
    svg = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {height}",
                                      "width": str(WIDTH), "height": str(height), "role": "img"})
    element(svg, "title", title)
    element(svg, "text", title, x=LEFT, y=18, class_="chart-title")
    xs = sorted({x for curve in curves for x, _ in curve.places})
    step = (WIDTH - LEFT - RIGHT - 20) / max(len(xs) - 1, 1)
    across = {x: LEFT + 10 + i * step for i, x in enumerate(xs)}
    scale = Scale([y for curve in curves for _, y in curve.places], logarithmic)
    draw_axes(svg, x_title, across, scale)
    for i, curve in enumerate(curves):
        draw_curve(svg, curve, across, scale)
        draw_legend(svg, curve, HEIGHT + LEGEND_LINE * i)
    return svg


def draw_axes(svg, x_title, across, scale):
    for tick in scale.ticks():
        y = scale.place(tick)
        element(svg, "line", x1=LEFT, x2=WIDTH - RIGHT, y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid")
        element(svg, "text", short(tick), x=LEFT - 6, y=f"{y + 4:.1f}", text_anchor="end")
    for number, x in across.items():
        element(svg, "text", str(number), x=f"{x:.1f}", y=HEIGHT - BOTTOM + 16, text_anchor="middle")
    element(svg, "text", x_title, x=WIDTH / 2, y=HEIGHT - BOTTOM + 32, text_anchor="middle")


def draw_curve(svg, curve, across, scale):
    group = element(svg, "g", class_="curve", stroke=curve.colour, fill=curve.colour, data_label=curve.label)
    places = [(across[x], scale.place(y)) for x, y in curve.places]
    line = element(group, "polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), fill="none",
                   stroke_width=2)
    if curve.dashes:
        line.set("stroke-dasharray", curve.dashes)
    for (x, y), (number, value) in zip(places, curve.places, strict=True):
        dot = element(group, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3)
        element(dot, "title", f"{curve.label}: {short(value)} at {number}")


def draw_legend(svg, curve, y):
    line = element(svg, "line", x1=LEFT, x2=LEFT + 28, y1=y - 4, y2=y - 4, stroke=curve.colour, stroke_width=2)
    if curve.dashes:
        line.set("stroke-dasharray", curve.dashes)
    element(svg, "text", curve.label, x=LEFT + 34, y=y)
