"""Contact problems of steps that other engines make (docs/capture.md). A module per engine, which
needs that engine's package, on top of `freeze`; `command` is `ccpbench capture`."""
