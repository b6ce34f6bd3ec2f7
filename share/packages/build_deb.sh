#!/bin/sh
# build_deb.sh SOURCE BUILD OUT: makes Debian packages of what is built in BUILD. Needs dpkg-buildpackage,
# debhelper, dh-python, and setuptools and wheel for Python; says which is missing, with status 77.
# A whole build from the source is `dpkg-buildpackage -b` in SOURCE.
set -eu
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)

for tool in dpkg-buildpackage dh dh_python3; do
	command -v "$tool" >/dev/null || { echo "build_deb.sh: $tool is missing" >&2; exit 77; }
done
/usr/bin/python3 -c 'import setuptools, wheel' 2>/dev/null ||
	{ echo "build_deb.sh: python3-setuptools or python3-wheel is missing" >&2; exit 77; }

# Symbols for debuggers are the slow part: DEB_BUILD_OPTIONS= has them, too.
: "${DEB_BUILD_OPTIONS=noautodbgsym}"
export DEB_BUILD_OPTIONS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
cp -R "$source/debian" "$source/python" "$source/README.md" "$source/CHANGELOG.md" "$work/tree"
chmod -R u+w "$work/tree"
cd "$work/tree"
# What is built needs no more of what builds it.
PATH=/usr/bin:/bin:/usr/sbin:/sbin PTXLOOM_BUILT=$build dpkg-buildpackage -b -us -uc -d >"$work/log" 2>&1 ||
	{ tail -n 40 "$work/log" >&2; exit 1; }
mv "$work"/*.deb "$work"/*.buildinfo "$work"/*.changes "$out"
ls "$out"/*.deb
