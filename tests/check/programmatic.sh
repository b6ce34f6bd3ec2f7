# Programmatic launches: a kernel races with the one before it where its threads have not waited for that, and only if
# that lets it begin earlier.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

PTXLOOM_CHECK=race PTXLOOM_DEVICE=h100
export PTXLOOM_CHECK PTXLOOM_DEVICE
if ! ${CC:-gcc} -w tests/check/programmatic.c -o "$scratch/program" -ldl >"$scratch/err" 2>&1; then
	skip_rest "no C compiler"
fi

# look FIRST SECOND HOW: runs the two kernels.
look()
{
	capture ptxloom run "$scratch/program" tests/check/programmatic.ptx "$1" "$2" "$3"
}

for kernels in "put get" "put get_by_block" "put_alone get_at_once" "put get_early" "put get_at_once" \
	"put get_by_warp" "put get_by_mbarrier"; do
	for how in stream capture edge wait event plain full; do
		# shellcheck disable=SC2086 # two words
		look $kernels $how
		case $kernels:$how in
		put\ get_early:stream | put\ get_early:capture | put\ get_early:edge | \
			put\ get_at_once:stream | put\ get_at_once:capture | put\ get_at_once:edge)
			says err "Race reported between Read access at ${kernels#* } in programmatic.cu:[0-9]+$" \
				"$kernels, $how"
			says err 'and Write access at put in programmatic.cu:[0-9]+$' "$kernels, $how: and"
			says err 'SUMMARY: 1 hazard displayed \(1 error, 0 warnings\)' "$kernels, $how: once"
			;;
		*) says err 'RACECHECK SUMMARY: 0 hazards' "$kernels, $how" ;;
		esac
	done
done

# A wait counts for its thread, and for those that barriers order behind it.
for kernel in get_by_one get_by_other_warp get_before_barrier; do
	look put $kernel stream
	line=$(grep -n "// $kernel" tests/check/programmatic.cu | cut -d: -f1)
	says err "Read access at $kernel in programmatic.cu:$line$"
	says err 'SUMMARY: 1 hazard displayed \(1 error, 0 warnings\)' "$kernel: once"
done

look put get_early stream
says err "get_early in programmatic.cu:$(grep -n '// get_early' tests/check/programmatic.cu | cut -d: -f1)$"
says err "put in programmatic.cu:$(grep -n '// put' tests/check/programmatic.cu | cut -d: -f1)$"
says err 'No order between the two: the later kernel is launched to begin before the earlier one has ended\.$'
says err 'griddepcontrol.wait \(cudaGridDependencySynchronize\) before the access orders them\.$'
finish
