#!/usr/bin/env bash
# Installs a build into a staging folder and checks that the installed program works with the installed data.
#   tests/install_test.sh BUILD
set -euo pipefail
build=$1
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage cmake --install "$build" --prefix /opt/nuscope >/dev/null
root=$stage/opt/nuscope
nuscope=$root/bin/nuscope

fail() { echo "FAILED: $*" >&2; exit 1; }
for file in share/nuscope/hw/host-generic.json share/nuscope/runtime/nuscope_runtime.h share/nuscope/programs/relu.py \
  share/doc/nuscope/LICENSE; do
  [ -f "$root/$file" ] || fail "$file was not installed"
done
if [ -x "$root/bin/nuscope-explorer" ]; then
  [ -x "$root/bin/nuscope-layout" ] || fail "the explorer came without nuscope-layout"
  [ -f "$root/share/applications/nuscope.desktop" ] || fail "no desktop file"
  [ -f "$root/share/icons/hicolor/scalable/apps/nuscope.svg" ] || fail "no icon"
fi

# The installed descriptions and runtime are found, not those of the source tree.
sed 's/"host-generic"/"installed-only"/' "$root/share/nuscope/hw/host-generic.json" >"$root/share/nuscope/hw/installed-only.json"
unset NUSCOPE_HW NUSCOPE_RUNTIME
json=$("$nuscope" emit "$root/share/nuscope/programs/relu.py" --target installed-only --shape M=8,N=8 --json) ||
  fail "the installed descriptions are not found"
case $json in
  *"-I$root/share/nuscope/runtime"*) ;;
  *) fail "the installed runtime is not found" ;;
esac
"$nuscope" sweep "$root/share/nuscope/programs/relu.py" --shape M=16,N=16 --budget 2 -o "$stage/s.nuscope" >/dev/null 2>&1 ||
  fail "the installed program does not sweep"
"$nuscope" export "$stage/s.nuscope" -o "$stage/out" >/dev/null || fail "the installed program does not export"
echo "installed, found its data, swept and exported"
