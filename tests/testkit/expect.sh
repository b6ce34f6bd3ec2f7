# Tests of one kernel on the command line: exec --expect, --tolerance, --expect-fault, --expect-metric, --seeds.
. "${srcdir:-.}/tests/tap.sh"
ln -s "$top/samples" "$scratch/samples"
cd "$scratch" || exit 1

run="ptxloom exec samples/saxpy.ptx --block 4 --arg u32=4 --arg f32=2 --buffer x:f32=1,2,3,4 --buffer y:f32[4]=ones"
short="ptxloom exec samples/saxpy.ptx --block 8 --arg u32=8 --arg f32=2 --buffer x:f32[4] --buffer y:f32[8]"

# expects STATUS WHAT PATTERN OPTION..: of the launch above; PATTERN, if any, is all that is said.
expects()
{
	want=$1
	what=$2
	pattern=$3
	shift 3
	ends "$want" "$what" $run "$@"
	[ -z "$pattern" ] || says err "$pattern"
}

expects 0 "right" '' --expect y:f32=3,5,7,9
expects 3 "wrong" '^y\[3\] = 9, expected 8$' --expect y:f32=3,5,7,8
[ "$(wc -l <err)" = 1 ]
ok $? "one line"
expects 0 "within a tolerance" '' --expect y:f32=3,5,7,8 --tolerance abs=1
expects 0 "of this buffer" '' --expect y=3,5,7,8 --tolerance y:rel=0.2 --tolerance abs=0
expects 3 "not within it" 'expected 8' --expect y=3,5,7,8 --tolerance rel=0.1,abs=0.5
expects 0 "neighbours" '' --expect y=0f40400001,5,7,9 --tolerance ulp=1
expects 3 "not neighbours" '^y\[0\] = 3, expected 3' --expect y=0f40400002,5,7,9 --tolerance ulp=1
expects 0 "an expression of the inputs" '' --expect 'y = 2*x+y' --expect x=i+1
expects 0 "functions" '' --expect 'y=max(3, min(9, 2*floor(x)+1)) + 0*pow(2, i) - abs(-i) + i % 5'
expects 3 "all are wrong" '^y: 4 of 4 elements differ$' --expect y=0 --expect y=0,0,0,0
ends 3 "more than are shown" ptxloom exec samples/saxpy.ptx --block 8 --arg u32=8 --arg f32=2 --buffer x:f32[8]=iota \
	--buffer y:f32[8]=ones --expect y=0
says err '^y\[7\] = 15, expected 0 is the worst$'
expects 0 "as bits" '' --expect y:b32=0x40400000,0x40a00000,0x40e00000,0x41100000
expects 0 "a fault that does not come" '' --expect-fault none
expects 3 "a fault that has to come" 'no fault, expected trap' --expect-fault trap
expects 0 "metrics" '' --expect-metric 'bank_conflicts==0' --expect-metric 'global_st_efficiency >= 0.4' \
	--expect-metric 'smsp__thread_inst_executed.sum > 10 +- 1%'
expects 3 "a metric that is not met" '^global_ld_efficiency is 0.5, expected >= 0.9$' \
	--expect-metric 'global_ld_efficiency >= 0.9'
expects 0 "a metric of the caches" '' --expect-metric 'dram__sectors_read.sum >= 1 +- 1%'
expects 0 "several devices and seeds" '' --seeds 0,2..4 -d t4,h100 --expect y:f32=3,5,7,9
expects 3 "each is named" '^ptxloom exec: h100, seed 4: exit status 3$' --seeds 4..5 -d t4,h100 --expect y=1
[ "$(grep -c 'ptxloom exec' err)" = 4 ]
ok $? "all of them"

ends 0 "the fault that is expected" $short --expect-fault out_of_bounds
[ ! -s err ]
verdict $? "nothing is said about it"
ends 0 "at its line" $short --expect-fault 'out_of_bounds at samples/saxpy.ptx:34'
ends 0 "with checks" $short --expect-fault 'out_of_bounds at saxpy.ptx:34' --check=mem
ends 3 "at another line" $short --expect-fault 'out_of_bounds at saxpy.ptx:35'
says err '^    at samples/saxpy.ptx:34'
ends 3 "another fault" $short --expect-fault misaligned
says err 'the fault is out_of_bounds, expected misaligned'
ends 1 "a fault that is not expected" $short --expect y=1

expects 2 "no such buffer" "no buffer or variable 'z'" --expect z=1
expects 2 "no such name" "there is no such name at character 3" --expect 'y=2*z'
expects 2 "half an expression" "a number or a name is wanted at character 3" --expect 'y=2*'
expects 2 "no function" 'there is no such function at character 1' --expect 'y=cosh(1)'
expects 2 "a comma is missing" 'a comma is missing' --expect 'y=max(1)'
expects 2 "too few values" '3 values for 4 elements' --expect y=1,2,3
expects 2 "no values" 'takes NAME=VALUES' --expect y
expects 2 "no type" "'f33' is not a type" --expect y:f33=1
expects 2 "no whole number" 'element 1 is no value of type u32' --expect 'y:u32=i/2'
expects 2 "no tolerance" 'is not a tolerance' --expect y=1 --tolerance rel=x
expects 2 "a negative one" 'is not a tolerance' --expect y=1 --tolerance abs=-1
expects 2 "of nothing" 'there is no --expect of x' --expect y=1 --tolerance x:abs=1
expects 2 "no rule" "no rule 'misalign'; did you mean misaligned" --expect-fault misalign
expects 2 "no place" "takes RULE or 'RULE at FILE:LINE'" --expect-fault 'trap in x'
expects 2 "no metric" 'did you mean bank_conflicts' --expect-metric 'bank_conflict == 0'
expects 2 "no claim" 'is not METRIC OP NUMBER' --expect-metric bank_conflicts
expects 2 "a number of the code" "give it a tolerance, 'instructions == 10" --expect-metric 'instructions==10'
expects 2 "registers" "registers are ptxas's" --expect-metric 'registers <= 32'
expects 2 "time" 'is a matter of time' --expect-metric 'sm__cycles_elapsed.sum < 5'
expects 2 "no seeds" 'seeds are numbers such as 1..20' --seeds 5..1
expects 2 "too many" 'at most 1000000' --seeds 0..99999999999
deep=$(printf '%0.s(' $(seq 100))
expects 2 "nested too deeply" 'nested too deeply' --expect "y=$deep"
finish
