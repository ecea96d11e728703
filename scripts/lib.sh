# shellcheck shell=bash
# Helpers of the scripts beside this file; sourced, never run.
#
# Every step that can fail ends in `fail` with its reason and, where a program's output went to a
# log, the log's last lines. That is why there is no `set -e`: it would end a script without a word.
set -u -o pipefail

ccp_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ccp_logs=$ccp_root/build/logs
ccp_cache=${XDG_CACHE_HOME:-$HOME/.cache}/ccpbench
ccp_name=$(basename "$0")

say() { printf '[%s] %s\n' "$ccp_name" "$*"; }
fail() {
  printf '[%s] failed: %s\n' "$ccp_name" "$*" >&2
  exit 1
}

# The comment at the top of a script is its help text (its lines after the first).
print_help() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

usage_error() {
  printf '[%s] %s (--help says more)\n' "$ccp_name" "$*" >&2
  exit 2
}

require_count() {
  [[ $2 =~ ^[1-9][0-9]*$ ]] || usage_error "$1: expected a positive number, found '$2'"
}

# One compiler per processor, but none without 2 GB of memory: Tpetra's templates need it.
default_jobs() {
  local jobs memory
  jobs=$(nproc 2>/dev/null || echo 1)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo 2>/dev/null)
  if [[ -n $memory ]] && ((memory < jobs)); then jobs=$((memory > 1 ? memory : 1)); fi
  echo "$jobs"
}

# ---- logs and progress ---------------------------------------------------------------------------

show_log_end() {
  printf '%s\n' "---- last lines of $1" >&2
  tail -n 40 "$1" >&2
  printf '%s\n' '----' >&2
}

# logged LOG COMMAND...: runs the command with its output in build/logs/LOG.log.
logged() {
  local log=$ccp_logs/$1.log
  shift
  mkdir -p "$ccp_logs" || fail "cannot create $ccp_logs"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    show_log_end "$log"
    fail "'$*' (log: $log)"
  fi
}

# built LOG COMMAND...: the same for a ninja build, which also shows how far it is.
built() {
  local log=$ccp_logs/$1.log
  shift
  mkdir -p "$ccp_logs" || fail "cannot create $ccp_logs"
  if ! NINJA_STATUS='[%f/%t] ' "$@" 2>&1 </dev/null | tee "$log" | show_progress; then
    show_log_end "$log"
    fail "'$*' (log: $log)"
  fi
}

# Reads ninja's output. On a terminal one line is rewritten; elsewhere a line appears each minute.
# Ninja counts what this run has to do, so after an interruption the counts start anew.
show_progress() {
  local line='' columns=80 start=$SECONDS shown=$SECONDS done_=0 total=0 spent
  [[ -t 1 ]] && columns=$(tput cols 2>/dev/null || echo 80)
  while true; do
    if IFS= read -r -t 5 line; then
      [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
      done_=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      [[ -t 1 ]] && printf '\r\033[K%s' "${line:0:columns-1}"
    elif (($? <= 128)); then
      break # end of input; above 128 only the five seconds are over
    fi
    if [[ ! -t 1 ]] && ((SECONDS - shown >= 60 && total > 0)); then
      shown=$SECONDS spent=$((SECONDS - start))
      if ((done_ > 0)); then
        say "$done_ of $total steps ($((100 * done_ / total)) %)," \
          "about $(((spent * (total - done_) / done_ + 59) / 60)) min left"
      else
        say "0 of $total steps after $((spent / 60)) min"
      fi
    fi
  done
  if [[ -t 1 ]]; then printf '\r\033[K'; fi
}

# configure PRESET OPTION...; build PRESET JOBS [TARGET]. Both are to be called in ccp_root.
configure() {
  local preset=$1 whole=()
  shift
  say "configuring preset $preset"
  # Eight sources are one to the compiler, which halves a build but makes one edit eight files' work:
  # for a new folder of a script, not for one that somebody works in.
  if [[ $preset != @(cuda|tidy) && ! -e build/$preset/CMakeCache.txt ]]; then
    whole=(-DCMAKE_UNITY_BUILD=ON)
  fi
  logged "$preset-configure" cmake --preset "$preset" "${whole[@]}" "$@"
}
build() {
  say "building preset $1${3:+, target $3} with $2 jobs (log: build/logs/$1-build.log)"
  built "$1-build" cmake --build --preset "$1" -j "$2" ${3:+--target "$3"}
}

# ---- Debian packages -----------------------------------------------------------------------------

on_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }
may_install() { ((EUID == 0)) || command -v sudo >/dev/null; }
as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }

