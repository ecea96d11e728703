"""The papers' figures, made again.

A module per paper has the functions that make the runs and draw; `figures` is the table of all of
them; `workshop` runs the program, `drawing` and `eigenvalues` hold what several figures share;
`command` is `scripts/reproduce`. docs/add-a-figure.md adds one.
"""
