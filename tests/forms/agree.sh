#!/bin/sh
# Judges `ptxloom lint` against what ptxas says of the committed modules: tests/forms/legal must pass without an
# error, in tests/forms/illegal every line marked `// error` must be reported and no other, and each file of
# tests/errors must fail at its marked line alone (ok-* not at all). Needs a POSIX shell and awk, nothing else.
#
# usage: agree.sh [PTXLOOM [-v FILE]]     FILE receives every disagreement, one per line
# Prints tables per file, per instruction family and per defect (as diagnostics), then TAP. Exit status 1 when
# a test fails. Under `make check` PTXLOOM is the one just built.

PTXLOOM=${1:-${builddir:-.}/ptxloom}
LIST=/dev/null
[ "${2-}" = -v ] && LIST=${3:?-v needs a file name}
HERE=$(cd "$(dirname "$0")" && pwd)
ERRORS=${HERE%/*}/errors
WORK=${TMPDIR:-/tmp}/agree.$$
mkdir "$WORK" || exit 1
trap 'rm -rf "$WORK"' EXIT
trap 'exit 1' HUP INT TERM
: >"$WORK/all"
: >"$LIST"

# One record per judged line: R kind file line family category verdict text message; S kind file status per run.
# kind: legal, illegal or errors; verdict: ok, missed (marked but not reported) or false (reported but not marked).
for kind in legal illegal errors; do
	dir=$HERE/$kind
	[ $kind = errors ] && dir=$ERRORS
	for f in "$dir"/*.ptx; do
		[ -f "$f" ] || continue
		"$PTXLOOM" lint --max-errors=0 "$f" >"$WORK/out" 2>&1
		status=$?
		awk -v kind="$kind" -v path="$f" -v status="$status" '
			function report(verdict, n, cat, text)
			{
				printf "R\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", kind, file, n, family, cat, verdict, text,
					(n in said) ? said[n] : ""
			}
			BEGIN { file = path; sub(/.*\//, "", file); family = "-" }
			FILENAME == ARGV[1] {
				if (index($0, path ":") == 1) {
					rest = substr($0, length(path) + 2)
					if (match(rest, /^[0-9]+:([0-9]+:)? (fatal )?error: /)) {
						split(rest, part, ":")
						if (!(part[1] in said))
							said[part[1] + 0] = substr(rest, RLENGTH + 1)
					}
				}
				next
			}
			/^\/\/ family: / { family = substr($0, 12) }
			{
				last = FNR
				marked = match($0, /\/\/ error/)
				cat = marked ? substr($0, RSTART + 10) : ""
				text = marked ? substr($0, 1, RSTART - 1) : $0
				gsub(/\t/, " ", text)
				if (marked)
					report((FNR in said) ? "ok" : "missed", FNR, cat, text)
				else if (FNR in said)
					report("false", FNR, "", text)
				else if (kind == "legal" && $0 ~ /^\t[^.{}]/)
					report("ok", FNR, "", text)
			}
			END {
				for (n in said)
					if (n + 0 > last)
						report("false", n, "", "(beyond the end)")
				printf "S\t%s\t%s\t%d\n", kind, file, status
			}
		' "$WORK/out" "$f" >>"$WORK/all"
	done
done

awk -F '\t' -v list="$LIST" '
	function percent(a, b)
	{
		return b ? 100 * a / b : 100
	}
	function tap(good, what)
	{
		printf "%sok %d - %s\n", good ? "" : "not ", ++tests, what
		if (!good)
			failed = 1
	}
	$1 == "S" {
		files[++nfiles] = $2 SUBSEP $3
		status[$2, $3] = $4
		next
	}
	{
		key = $2 SUBSEP $3
		count[key, $7]++
		total[$2, $7]++
		if ($2 != "errors") {
			# In an illegal module an unmarked line is legal context.
			side = $2 == "legal" || $7 == "false" ? "legal" : "illegal"
			if (!(($5) in known)) {
				known[$5] = 1
				order[++nfam] = $5
			}
			fam[$5, side, $7]++
		}
		if ($2 == "illegal" && $7 != "false") {
			if (!($6 in knowncat)) {
				knowncat[$6] = 1
				cats[++ncat] = $6
			}
			cat[$6, $7]++
		}
		if ($7 != "ok")
			printf "%s/%s:%d: %s [%s] %s  | %s\n", $2, $3, $4, $7, $6, $8, $9 >list
	}
	END {
		printf "# %-34s %7s %7s %7s %8s\n", "file", "agreed", "missed", "false", "%"
		for (i = 1; i <= nfiles; i++) {
			k = files[i]
			split(k, part, SUBSEP)
			if (part[1] == "errors")
				continue
			good = count[k, "ok"] + 0
			bad = count[k, "missed"] + count[k, "false"]
			printf "# %-34s %7d %7d %7d %7.2f%%\n", part[1] "/" part[2], good, count[k, "missed"],
				count[k, "false"], percent(good, good + bad)
		}
		printf "# %-26s %9s %9s %9s %9s\n", "family", "legal", "accepted", "illegal", "rejected"
		for (i = 1; i <= nfam; i++) {
			f = order[i]
			lg = fam[f, "legal", "ok"] + 0
			lb = fam[f, "legal", "false"] + 0
			ig = fam[f, "illegal", "ok"] + 0
			ib = fam[f, "illegal", "missed"] + 0
			printf "# %-26s %9d %8.2f%% %9d %8.2f%%\n", f, lg + lb, percent(lg, lg + lb),
				ig + ib, percent(ig, ig + ib)
		}
		printf "# %-26s %9s %9s\n", "defect", "illegal", "rejected"
		for (i = 1; i <= ncat; i++) {
			c = cats[i]
			n = cat[c, "ok"] + cat[c, "missed"]
			printf "# %-26s %9d %8.2f%%\n", c, n, percent(cat[c, "ok"] + 0, n)
		}
		for (i = 1; i <= nfiles; i++) {
			k = files[i]
			split(k, part, SUBSEP)
			if (part[1] == "legal") {
				good = !count[k, "false"] && status[k] == 0
				why = sprintf(" (%d refused, exit status %d)", count[k, "false"], status[k])
				tap(good, "legal/" part[2] ": every line accepted" (good ? "" : why))
			} else if (part[1] == "illegal" && status[k] != 1)
				wrong = wrong " " part[2]
		}
		n = total["illegal", "ok"] + total["illegal", "missed"]
		p = percent(total["illegal", "ok"] + 0, n)
		tap(n > 0 && !total["illegal", "missed"], sprintf("illegal: %.2f%% of %d statements rejected", p, n))
		tap(!total["illegal", "false"], sprintf("illegal: %d legal lines reported", total["illegal", "false"]))
		tap(wrong == "", "illegal: every file ends with exit status 1" (wrong == "" ? "" : ", but not" wrong))
		for (i = 1; i <= nfiles; i++) {
			k = files[i]
			split(k, part, SUBSEP)
			if (part[1] != "errors")
				continue
			if (part[2] ~ /^ok-/) {
				good = !count[k, "false"] && status[k] == 0
				tap(good, "errors/" part[2] ": accepted")
			} else {
				good = count[k, "ok"] && !count[k, "missed"] && !count[k, "false"] && status[k] == 1
				why = sprintf(" (missed %d, elsewhere %d, exit status %d)", count[k, "missed"],
					count[k, "false"], status[k])
				tap(good, "errors/" part[2] ": reported at its line" (good ? "" : why))
			}
		}
		printf "1..%d\n", tests
		exit failed
	}
' "$WORK/all"
