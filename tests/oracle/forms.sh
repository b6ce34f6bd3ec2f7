#!/bin/sh
# What an H200 answered, form by form, against the emulated device through its driver API: digests of
# the results of 2048 threads in eight variants, and the codes of wrong uses. docs/exactness.md says how
# they were measured.
. "${srcdir:-.}/tests/tap.sh"

PTXLOOM_DEVICE=h200
export PTXLOOM_DEVICE
vectors=$srcdir/tests/vectors

"$builddir/tests/oracle/form_cross" "$builddir/.libs/libcuda.so.1" -j 2 \
	-w "$vectors/forms_gh100.tsv" >"$scratch/differ" 2>"$scratch/totals"
empty "$(head -n 20 "$scratch/differ")" "every form gives what the GPU gave"
want=$(wc -l <"$vectors/forms_gh100.tsv")
got=$(sed -n 's/.* differ, \([0-9]*\) compared$/\1/p' "$scratch/totals")
test "${got:-0}" -eq "$want"
ok $? "all $want forms were compared"

# Names and codes; what else the lines say is for people.
"$builddir/tests/oracle/fault_cross" "$builddir/.libs/libcuda.so.1" >"$scratch/faults" 2>/dev/null
awk -F '	' 'NR == FNR { want[$1] = $2; next }
	$1 in want { n++; split($2, c, " "); codes = c[1] " " c[2] " " c[3] " " c[4]
		if (codes != want[$1]) print $1 ": " codes ", the GPU " want[$1] }
	END { for (i in want) all++; if (n != all) print n " of " all " cases ran" }' \
	"$vectors/faults_gh100.tsv" "$scratch/faults" >"$scratch/codes"
empty "$(cat "$scratch/codes")" "wrong uses give the codes that the GPU gave"
finish
