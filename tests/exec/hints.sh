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

# ahead MODE: the same of 512 KiB that were prefetched.
ahead()
{
	n=$(counter dram__sectors_read.sum --kernel ahead --block 1024 --buffer p:u32[131072] --buffer q:u32[2097152] \
		--arg u32="$1")
	echo $(((n - 262144 - 16384) * 100 / 16384))
}
between 100 100 "$(ahead 0)" "what is prefetched goes as what is read"
between 0 10 "$(ahead 1)" "prefetched with evict_last it stays"
between 100 100 "$(ahead 2)" "bulk prefetches keep nothing"
between 0 10 "$(ahead 3)" "but with a policy"

# The values of policies, made by lanes apart: the same whatever runs or watches them.
lane=0
while [ $lane -lt 32 ]; do
	if [ $((lane % 2)) = 0 ]; then
		printf '%x\n' $((2 << 59 | 1 << 57 | (lane > 2 ? lane / 2 - 1 : 0) << 52))
	else
		printf '%x\n' $((3 << 59 | 2 << 57 | 1 << 56 | 1 << 52 | lane * 8 % 128 << 44 | 32 << 37))
	fi
	lane=$((lane + 1))
done >"$scratch/policies"
# values WHAT SETTING OPTION..: SETTING -: none.
values()
{
	what=$1
	[ "$2" = - ] || what_set=$2
	shift 2
	rm -f "$scratch/made"
	capture env ${what_set:+"$what_set"} ptxloom exec tests/exec/hints.ptx -d h200 --kernel values \
		--grid 3 --block 32 --buffer 'out:u64[32]' --dump "out=$scratch/made" "$@"
	what_set=
	if grep -q "this host has no level" "$scratch/err" 2>/dev/null; then
		skip "policies of lanes: $what" "the processor has no such level"
		return
	fi
	od -An -v -t x8 -w8 "$scratch/made" | sed 's/^ *0*//' >"$scratch/dumped"
	same "$scratch/policies" "$scratch/dumped" "policies of lanes: $what"
}
values plain -
for level in base v2 v3 v4; do
	values $level PTXLOOM_HOST_ISA=$level
done
if compiles_runs; then
	values "compiled runs" PTXLOOM_TIER=2
else
	skip "policies of lanes: compiled runs" "LLVM, or the level, is not here"
fi
values "five workers" PTXLOOM_WORKERS=5
values counted - --count
values "with caches" - --caches
values checked - --check=mem,race,init,sync
values deterministic PTXLOOM_DETERMINISTIC=1
values seeded PTXLOOM_SEED=3

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
