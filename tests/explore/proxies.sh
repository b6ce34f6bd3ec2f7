# Weak memory beside loads and stores: read-only lines, bulk copies behind a missing proxy fence, clusters. What is
# wrong is seen under some seeds, what is right under none.
. "${srcdir:-.}/tests/tap.sh"

# seen KERNEL RIGHT SEED OPTIONS..: what the reader gets.
seen()
{
	seen_kernel=$1
	seen_right=$2
	seen_seed=$3
	shift 3
	PTXLOOM_WEAK=$seen_seed ptxloom exec -d h100 "$top/tests/explore/proxies.ptx" --kernel "$seen_kernel" "$@" \
		--buffer 'm:u32[1024]' --buffer 'o:u32[4]' --arg "u32=$seen_right" --dump o 2>&1 | head -n 1
}

while read -r kernel weak options; do
	for right in 0 1; do
		for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
			# shellcheck disable=SC2086 # words
			seen "$kernel" $right $seed $options
		done >"$scratch/$kernel.$right"
	done
	[ "$(sort -u "$scratch/$kernel.1")" = 'o[0..3] = 1 0 0 0' ]
	ok $? "$kernel: right under each seed"
	case $weak in
	always) [ "$(sort -u "$scratch/$kernel.0")" = 'o[0..3] = 0 0 0 0' ] ;;
	never) [ "$(sort -u "$scratch/$kernel.0")" = 'o[0..3] = 1 0 0 0' ] ;;
	*) [ "$(sort -u "$scratch/$kernel.0" | tr '\n' ' ')" = 'o[0..3] = 0 0 0 0 o[0..3] = 1 0 0 0 ' ] ;;
	esac
	ok $? "$kernel: old values $weak"
	# Without weak memory none is seen, but where the program asks for a cache that is none of the others'.
	[ "$(seen "$kernel" 0 0 $options)" = 'o[0..3] = 1 0 0 0' ]
	ok $? "$kernel: not without"
done <<END
read_only always --grid 2
bulk sometimes
cluster sometimes --grid 2 --cluster 2
remote never --grid 2 --cluster 2
END
finish