# apt_get LOG ARGUMENT...: waits for another apt to finish, and never asks.
apt_get() {
  local log=$1
  shift
  logged "$log" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

ccp_lists_are_fresh=
refresh_package_lists() {
  [[ -n $ccp_lists_are_fresh ]] && return
  say "reading the package lists"
  apt_get apt-update update
  ccp_lists_are_fresh=yes
}

# packages_in SECTION...: the packages scripts/packages.txt lists there, one a line.
packages_in() {
  awk -v wanted=" $* " '
    /^[ \t]*(#|$)/ { next }
    /^\[/ { gsub(/[][]/, "", $1); on = index(wanted, " " $1 " "); next }
    on { for (i = 1; i <= NF; i++) print $i }' "$ccp_root/scripts/packages.txt"
}

# missing_packages PACKAGE...: those that dpkg does not call installed.
missing_packages() {
  comm -13 \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u) \
    <(printf '%s\n' "$@" | sort -u)
}

require_install_rights() {
  may_install || fail "these packages are missing, and installing them needs root or sudo:" \
    "apt-get install --no-install-recommends $*"
}

# install_named PACKAGE...: installs those that are missing; nothing is asked of apt if none is.
install_named() {
  local -a missing
  if ! on_debian; then
    say "not a Debian machine: going on as if what these Debian packages hold were here:" "$@"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  require_install_rights "${missing[@]}"
  refresh_package_lists
  say "installing ${#missing[@]} packages and what they need:" "${missing[@]}"
  apt_get apt-install install -y --no-install-recommends "${missing[@]}"
}

# install_packages SECTION...: the same for sections of scripts/packages.txt. A section *-backports
# holds packages that some releases have only too old; ccp_minimum says what is old.
declare -A ccp_minimum=([catch2]=3)
install_packages() {
  local section package
  local -a plain=() packages
  for section; do
    mapfile -t packages < <(packages_in "$section")
    ((${#packages[@]} > 0)) || fail "scripts/packages.txt has no packages in section [$section]"
    if [[ $section == *-backports ]] && on_debian; then
      for package in "${packages[@]}"; do
        install_at_least "$package" "${ccp_minimum[$package]:-0}"
      done
    else
      plain+=("${packages[@]}")
    fi
  done
  if ((${#plain[@]} > 0)); then install_named "${plain[@]}"; fi
}

# has_version PACKAGE VERSION: is it installed, and not older?
has_version() {
  local found
  on_debian || return 1
  found=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null)
  [[ $found == "installed "* ]] && dpkg --compare-versions "${found#installed }" ge "$2"
}

install_at_least() {
  local package=$1 minimum=$2 candidate
  local -a from=()
  has_version "$package" "$minimum" && return
  require_install_rights "$package" "(version $minimum or newer)"
  refresh_package_lists
  candidate=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
  if ! dpkg --compare-versions "${candidate:-0}" ge "$minimum"; then
    enable_backports
    from=(-t "$(debian_codename)-backports")
  fi
  say "installing $package${from[1]:+ from ${from[1]}}"
  apt_get "apt-$package" install -y --no-install-recommends "${from[@]}" "$package"
  has_version "$package" "$minimum" ||
    fail "$package: expected version $minimum or newer, apt has $candidate (and no newer backport)"
}

# ---- apt sources ---------------------------------------------------------------------------------

os_release() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" /etc/os-release; }
debian_codename() { os_release VERSION_CODENAME; }

# apt's own account of what it is set up to read: label|codename|address|file:entry.
apt_targets() {
  # shellcheck disable=SC2016  # the variables are apt's
  apt-get indextargets --format '$(LABEL)|$(CODENAME)|$(REPO_URI)|$(SOURCESENTRY)' \
    'Created-By: Packages'
}

# copy_apt_source TYPE SUITE BASE: copies the entry that this machine reads its own release from,
# changed to TYPE (deb or deb-src) and SUITE, to BASE.sources or BASE.list, as the original is
# written, and prints that file's name. Hosts and keys thereby stay the machine's own choice.
copy_apt_source() {
  local type=$1 suite=$2 base=$3 entry file number space word address
  entry=$(apt_targets | awk -F'|' -v label="$(os_release ID)" -v codename="$(debian_codename)" '
    tolower($1) == label && $2 == codename && $3 !~ /^cdrom:/ && !found { print $4; found = 1 }')
  [[ -n $entry ]] ||
    fail "apt has no source entry for $(debian_codename)" \
      "(or its lists were never read: apt-get update)"
  file=${entry%:*} number=${entry##*:}
  case $file in
    *.sources) # the number counts stanzas; a stanza's comments and switched-off types go
      base+=.sources
      awk -v wanted="$number" -v type="$type" -v suite="$suite" '
        /^#/ { next }
        /^[ \t]*$/ { inside = 0; next }
        !inside { inside = 1; stanza++ }
        stanza != wanted { next }
        /^[ \t]/ { if (field != "types:" && field != "suites:") print; next }
        { field = tolower($1) }
        field == "types:" { print "Types: " type; next }
        field == "suites:" { print "Suites: " suite; next }
        { print }' "$file" >"$base" || fail "cannot write $base"
      ;;
    *) # the number counts lines: deb [options] address suite component...
      base+=.list
      space='[[:space:]]+' word='[^[:space:]]+'
      address="$space(\[[^]]*\]$space)?$word$space"
      sed -n -E "${number}s%^\s*deb(-src)?($address)$word%$type\2$suite%p" "$file" >"$base" ||
        fail "cannot write $base"
      ;;
  esac
  grep -q "$suite" "$base" || fail "cannot copy the apt entry $entry"
  echo "$base"
}

enable_backports() {
  local suite folder file
  suite=$(debian_codename)-backports
  if apt_targets | cut -d'|' -f2 | grep -Fx "$suite" >/dev/null; then return; fi
  say "adding $suite to apt's sources"
  folder=$(mktemp -d) || fail "cannot create a temporary folder"
  file=$(copy_apt_source deb "$suite" "$folder/ccpbench-backports") || exit 1
  as_root install -m 0644 "$file" /etc/apt/sources.list.d/ ||
    fail "cannot write to /etc/apt/sources.list.d"
  rm -r "$folder"
  ccp_lists_are_fresh=
  refresh_package_lists
}

# ---- what the machine has ------------------------------------------------------------------------

# Debian's Python has the packages of [plot], but a Python without them may come first on the path.
use_python_with_plots() {
  local folder
  for folder in '' /usr/bin/; do
    if "${folder}python3" -c 'import h5py, numpy, matplotlib' 2>/dev/null; then
      [[ -z $folder ]] || PATH=$folder:$PATH
      export PATH
      return
    fi
  done
  fail "no python3 with h5py, numpy and matplotlib (section [plot] of scripts/packages.txt)"
}

# trilinos_prefix openmp|cuda: the first prefix at hand that was built for it; the same places as in
# cmake/CcpTrilinos.cmake.
trilinos_prefix() {
  local prefix
  for prefix in "${CCP_TRILINOS_PREFIX:-}" {"$ccp_cache",/usr/local}/trilinos-13.2-"$1"; do
    if [[ -e $prefix/lib/cmake/Trilinos/TrilinosConfig.cmake ]] &&
      grep -q "^#define KOKKOS_ENABLE_${1^^}$" "$prefix/include/KokkosCore_config.h"; then
      echo "$prefix"
      return
    fi
  done
  return 1
}

# The folder above bin/nvcc, as found on the path.
cuda_toolkit() {
  local nvcc
  nvcc=$(command -v nvcc) || return 1
  dirname "$(dirname "$nvcc")"
}
