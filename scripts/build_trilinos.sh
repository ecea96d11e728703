#!/usr/bin/env bash
# Usage: scripts/build_trilinos.sh [--backend openmp] [--jobs N] [PREFIX]
#        scripts/build_trilinos.sh --unpack ARCHIVE [PREFIX]
#
# Builds Trilinos 13.2 with Kokkos OpenMP from Debian's source package (about 50 minutes on 2 cores,
# 4 GB of memory and 6 GB of disk), or unpacks a prefix that was built before. PREFIX is by default
# trilinos-13.2-openmp (or -cuda, as the archive says) in ~/.cache/ccpbench, where the presets look
# for it; for another one set CCP_TRILINOS_PREFIX. The work is done in PREFIX.build: interrupted, it
# goes on from there when called again; once PREFIX is there, PREFIX.build may be removed.
#
#   --backend openmp   the only one built here: serial is Debian's package, cuda comes as an archive
#   --jobs N           compile N files at a time (default: one per processor and 2 GB of memory)
#   --unpack ARCHIVE   a .tar.zst of such a prefix; paths in it are changed to the place it goes to

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

jobs=$(default_jobs)
archive=
prefix=
while (($# > 0)); do
  case $1 in
    --help | -h) print_help; exit 0 ;;
    --jobs) require_count --jobs "${2-}"; jobs=$2; shift ;;
    --backend)
      [[ ${2-} == openmp ]] || usage_error "--backend: expected openmp, found '${2-}'"
      shift
      ;;
    --unpack) archive=${2-}; [[ -n $archive ]] || usage_error "--unpack: expected a file"; shift ;;
    -*) usage_error "unknown option '$1'" ;;
    *) [[ -z $prefix ]] || usage_error "more than one PREFIX: '$prefix', '$1'"; prefix=$1 ;;
  esac
  shift
done

# The options known to work (g++ 12.2, CMake 3.25, OpenMPI 4.1). Amesos2 is on from the start, since
# adding it later recompiles KokkosKernels; Debian's other packages are left out to save time.
# shellcheck disable=SC2191  # options, not array indices
options=(
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DBUILD_SHARED_LIBS=ON -DTPL_ENABLE_MPI=ON
  -DTrilinos_ENABLE_OpenMP=ON -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON
  -DTrilinos_ENABLE_ALL_PACKAGES=OFF -DTrilinos_ENABLE_ALL_OPTIONAL_PACKAGES=OFF
  -DTrilinos_ENABLE_SECONDARY_TESTED_CODE=OFF
  -DTrilinos_ENABLE_TESTS=OFF -DTrilinos_ENABLE_EXAMPLES=OFF -DTrilinos_ENABLE_Fortran=OFF
  -DTrilinos_ENABLE_DEBUG=OFF
  -DTrilinos_ENABLE_{Kokkos,KokkosKernels,Teuchos,Tpetra,Belos,Ifpack2}=ON
  -DTrilinos_ENABLE_{Xpetra,Zoltan2,Epetra}=OFF -DBelos_ENABLE_Epetra=OFF
  -DTrilinos_ENABLE_Amesos2=ON -DAmesos2_ENABLE_KLU2=ON
  -DTrilinos_ENABLE_ShyLU_Node=ON -DTrilinos_ENABLE_ShyLU_NodeTacho=ON
  -DAmesos2_ENABLE_ShyLU_NodeTacho=ON
  -DTrilinos_ENABLE_ShyLU_Node{FastILU,HTS,Basker}=OFF
  -DIfpack2_ENABLE_Amesos2=OFF -DIfpack2_ENABLE_ShyLU_NodeTacho=OFF
  -DTrilinos_ENABLE_EXPLICIT_INSTANTIATION=ON
  -DTpetra_INST_{SERIAL,INT_LONG,INT_INT,FLOAT,COMPLEX_DOUBLE}=OFF
  -DTpetra_INST_{OPENMP,INT_LONG_LONG}=ON
)

