#!/bin/sh
# run.sh [BUILD]: configures, builds and tests this project on machines without a GPU, then judges
# what was covered. The results are in BUILD (default: ./build): junit.xml, device.info, device.xml.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
command -v ptxloom >/dev/null || { echo "run.sh: ptxloom is not in PATH" >&2; exit 1; }

# A Python that has pytest, if there is one.
python=
for p in python3 /usr/bin/python3; do
	if "$p" -c 'import pytest' 2>/dev/null; then
		python=$(command -v "$p")
		break
	fi
done

cmake -S "$here" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$(ptxloom toolkit --cmake)" \
	${python:+-DPython3_EXECUTABLE="$python"} ${DEVICES:+-DPTXLOOM_DEVICES="$DEVICES"}
cmake --build "$build"
build=$(cd "$build" && pwd)
cov=$build/ptxloom-coverage
rm -rf "$cov"
ctest --test-dir "$build" -j "${JOBS:-2}" --output-on-failure --output-junit "$build/junit.xml"

cd "$here"
ptxloom coverage report "$cov" --root . --lcov -o "$build/device.info"
ptxloom coverage report "$cov" --root . --cobertura -o "$build/device.xml"
ptxloom coverage report "$cov" --root . -o "$build/device.txt" \
	--fail-under-lines "${LINES_WANTED:-90}" --fail-under-branches "${BRANCHES_WANTED:-60}"
tail -n 3 "$build/device.txt"
