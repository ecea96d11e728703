#!/usr/bin/env bash
# Usage: scripts/checks/python.sh FOLDER
#
# ruff and mypy, as FOLDER has them, on all Python of the project; the rules are those of
# scripts/python/pyproject.toml. Exit code 1 if one of them finds something.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
programs=${1:?FOLDER}
rules=scripts/python/pyproject.toml

# Files that git knows or would add: *.py, and what a first line says is Python.
mapfile -t files < <(
  git ls-files --cached --others --exclude-standard --deduplicate -- '*.py' 'scripts/*' |
    while read -r file; do
      [[ $file == *.py && -e $file ]] && printf '%s\n' "$file"
      [[ $file != *.* && -f $file ]] && head -n 1 "$file" | grep -q '^#!.*python3$' &&
        printf '%s\n' "$file"
    done
)

# types FILE...: mypy takes a module's name from its file, so that two of one name go apart.
types() { "$programs/mypy" --config-file "$rules" --cache-dir build/mypy "$@"; }
of() { printf '%s\n' "${files[@]}" | grep "$@"; }
mapfile -t peers < <(of '^scripts/peers/')
mapfile -t short < <(of -e '^tests/' -e '^docs/')
mapfile -t others < <(of -v -e '^scripts/peers/' -e '^tests/' -e '^docs/')

found=0
"$programs/ruff" check --config "$rules" --cache-dir build/ruff --quiet "${files[@]}" || found=1
types "${others[@]}" || found=1
types "${peers[@]}" || found=1
# Of tests and of examples the statements are checked, signatures need not be written.
types --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls --implicit-reexport \
  "${short[@]}" || found=1
exit $found
