"""plotly.js for the page: as little of it as a page needs, compressed.

Debian's plotly.js is one file of numbered modules with their dependencies (a bundle of browserify),
most of them for maps, 3D and kinds of plots that no page has. Those are left out. Other bundles
(from PyPI) are taken whole; compressed, they are about 1 MB larger.
"""
import base64
import json
import re
import zlib

from plotly.offline import get_plotlyjs

MODULE = re.compile(r"(?<![\w.])(\d+):\[function\((\w+),(\w+),(\w+)\)\{")
END = re.compile(r"\},\{\},\[\d+\]\)\(\d+\)\s*\}\);\s*$")
PARTS = ("./core", "./bar")  # core brings lines and markers along


def packed_library() -> str:
    """What the page unpacks: the script in zlib's format, in base64."""
    return base64.b64encode(zlib.compress(part_of(get_plotlyjs()).encode(), 9)).decode("ascii")


def part_of(bundle: str) -> str:
    """The bundle with what `PARTS` need; the whole of one that is built otherwise."""
    heads: list[re.Match[str]] = []
    for head in MODULE.finditer(bundle):  # bundles inside of modules have numbers of their own
        if int(head[1]) == len(heads) + 1:
            heads.append(head)
    end = END.search(bundle, len(bundle) - 200)
    if not heads or end is None:
        return bundle
    starts = [head.start() for head in heads] + [end.start()]
    modules = {number: bundle[starts[number - 1]:starts[number]].rstrip().rstrip(",")
               for number in range(1, len(starts))}
    needs = {number: {name: int(of) for name, of in
                      re.findall(r'"([^"]+)":(\d+)', text[text.rfind("},{"):])}
             for number, text in modules.items()}
    indices = [number for number, some in needs.items() if {*PARTS, "./scatter3d"} <= set(some)]
    if len(indices) != 1:
        return bundle
    index = indices[0]
    needs[index] = {name: needs[index][name] for name in PARTS}
    modules[index] = (f"{index}:[function(need,module){{var all=need('./core');"
                      f"all.register([need('./bar')]);module.exports=all}},"
                      f"{json.dumps(needs[index])}]")
    kept: set[int] = set()
    ahead = [index]
    while ahead:
        number = ahead.pop()
        if number not in kept:
            kept.add(number)
            ahead += needs[number].values()
    return (bundle[:starts[0]] + ",".join(modules[number] for number in sorted(kept))
            + bundle[end.start():])
