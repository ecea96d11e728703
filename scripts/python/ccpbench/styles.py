"""How solvers are told apart in figures and on pages."""
from typing import Any

# Okabe and Ito's colours. With 4 line styles and 9 markers, 252 solvers pass before one looks like
# another, and neighbours differ in print without colour, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
LINES = ("-", (0, (5, 1.5)), (0, (4, 1.2, 1, 1.2)), (0, (1, 1)))
MARKERS = "osD^vP<X>"


def style_of(number: int) -> dict[str, Any]:
    """Colour, line and marker of a solver by its place in the legend, as matplotlib takes them."""
    return {"color": COLOURS[number % 7], "linestyle": LINES[number % 4],
            "marker": MARKERS[number % 9], "linewidth": 1.2, "markersize": 3.5}
