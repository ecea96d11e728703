#!/usr/bin/env python3
"""Conic solvers of others (../python/ccpbench/peers/conic.py)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../python"))
import launch

launch.run("ccpbench.peers.conic")
