# Sourced by app/run.sh and tests/run.sh: the Debian packages that Nuscope needs, and how they are installed.

nuscope_build_packages="g++ cmake ninja-build ccache lld pkg-config libfmt-dev nlohmann-json3-dev rapidjson-dev libcli11-dev
  libsqlite3-dev zlib1g-dev libgmp-dev libflint-dev libflint-arb-dev libz3-dev qt6-base-dev qt6-svg-dev libqt6svg6
  libqcustomplot-dev libgraphviz-dev fonts-dejavu-core fonts-inter fonts-jetbrains-mono"
nuscope_run_packages="libopenblas0-pthread"
nuscope_test_packages="libgtest-dev libgmock-dev python3-numpy xvfb z3"

missing_packages() {
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || echo "$package"
  done
}

# install_packages NAME...: installs what is missing; asks for nothing. Without apt it lists what to install.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This system has no apt. Install the counterparts of these Debian 12 packages, then run this script again" >&2
    echo "with NUSCOPE_SKIP_INSTALL=1:" >&2
    echo "  $*" | tr -s ' \n' ' ' >&2; echo >&2
    [ -n "${NUSCOPE_SKIP_INSTALL:-}" ] || exit 4
    return 0
  fi
  [ -z "${NUSCOPE_SKIP_INSTALL:-}" ] || return 0
  local missing; missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  local root=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Not root and no sudo. Please install:" $missing >&2; exit 4; }
    root="sudo"
  fi
  echo "Installing:" $missing
  $root apt-get update -qq
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
