#!/usr/bin/env python3
"""Siconos Numerics (../python/ccpbench/peers/siconos_numerics.py)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../python"))
import launch

launch.run("ccpbench.peers.siconos_numerics")
