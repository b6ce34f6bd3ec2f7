# Both interfaces answer scripts of calls as an H200 did, except where the measured files say otherwise. One
# check for each section. tests/oracle/api/README.md explains the files.
. "${srcdir:-.}/tests/tap.sh"

PTXLOOM_DEVICE=h200
LD_LIBRARY_PATH=$libraries
export PTXLOOM_DEVICE LD_LIBRARY_PATH

# Every answer is known: the GPU's, or what stands behind !! where it is another one, as for calls that crash or make
# the device fail there and functions that are not there.
cat >"$scratch/compare.awk" <<'AWK'
function finish_section() {
	if (section != "")
		printf "%s\t%d\t%d\t%s\n", bad ? "bad" : "good", calls, noted, section
	bad = calls = noted = 0
}
FNR == NR { expected[++n] = $0; next }
{
	want = expected[++at]
	note = want
	if (sub(/.*\t!! /, "", note)) {
		sub(/ => .*/, " => " , want)
		want = want note
		noted++
	}
	if ($0 ~ /^= /) {
		finish_section()
		section = substr($0, 3)
	}
	calls += / => /
	if ($0 == want)
		next
	if (bad++ < 8)
		printf "#\twanted %s\n#\tgot    %s\n", want, $0
}
END {
	if (at != n)
		bad++
	finish_section()
}
AWK

empty "$(grep -nE '(!! |=> )(hangs|no such function|\?)$|!! crashes' "$srcdir"/tests/oracle/api/*.h200)" \
	"every call has an answer"
for script in device kernels graphs streams memory modules pools sizes pointers after zeros; do
	timeout 300 "$builddir/tests/oracle/api_cross" -j 2 "$LD_LIBRARY_PATH/libcudart.so.13" \
		"$LD_LIBRARY_PATH/libcuda.so.1" "$srcdir/tests/oracle/api/$script.api" >"$scratch/got"
	awk -f "$scratch/compare.awk" "$srcdir/tests/oracle/api/$script.h200" "$scratch/got" >"$scratch/result"
	grep '^#' "$scratch/result"
	grep -v '^#' "$scratch/result" >"$scratch/sections"
	ok "$([ -s "$scratch/sections" ]; echo $?)" "$script: there are answers"
	while IFS='	' read -r verdict calls noted section; do
		[ "$verdict" = good ]
		ok $? "$section: $calls answers as measured, $noted of them noted as different"
	done <"$scratch/sections"
done
finish
