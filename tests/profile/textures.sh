# Counts of texture units: textures and surfaces of all shapes, against those of an H200 (tests/counters/textures.tsv).
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/textures
measured=tests/counters/textures.tsv
succeeds "the program is built" ptxloom cc tests/profile/textures.cu -o "$app"
metrics=$(sed -n 's/^@	//p' $measured | tr '\t' '\n' | sed 's/$/.sum/')

# counts: the launches of the report, one a line, in the columns of the vectors.
counts()
{
	awk -F'","' -v want="$(echo "$metrics" | tr '\n' ' ')" '
		/^"ID"/ {
			for (i = 1; i <= NF; i++) { sub(/"$/, "", $i); at[$i] = i }
			n = split(want, w, " ")
			next
		}
		/^"[0-9]/ {
			line = ""
			for (k = 1; k <= n; k++) {
				x = $(at[w[k]])
				gsub(/[",]/, "", x)
				line = line (k > 1 ? "\t" : "") x
			}
			print line
		}' "$1"
}

capture ptxloom profile -d h200 --csv --page raw --metrics "$(echo "$metrics" | paste -sd, -)" \
	--log-file "$scratch/raw" "$app"
sed '/^[#@]/d; s/	.*//' $measured >"$scratch/launches"
same "$scratch/launches" "$scratch/out" "the program made the launches that were measured"
# An H200 writes 5 to 17 sectors to the host for each launch, when it has ended.
sed '/^#/d; s/^[^	]*	//' $measured >"$scratch/want"
counts "$scratch/raw" >"$scratch/got"
different=$(awk -F'\t' '
	NR == FNR { for (i = 1; i <= NF; i++) want[FNR - 1, i] = $i; rows = FNR - 1; next }
	{
		for (i = 1; i <= NF; i++) {
			x = want[FNR, i] - $i
			if (want[0, i] ~ /sysmem_op_write$/ ? x < 5 || x > 17 : x)
				print "launch " FNR ": " want[0, i] " " $i " instead of " want[FNR, i]
		}
	}
	END { if (FNR != rows) print FNR " launches instead of " rows }' "$scratch/want" "$scratch/got")
empty "$different" "all launches count as measured"

for workers in 1 3; do
	capture env PTXLOOM_WORKERS=$workers ptxloom profile -d h200 --csv --page raw --log-file "$scratch/raw" \
		--metrics regex:pipe_tex "$app"
	sed -n 's/^"[0-9]*","[0-9]*",//p' "$scratch/raw" >"$scratch/workers$workers"
done
succeeds "there are counts to compare" test -s "$scratch/workers1"
same "$scratch/workers1" "$scratch/workers3" "any number of workers counts alike"
finish
