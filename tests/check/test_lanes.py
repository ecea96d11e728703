#!/usr/bin/env python3
"""test_lanes.py SOURCE REPORT: are the loops of SOURCE that ask for SIMD lanes in them?

REPORT is what GCC wrote with -fopt-info-vec-optimized while it compiled SOURCE. A call that is not
inlined, or a branch, brings the scalar loop back without a word. Exit codes: 0 all of them; 1 not.
"""
import re
import sys
from pathlib import Path

source, report = Path(sys.argv[1]), Path(sys.argv[2]).read_text()
lines = source.read_text().splitlines()
loops = [number + 1 for number, line in enumerate(lines, 1) if line.strip() == "CCP_LANES"]
if not loops:
    sys.exit(f"test_lanes: {source.name}: expected loops after CCP_LANES, found none")
in_lanes = {int(number) for number in re.findall(
    rf"{re.escape(source.name)}:(\d+):\d+: optimized: loop vectorized", report)}
scalar = [number for number in loops if number not in in_lanes]
for number in scalar:
    print(f"test_lanes: {source.name}:{number}: expected a loop in SIMD lanes, found a scalar one: "
          f"{lines[number - 1].strip()}")
print(f"{len(loops) - len(scalar)} of {len(loops)} loops are in lanes")
sys.exit(bool(scalar))
