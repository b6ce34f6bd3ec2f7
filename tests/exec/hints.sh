# What kernels say about the second cache is followed by its model: policies that they make and that they are given,
# priorities, lines that are discarded.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# A small cache fills soon: 4 MiB, of which 768 KiB are set aside. Nothing lies in a second partition.
cat >"$scratch/small.profile" <<'END'
inherit = h200
name = H200 with a small cache
l2_bytes = 4194304
l2_partitions = 1
l2_resident_bytes = unknown
l2_persisting_max_bytes = 2621440
l2_persisting_default_bytes = 786432
END

# counter NAME ARGUMENTS..: what a launch counts.
counter()
{
	name=$1
	shift
	capture ptxloom exec tests/exec/hints.ptx -d "$scratch/small.profile" "$@" --caches
	awk -v name="$name" '$1 == name { print $2 }' "$scratch/out"
}

# again MODE [POLICY [PART]]: of 512 KiB that are read again after 8 MiB of others, the share that comes from DRAM, in
# percent.
again()
{
	n=$(counter dram__sectors_read.sum --kernel reuse --block 1024 --buffer p:u32[131072] --buffer q:u32[2097152] \
		--arg u32="$1" --arg u64="${2:-0}" --arg f32="${3:-1}")
	echo $(((n - 262144 - 16384) * 100 / 16384))
}

# between LEAST MOST VALUE NAME
between()
{
	ok "$([ "$3" -ge "$1" ] && [ "$3" -le "$2" ]; echo $?)" "$4: $3 %"
}

between 100 100 "$(again 0)" "without a policy nothing stays"
between 0 10 "$(again 1)" "evict_last stays"
between 35 65 "$(again 2 0 0.5)" "of half of the lines half stay"
between 70 80 "$(again 2 0 0.25)" "of a quarter a quarter stays"
between 45 55 "$(again 3)" "of a range the first part stays"
between 0 10 "$(again 4)" "what is evict_first goes before others"
between 100 100 "$(again 5)" "applypriority takes it back"
between 0 10 "$(again 0 $((0x14F0000000000000)))" "a policy that is given as a number does the same"
between 100 100 "$(again 0 $((0x16F0000000000000)))" "that of evict_normal keeps nothing"

written=$(counter dram__sectors_write.sum --kernel drop --block 1024 --buffer p:u32[131072] --buffer q:u32[2097152] \
	--arg u32=0)
discarded=$(counter dram__sectors_write.sum --kernel drop --block 1024 --buffer p:u32[131072] --buffer q:u32[2097152] \
	--arg u32=1)
echo "$written $discarded" >"$scratch/written"
echo "16384 0" >"$scratch/want"
same "$scratch/want" "$scratch/written" "lines that are discarded are not written"
# Counts of instructions do not depend on whether caches are played.
for how in "--count" "--count --caches"; do
	capture ptxloom exec tests/exec/hints.ptx -d h200 --kernel drop --block 32 --buffer p:u32[131072] \
		--buffer q:u32[2097152] --arg u32=1 $how
	grep inst_executed "$scratch/out" >"$scratch/counts$(echo "$how" | tr -d ' -')"
done
same "$scratch/countscount" "$scratch/countscountcaches" "instructions are counted as without"
finish
