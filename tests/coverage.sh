# Lines of our sources that the tests executed: one line for each file, least covered first, and the sum.
# For builds with --enable-gcov; `make coverage` runs the tests and then this.
# usage: coverage.sh SRCDIR BUILDDIR
set -eu
src=$(cd "$1" && pwd)
cd "$2"
files=$(find . -path './tests' -prune -o -name '*.gcda' -print)
[ -n "$files" ] || {
	echo "coverage.sh: nothing was measured; configure with --enable-gcov and run the tests" >&2
	exit 1
}
# A header is compiled into many objects: keep its best figure.
echo "$files" | xargs "${GCOV:-gcov}" -n -r -s "$src" 2>/dev/null | awk -v q="'" '
	/^File / { split($0, a, q); file = a[2] }
	/^Lines executed:/ && file != "" {
		split(substr($0, 16), b, "% of ")
		hit = b[1] * b[2] / 100
		if (!(file in lines) || hit > hits[file]) { hits[file] = hit; lines[file] = b[2] }
		file = ""
	}
	END {
		for (file in lines) {
			printf "%6.1f%% of %5d  %s\n", 100 * hits[file] / lines[file], lines[file], file | "sort -n"
			all += lines[file]
			hit_all += hits[file]
		}
		close("sort -n")
		printf "%6.1f%% of %5d  all\n", 100 * hit_all / all, all
	}'