is_complete() { [[ -e $1/lib/cmake/Trilinos/TrilinosConfig.cmake ]]; }

# prepare_place MEGABYTES: PREFIX absolute, absent or empty, in a folder with room. Exits with 0 if
# a Trilinos is there already.
prepare_place() {
  local free
  prefix=$(realpath -m -- "$prefix")
  parent=$(dirname "$prefix")
  if is_complete "$prefix"; then
    say "there already: $prefix"
    exit 0
  fi
  [[ ! -e $prefix ]] || rmdir "$prefix" 2>/dev/null || fail "$prefix is there, but is no Trilinos"
  mkdir -p "$parent" || fail "cannot create $parent"
  [[ -w $parent ]] || fail "cannot write to $parent"
  free=$(df -Pm "$parent" | awk 'NR == 2 { print $4 }')
  ((free >= $1)) || fail "$parent: $1 MB of disk are needed, $free MB are free"
}

# move_to_prefix FOLDER: one rename, so that PREFIX is never half there.
move_to_prefix() {
  [[ ! -d $prefix ]] || rmdir "$prefix" 2>/dev/null
  mv -T "$1" "$prefix" || is_complete "$prefix" || fail "cannot move $1 to $prefix"
}

# ---- a ready archive -----------------------------------------------------------------------------

# replace_path FOLDER OLD NEW: in the text files below it.
replace_path() {
  local new
  new=$(printf '%s' "$3" | sed 's/[&|\\]/\\&/g')
  grep -rlIZF -- "$2" "$1" | xargs -0 -r sed -i "s|$2|$new|g"
}

# relocate FOLDER: its CMake files and the search path in its libraries know where it was built;
# after this they know PREFIX. CMake does for the libraries what it does when it installs some.
relocate() {
  local cmake=$1/lib/cmake home toolkit
  home=$(sed -n 's/^set(Trilinos_INSTALL_DIR "\(.*\)")$/\1/p' \
    "$cmake/Trilinos/TrilinosConfig.cmake")
  [[ -n $home ]] || fail "$archive: TrilinosConfig.cmake does not say where it was built"
  if [[ $home != "$prefix" ]]; then
    say "changing paths from $home to $prefix"
    replace_path "$cmake" "$home" "$prefix" || fail "cannot change the paths in $cmake"
    cat >"$1.cmake" <<'CMAKE'
file(GLOB libraries "${FOLDER}/lib/*.so*")
foreach(library IN LISTS libraries)
  if(NOT IS_SYMLINK "${library}")
    file(RPATH_CHANGE FILE "${library}" OLD_RPATH "${HOME}/lib" NEW_RPATH "\$ORIGIN")
  endif()
endforeach()
CMAKE
    logged trilinos-relocate cmake -DFOLDER="$1" -DHOME="$home" -P "$1.cmake"
    rm "$1.cmake"
  fi
  # A CUDA build also knows its toolkit.
  if toolkit=$(cuda_toolkit) && [[ ! $toolkit -ef /usr/local/cuda ]]; then
    replace_path "$cmake" /usr/local/cuda "$toolkit" || fail "cannot change the paths in $cmake"
  fi
}

unpack() {
  local top part
  [[ -r $archive ]] || fail "$archive: no such file, or not readable"
  command -v zstd >/dev/null || install_named zstd
  command -v zstd >/dev/null || fail "zstd is needed to unpack $archive"
  command -v cmake >/dev/null || fail "cmake is needed to prepare what $archive holds"
  top=$(tar --zstd -tf "$archive" 2>/dev/null | sed -n '1s|/.*||p') ||
    fail "$archive: not a whole .tar.zst"
  [[ $top == trilinos-13.2-@(openmp|cuda) ]] ||
    fail "$archive: expected a folder trilinos-13.2-openmp or -cuda, found '$top'"
  prefix=${prefix:-$ccp_cache/$top}
  prepare_place 600
  say "unpacking $archive"
  part=$(mktemp -d "$prefix.part.XXXXXX") || fail "cannot write to $parent"
  # shellcheck disable=SC2064  # the name as it is now
  trap "rm -rf '$part'" EXIT
  logged trilinos-unpack tar --zstd --no-same-owner -xf "$archive" -C "$part"
  is_complete "$part/$top" || fail "$archive: expected $top/lib/cmake/Trilinos/TrilinosConfig.cmake"
  relocate "$part/$top"
  move_to_prefix "$part/$top"
}

