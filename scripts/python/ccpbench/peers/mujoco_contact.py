"""MuJoCo's solvers on steps that `ccpbench capture mujoco` froze of scenes of ours.

They solve MuJoCo's own problem, which is the frozen one for `--contacts engine`; of a rigid problem
it is a regularised one, and what the referee finds is how far that is off. The step is made again
from the scene and compared by its content hash, then solved from zero.

Usage: mujoco_contact.py METHOD PROBLEM.h5 OUTPUT.h5 TIME_LIMIT TOLERANCE
METHOD: newton, cg, pgs; with no more arguments: prints the version.
"""
import json
import sys
import time
from collections.abc import Sequence

from ccpbench.problem import read_problem, write_answer

MOST_ITERATIONS = 100_000


def main(arguments: Sequence[str] | None = None) -> int:
    """@param arguments  as on the command line (default: its own)"""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) not in (1, 5):
        sys.exit(__doc__)
    try:
        import mujoco
    except ImportError:
        sys.exit("MuJoCo is not installed (scripts/peers/setup engines)")
    if len(arguments) == 1:
        print(mujoco.__version__)
        return 0
    from ccpbench.capture import mujoco as engine
    method, path, output = arguments[:3]
    problem = read_problem(path)
    made = json.loads(problem.source.get("parameters") or "{}")
    if made.get("engine") != "mujoco":
        sys.exit(f"{path}: expected a step that ccpbench capture froze of MuJoCo, found another "
                 "problem")
    model = engine.load(made["scene"])
    data = mujoco.MjData(model)
    for _ in range(made["step"]):
        mujoco.mj_step(model, data)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_WARMSTART
    model.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{method.upper()}")
    model.opt.tolerance, model.opt.iterations = float(arguments[4]), MOST_ITERATIONS
    begin = time.perf_counter()
    mujoco.mj_forward(model, data)
    setup = time.perf_counter() - begin
    begin = time.perf_counter()
    mujoco.mj_fwdConstraint(model, data)  # the solve alone, again from zero
    seconds = time.perf_counter() - begin
    found = engine.freeze_step(model, data, problem.name, made["contacts"])
    if found.content_hash() != problem.content_hash():
        sys.exit(f"{path}: MuJoCo {mujoco.__version__} makes another step of {made['scene']} here "
                 "than the frozen one")
    write_answer(output, found.guesses["engine"], solve_time=seconds,
                 setup_time=max(setup - seconds, 0.0), version=mujoco.__version__,
                 iterations=max(int(sum(data.solver_niter)), 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
