# The figures of NVIDIA's tuning guides, from the programs that they are about: figures.tsv.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# measured DEVICE ARGUMENTS METRIC: of a launch of one warp, unless the arguments say otherwise.
measured()
{
	case $2 in
	walk*u32=???????*) measured_in="--buffer in:u32[25165824]" ;;
	words* | pairs* | walk*) measured_in="--buffer in:u32[65536]=iota" ;;
	*) measured_in= ;;
	esac
	measured_kernel=${2%% *}
	measured_more=${2#"$measured_kernel"}
	# shellcheck disable=SC2086
	ptxloom profile --csv --page raw --print-raw-numbers --log-file "$scratch/raw" --metrics "$3" ptxloom exec \
		tests/profile/figures.ptx -d "$1" --kernel "$measured_kernel" --block 32 $measured_in $measured_more \
		>"$scratch/out" 2>"$scratch/err" || return 1
	# The kernel's sizes have commas.
	awk -F '","' -v name="$3" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name || $i == name "\"") at = i}
		NR == 3 {gsub(/"/, "", $at); print $at}' "$scratch/raw"
}

# A field of a device's profile, without its unit.
field()
{
	ptxloom devices "$1" | awk -v name="$2" '$1 == name {print}' |
		sed -E "s/^ *$2 +//; s/ (KiB|bytes|warps|CTAs) .*//; s/ {2,}.*//"
}

while IFS='|' read -r figure source device program name value; do
	case $figure in
	'#'*) continue ;;
	esac
	if [ "$program" = - ]; then
		got=$(field "$device" "$name")
	else
		got=$(measured "$device" "$program" "$name")
	fi
	[ "$got" = "$value" ] || echo "# $name is '$got', not '$value'"
	ok "$([ "$got" = "$value" ]; echo $?)" "$device, $figure ($source)"
done <tests/profile/figures.tsv
finish
