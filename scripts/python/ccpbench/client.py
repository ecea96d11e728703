"""The process that the program starts for a function: asks the session that has it (functions.py).

Usage: client.py NAME DIGEST PROBLEM OUTPUT TIME_LIMIT; the session's socket is in the environment.
Imports nothing that takes time to start. Exit code 1 with a line of what went wrong.
"""
import json
import os
import socket
import sys

SOCKET = "CCPBENCH_PYTHON_SESSION"


def main() -> int:
    """@return 0, or 1 if there is no answer"""
    name, _, problem, output, time_limit = sys.argv[1:]
    path = os.environ.get(SOCKET)
    if not path:
        print(f"{name} is a function of a Python session that has ended", file=sys.stderr)
        return 1
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as session:
        session.connect(path)
        session.sendall(json.dumps([name, problem, output, time_limit]).encode() + b"\n")
        trouble = session.makefile().readline().strip()
    if trouble or not os.path.exists(output):
        print(trouble or f"{name} ended without an answer", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
