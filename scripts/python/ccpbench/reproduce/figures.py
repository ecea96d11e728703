"""The table of figures."""
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib import figure

from ccpbench.reproduce import (
    accuracy,
    anitescu,
    anitescu_joints,
    anitescu_motions,
    anitescu_nut,
    kleinert2014,
    kleinert2014_discs,
    kleinert2014_outlook,
    kleinert2017,
    kleinert2017_ball,
    kleinert2017_blade,
    kleinert2017_piles,
    koziara2019,
    koziara2019_cubes,
    koziara2019_drum,
    laws,
    wang2016,
    wang2016_columns,
    wang2016_drum,
    wang2016_pile,
    wang2016_pouring,
    wang2016_rows,
    wang2016_sound,
    wang2016_triaxial,
    warm_starts,
)
from ccpbench.reproduce.workshop import Workshop, run_on_sequence, run_study


@dataclass(frozen=True)
class Figure:
    """One row."""
    name: str                                # paper-figure, as on the command line
    summary: str                             # one line of `scripts/reproduce --list`
    run: Callable[[Workshop], None]          # makes the runs that are not there yet
    draw: Callable[[Path], figure.Figure]    # from the folder that they are in
    minutes: float = 1                       # that the runs take on 2 cores, about


FIGURES = [
    Figure("kleinert2017-fig1",
           "Kleinert 2017 Fig. 1: a ball that bounces: position, velocity, impulses",
           kleinert2017_ball.run_bounces, kleinert2017_ball.draw_bounces, 0.1),
    Figure("kleinert2017-fig3",
           "Kleinert 2017 Fig. 3: impulses by the phase of an impact in its step, shake and rattle",
           kleinert2017_ball.run_phases, kleinert2017_ball.draw_phases, 0.7),
    Figure("kleinert2017-fig4",
           "Kleinert 2017 Fig. 4: eigenvalues with the block-diagonal preconditioner",
           kleinert2017.run_distribution, kleinert2017.draw_distribution, 1),
    Figure("kleinert2017-fig5",
           "Kleinert 2017 Fig. 5, Kleinert 2014 Fig. 7: the piles, and what their spheres carry",
           kleinert2017_piles.run_pictures, kleinert2017_piles.draw_pictures, 0.3),
    Figure("kleinert2017-fig6",
           "Kleinert 2017 Fig. 6: error of PGJ and IPM against time, Test Problems 1-3",
           run_study("kleinert2017-fig6", 1, 2, 3), kleinert2017.draw_errors, 3),
    Figure("kleinert2017-fig7",
           "Kleinert 2017 Fig. 7: time to errors of 5e-2 and 1e-2 against size",
           run_study("kleinert2017-fig7", 1, 2, 3), kleinert2017.draw_scaling, 3),
    Figure("kleinert2017-krylov",
           "Kleinert 2017 Sect. 5: the IPM by Krylov method, and with IC(0) and ILU(0)",
           run_study("kleinert2017-krylov", 1, 3), kleinert2017.draw_krylov, 4),
    Figure("kleinert2017-blade",
           "Kleinert 2017 Figs. 8-10, Table 1: draft force of a blade by accuracy of the steps",
           kleinert2017_blade.run_blades, kleinert2017_blade.draw_blades, 20),
    Figure("kleinert2014-fig6",
           "Kleinert 2014 Fig. 6: ten discs at rest, whose impulses are not unique",
           kleinert2014_discs.run_discs, kleinert2014_discs.draw_discs, 0.1),
    Figure("kleinert2014-fig8",
           "Kleinert 2014 Fig. 8: eigenvalues with and without regularisation, IC(0) and ILU(0)",
           kleinert2014.run_spread, kleinert2014.draw_spread, 3),
    Figure("kleinert2014-fig9",
           "Kleinert 2014 Fig. 9: GMRES, CG, BiCGstab with IC(0), and CG without",
           run_study("kleinert2014-fig9", 2), kleinert2014.draw_krylov, 4),
    Figure("kleinert2014-fig10",
           "Kleinert 2014 Fig. 10: path-following against potential reduction",
           run_study("kleinert2014-fig10", 1), kleinert2014.draw_strategies, 2),
    Figure("kleinert2014-fig11",
           "Kleinert 2014 Fig. 11: PGJ against IPM, and IPM with a direct solver",
           kleinert2014.run_sizes, kleinert2014.draw_sizes, 5),
    Figure("kleinert2014-tolerance",
           "Kleinert 2014 Figs. 9-11 with directions to 1e-3, 1e-6 and 1e-8, two sizes",
           run_study("kleinert2014-tolerance", 1, 2), kleinert2014.draw_tolerances, 4),
    Figure("kleinert2014-outlook",
           "Kleinert 2014 Sects. 4.5, 6: inner iterations, change of Krylov method, PGJ first",
           kleinert2014_outlook.run_outlook, kleinert2014_outlook.draw_outlook, 3),
    Figure("anitescu-lcp",
           "Anitescu slides, Solving the LCP: pyramids of 10 to 210 spheres, mu 0, 0.2, 0.8",
           anitescu.run_pyramids, anitescu.draw_pyramids, 6),
    Figure("anitescu-particle",
           "Anitescu slides, Sliding particle: the relaxation against the LCP as h falls",
           anitescu_motions.run_particles, anitescu_motions.draw_particles, 2),
    Figure("anitescu-time",
           "Anitescu slides, LCP against optimisation over time: a particle, pyramids of discs",
           anitescu_motions.run_timed, anitescu_motions.draw_timed, 0.5),
    Figure("anitescu-ellipse",
           "Anitescu slides, elliptic body: infeasibility with and without stabilisation",
           anitescu_motions.run_ellipses, anitescu_motions.draw_ellipses, 0.2),
    Figure("anitescu-painleve",
           "Anitescu slides, Painleve's rod: the impulse where no force is a solution",
           anitescu_motions.run_rods, anitescu_motions.draw_rods, 0.5),
    Figure("anitescu-joints",
           "Anitescu slides, joints: how far they open, with and without stabilisation",
           anitescu_joints.run_joints, anitescu_joints.draw_joints, 0.5),
    Figure("anitescu-stiff",
           "Anitescu slides, stiff forces: a mass on a spring, linearly implicit and explicit",
           anitescu_joints.run_stiff, anitescu_joints.draw_stiff, 0.2),
    Figure("anitescu-nut",
           "Anitescu slides, Brazil nut: a large disc among 269 in a box that is shaken",
           anitescu_nut.run_nuts, anitescu_nut.draw_nuts, 1.5),
    Figure("wang2016-fig2",
           "Wang 2016 Fig. 2: columns by iterations a step, cold and from history",
           wang2016_columns.run_pictures, wang2016_columns.draw_pictures, 0.2),
    Figure("wang2016-fig3",
           "Wang 2016 Fig. 3: iterations a step for the height of a column, cold and warm",
           wang2016.run_columns, wang2016.draw_columns, 8),
    Figure("wang2016-fig4",
           "Wang 2016 Fig. 4: mean normal residual on a column of 25, cold and warm",
           run_on_sequence("wang2016-fig4"),
           wang2016.draw_starts("coulomb_normal_residual", "multiplier"), 1),
    Figure("wang2016-fig7",
           "Wang 2016 Fig. 7: error of the normal impulses on a resting pile, cold and warm",
           wang2016.run_pile, wang2016.draw_starts("multiplier"), 1),
    Figure("wang2016-fig8",
           "Wang 2016 Fig. 8: mean normal residual on a resting pile, cold and warm",
           wang2016.run_pile,
           wang2016.draw_starts("coulomb_normal_residual", "coulomb_residual"), 1),
    Figure("wang2016-sound",
           "Wang 2016 Sect. 1: how far iterations carry a disturbance of a column",
           wang2016_sound.run_sound, wang2016_sound.draw_sound, 0.2),
    Figure("wang2016-pile",
           "Wang 2016 Figs. 5, 6, 8, 9: a pile that melts with few iterations, by five starts",
           wang2016_pile.run_piles, wang2016_pile.draw_piles, 7),
    Figure("wang2016-fig9",
           "Wang 2016 Fig. 9: residuals of a resting pile by kind of row, cold and warm",
           wang2016_rows.run_rows, wang2016_rows.draw_rows, 1),
    Figure("wang2016-pouring",
           "Wang 2016 Figs. 5, 6: height of a pile that is poured, by five starts",
           wang2016_pouring.run_pouring, wang2016_pouring.draw_pouring, 7),
    Figure("wang2016-drum",
           "Wang 2016 Figs. 10-13: plug flow and angle of a drum that turns, cold and warm",
           wang2016_drum.run_drums, wang2016_drum.draw_drums, 11),
    Figure("wang2016-triaxial",
           "Wang 2016 Figs. 14-16: deviator of a triaxial cell by iterations, cold and warm",
           wang2016_triaxial.run_cells, wang2016_triaxial.draw_cells, 3),
    Figure("koziara2019-fig2",
           "Koziara 2019 Figs. 2 and 4: pqn over absolute delta, epsilon and m",
           run_on_sequence("koziara2019-fig2"), koziara2019.draw_sensitivity, 4),
    Figure("koziara2019-fig3",
           "Koziara 2019 Figs. 3 and 5: the same on steps of pseudo-rigid bodies in a drum",
           koziara2019.run_soft("koziara2019-fig2"), koziara2019.draw_sensitivity, 2),
    Figure("koziara2019-table4",
           "Koziara 2019 Tables 3 and 4: pqn with delta relative to N_ii, and Gauss-Seidel",
           run_on_sequence("koziara2019-table4"), koziara2019.draw_relative, 3),
    Figure("koziara2019-fig9",
           "Koziara 2019 Figs. 9-11, Table 4: the same on steps of pseudo-rigid bodies in a drum",
           koziara2019.run_soft("koziara2019-table4"), koziara2019.draw_relative, 2),
    Figure("koziara2019-density",
           "Koziara 2019 Figs. 12 and 13, rigid: pqn over delta and the density of the bodies",
           koziara2019.run_densities, koziara2019.draw_densities, 0.5),
    Figure("koziara2019-drum",
           "Koziara 2019 Figs. 1, 14, Tables 2, 3: a drum with lifters, pqn and Gauss-Seidel",
           koziara2019_drum.run_drums, koziara2019_drum.draw_drums, 5),
    Figure("koziara2019-cubes",
           "Koziara 2019 Sect. 8.2: an array of cubes in a box that is shaken",
           koziara2019_cubes.run_cubes, koziara2019_cubes.draw_cubes, 7),
    Figure("which-law",
           "beyond the papers: convex, Coulomb's, polyhedral and compliant law on the same steps",
           laws.run_laws, laws.draw_laws, 0.5),
    Figure("which-accuracy",
           "beyond the papers: draft force, stress and angle by the residual of the steps",
           accuracy.run_accuracies, accuracy.draw_accuracies, 2),
    Figure("warm-starts",
           "beyond the papers: what warm starts save over sequences of steps, by solver",
           warm_starts.run_starts, warm_starts.draw_starts, 8),
]

# The former numbers of the papers, aliases until the release after 0.1: 000-fig4.
FORMER_PAPERS = {"000": "kleinert2017", "001": "kleinert2014", "002": "anitescu",
                 "003": "wang2016", "004": "koziara2019"}


def add_figure(row: Figure) -> None:
    """For figures that are not part of the project."""
    FIGURES.append(row)


def find_figure(name: str) -> Figure | None:
    """The row of a name or of its alias."""
    paper, dash, rest = name.partition("-")
    present = FORMER_PAPERS.get(paper, paper) + dash + rest
    return next((row for row in FIGURES if row.name == present), None)
