# Windows of the second cache: what is accepted, as an H200 answers, and what they keep.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
needs_clang
app=$scratch/window
succeeds "the program is built" ptxloom cc tests/profile/window.cu -o "$app" -lcuda

status 0 ptxloom run -d h200 "$app" rules
same - "$scratch/out" "windows and limits are accepted and refused as an H200 does" <<'END'
39321600 134217728 11796480
right: 0 0 0
miss: 1 1 1
miss 3: 0 0 0
hit 3: 0 0 0
over: 1 1 1
below: 1 1 1
nan: 0 0 0
most: 0 0 0
more: 1 1 1
limit 0: 0 0
limit 1: 0 3932160
limit 3932161: 0 7864320
limit 39321600: 0 39321600
limit 39321601: 1 39321600
END

# A small cache fills soon: 4 MiB, of which 768 KiB are set aside.
cat >"$scratch/small.profile" <<'END'
inherit = h200
name = H200 with a small cache
l2_bytes = 4194304
l2_resident_bytes = unknown
l2_persisting_max_bytes = 2621440
l2_persisting_default_bytes = 786432
END

# missed KERNEL SECTORS OPTIONS..: of each launch of the kernel, which reads so many sectors, the share that comes
# from DRAM, in percent.
missed()
{
	kernel=$1 sectors=$2
	shift 2
	capture ptxloom profile -d "$scratch/small.profile" --csv --page raw --log-file "$scratch/raw" \
		--metrics dram__sectors_read.sum "$@"
	awk -F'","' -v kernel="$kernel(" -v sectors="$sectors" '
		/^"ID"/ { for (i = 1; i <= NF; i++) if ($i ~ /^dram__sectors_read/) at = i; next }
		/^"[0-9]/ && index($0, "\"" kernel) {
			x = $at
			gsub(/[",]/, "", x)
			printf "%d\n", x * 100 / sectors + .5
		}' "$scratch/raw"
}

# Each step: the kept data is read, much other data, and the kept data.
missed look 16384 --cache-control none "$app" >"$scratch/missed"
paste -d: "$scratch/out" "$scratch/missed" >"$scratch/steps"
sed 's/^/# /' "$scratch/steps"
same - "$scratch/steps" "what windows keep, and what they do not" <<'END'
without a window:100
with one of the stream:0
half of it:44
of a launch:0
of a node:0
of a stream that was captured:0
reset:100
normal again:100
streaming hits leave it:0
END

# The best practices guide: 2 MiB that are used four times while 8 MiB are streamed, with 2.5 MiB set aside. In percent
# of the 10 MiB.
without=$(missed both 327680 "$app" guide)
with=$(missed both 327680 "$app" guide window)
ok "$([ "$with" -lt 110 ] && [ "$without" -gt 140 ] || skipping; echo $?)" \
	"from DRAM comes $with with a window, $without without"
finish
