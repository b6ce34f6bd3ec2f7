#!/bin/sh
# Counts with Nsight Compute, on a GPU, what the launches of tests/counters/caches.tsv do, and writes that table anew:
# the descriptions, with what was counted. Needs a GPU of compute capability 9.0, its driver, and ncu.
#
#   tests/oracle/caches_cross.sh BUILD >TABLE
#
# BUILD: build directory, with tests/oracle/caches_cross; LIBCUDA: the GPU's driver library; TABLE: the descriptions;
# FIRST, LAST: of its launches. About a second for each.
set -u
program=${1:?usage: caches_cross.sh BUILD >TABLE}/tests/oracle/caches_cross
table=${TABLE:-$(dirname "$0")/../counters/caches.tsv}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
metrics=$(sed -n 's/^@\t//p' "$table" | tr '\t' '\n' | sed '/^memory_\|^launch__/!s/$/.sum/' | tr '\n' ',')
ncu --csv --page raw --print-units base --clock-control none --metrics "${metrics%,}" --log-file "$work/csv" \
	"$program" "${LIBCUDA:-libcuda.so.1}" "$table" "${FIRST:-0}" "${LAST:-999999}" >"$work/list" || exit 1
grep '^@' "$table"
awk -v list="$work/list" -v head="$(grep '^@' "$table")" '
	BEGIN { columns = split(head, column, /\t/) }
	!/^"/ { next }
	{ line = $0; gsub(/^"|"$/, "", line); n = split(line, value, /","/) }
	/^"ID"/ { for (i = 1; i <= n; i++) { sub(/[.]sum$/, "", value[i]); at[value[i]] = i }; units = 1; next }
	units { units = 0; next }
	{
		getline text <list
		sub(/^[0-9]*\t/, "", text)
		for (i = 2; i <= columns; i++) {
			x = value[at[column[i]]]
			gsub(/,/, "", x)
			text = text "\t" (x + 0 ? x : "")
		}
		sub(/\t*$/, "", text)
		print text
	}' "$work/csv"
