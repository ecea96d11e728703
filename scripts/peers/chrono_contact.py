#!/usr/bin/env python3
"""Solvers of Chrono (../python/ccpbench/peers/chrono_contact.py)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../python"))
import launch

launch.run("ccpbench.peers.chrono_contact")