# ---- the build -----------------------------------------------------------------------------------

# apt with a configuration, lists and cache of its own in PREFIX.build: the machine's sources stay
# as they are, and no root is needed. (Root's sandbox user could not write to a home folder.)
download() {
  local entry
  local -a apt dsc
  if [[ -e $work/downloaded ]]; then return; fi
  say "step 1 of 5: downloading Debian's source package (170 MB)"
  mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/download"
  entry=$(copy_apt_source deb-src "$(debian_codename)" "$work/apt/ccpbench-src") || exit 1
  apt=(apt-get -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)"
    -o Dir::Etc::sourcelist="$entry" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache")
  logged trilinos-apt-update "${apt[@]}" update
  logged trilinos-download env -C "$work/download" "${apt[@]}" source --download-only trilinos
  dsc=("$work"/download/trilinos_13.2.*.dsc)
  [[ -e ${dsc[0]} ]] ||
    fail "expected Trilinos 13.2, $(debian_codename) has $(cd "$work/download" && echo ./*.dsc)"
  touch "$work/downloaded"
}

extract() {
  local -a dsc=("$work"/download/trilinos_13.2.*.dsc)
  if [[ -d $work/source ]]; then return; fi
  say "step 2 of 5: unpacking it"
  rm -rf "$work/source.part"
  logged trilinos-extract dpkg-source --no-copy -x "${dsc[0]}" "$work/source.part"
  mv "$work/source.part" "$work/source" || fail "cannot rename $work/source.part"
}

# Configured is a build folder for as long as the options stay the same.
configure_trilinos() {
  local -a command=(cmake -G Ninja -S "$work/source" -B "$work/build"
    -DCMAKE_INSTALL_PREFIX="$prefix" "${options[@]}")
  if [[ "${command[*]}" == "$(cat "$work/configured" 2>/dev/null)" ]]; then return; fi
  say "step 3 of 5: configuring"
  logged trilinos-configure "${command[@]}"
  printf '%s\n' "${command[*]}" >"$work/configured"
}

compile() {
  say "step 4 of 5: compiling with $jobs jobs (log: build/logs/trilinos-build.log)"
  built trilinos-build cmake --build "$work/build" -j "$jobs"
}

install_trilinos() {
  say "step 5 of 5: installing"
  rm -rf "$work/stage"
  logged trilinos-install env DESTDIR="$work/stage" cmake --install "$work/build"
  move_to_prefix "$work/stage$prefix"
}

build_from_source() {
  prefix=${prefix:-$ccp_cache/trilinos-13.2-openmp}
  prepare_place 6000
  on_debian || fail "this needs apt and Debian's source package of Trilinos; --unpack does not"
  # More than [build] in scripts/packages.txt: dpkg-dev unpacks source packages. Less: no Trilinos.
  install_named cmake g++ ninja-build pkg-config libopenmpi-dev openmpi-bin liblapack-dev dpkg-dev
  work=$prefix.build
  mkdir -p "$prefix" "$work" || fail "cannot create $work" # Trilinos wants to find its prefix
  # Held by the compilers, too, should they outlive this script.
  exec 9>"$work/lock"
  flock -n 9 || fail "another build is under way in $work"
  download
  extract
  configure_trilinos
  compile
  install_trilinos
  say "no longer needed, and large: $work"
}

if [[ -n $archive ]]; then unpack; else build_from_source; fi
say "done: $prefix"
case $prefix in
  "$ccp_cache"/trilinos-13.2-* | /usr/local/trilinos-13.2-*) ;;
  *) say "the presets find it with CCP_TRILINOS_PREFIX=$prefix" ;;
esac
