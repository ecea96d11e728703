"""Made-up result files for the tests of what reads them."""
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError:  # another Python than Debian's came first on the path, as in launch.py
    DEBIAN = "/usr/bin/python3"
    if os.path.exists(DEBIAN) and os.path.realpath(sys.executable) != os.path.realpath(DEBIAN):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    raise

# Some of the program's measures, and one that no program has: readers take what files have.
MEASURES = ["cost", "feas", "error", "residual", "velocity", "coulomb_residual", "made_up"]
PGJ, IPM = "pgj[omega=0.3]", "ipm[krylov=cg,preconditioner=block_diagonal]"


def write_result(path, solver=PGJ, instance="small-pile", contacts=1234, time=(0, 0.5, 1, 2),
                 error=(1, 0.1, 0.01, 0), krylov=None, status="stopped_by_observer",
                 study="made-up", repetition=1, version=1, referee_version=1, threads="1",
                 content="00", message="", law="convex", stop="error=0.001", bare=0.0,
                 targets=(("error", 0.05), ("residual", 1e-6)), applies=100,
                 commit="0123456789abcdef0123456789abcdef01234567-dirty", ranks="1", spent=None):
    """A result file; every measure but `velocity` has the curve of the error.
    @param applies  between two looks
    @param spent    s of exchanges and of reductions, each a list with a value per rank"""
    k = len(time)
    krylov = np.zeros(k, int) if krylov is None else np.array(krylov, int)
    with h5py.File(path, "w") as file:
        file.attrs.update({
            "format": "ccpbench-result", "version": version, "referee_version": referee_version,
            "instance": instance, "instance_hash": content * 32, "form": "bodies",
            "contacts": contacts, "bodies": 600, "solver": solver,
            "solver_id": solver.partition("[")[0], "law": law, "status": status,
            "message": message, "stop": stop,
            "stop_reached": int(status == "stopped_by_observer"), "own_residual": 1e-3,
            "own_residual_name": "m/s", "time_limit": 60.0, "memory_per_contact": 0.0,
            "study": study, "repetition": repetition, "key": ""})
        file.create_group("options").attrs["omega"] = "0.3"
        file.create_group("request").attrs["study_description"] = "Piles, made up & <quick>"
        file.create_group("counters").attrs.update(
            {"outer": max(k - 1, 0), "krylov": krylov.max(initial=0)})
        file.create_group("timers").attrs.update(
            {"solve": max(time, default=0.0), "setup": 0.125})
        if bare > 0:
            file["timers"].attrs["bare_solve"] = bare
        file["curve/outer"] = 100 * np.arange(k)
        file["curve/krylov"] = krylov
        file["curve/applies"] = applies * np.arange(k)
        file["curve/time"] = np.array(time, float)
        file["curve/time_excluded"] = np.zeros(k)
        file["curve/own_residual"] = np.array(error, float)
        for name in MEASURES:
            file["curve/" + name] = np.array(error, float) * (np.nan if name == "velocity" else 1)
        file["targets/measure"] = np.array([name for name, _ in targets], h5py.string_dtype())
        file["targets/value"] = [value for _, value in targets]
        file["targets/time"] = np.full(len(targets), np.nan)
        for name in ("outer", "krylov", "applies"):
            file["targets/" + name] = np.full(len(targets), -1)
        file.create_group("final")
        file.create_group("best")
        file.create_group("provenance").attrs.update({
            "commit": commit, "cpu": "Made-up CPU",
            "gpu": "", "backend": "Serial", "threads": threads, "ranks": ranks,
            "date_utc": "2020-01-02T03:04:05Z"})
        for name, seconds in zip(("exchange", "reduction"), spent or (), strict=False):
            file[f"ranks/{name}_time"] = np.array(seconds, float)
