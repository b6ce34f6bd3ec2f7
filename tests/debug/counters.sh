# The debugger's counters: of steps, of all moves where that is wanted, of none that goes back; the caches of a launch.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# session COMMAND..: in the debugger, of a kernel whose warps load words that are three apart.
session()
{
	session_commands=
	set -- "$@" kill
	for session_command do
		session_commands="$session_commands$session_command
"
	done
	printf '%s' "$session_commands" >"$scratch/commands"
	timeout 60 ptxloom debug --batch -x "$scratch/commands" -- ptxloom exec tests/profile/counts.ptx -d h100 \
		--kernel strided --grid 2 --block 64 --buffer in:u32[4096]=iota --buffer out:u32[4096] --arg u32=3
}

succeeds "a step over a load" session 'break 18' run 'info counters' stepi 'info counters'
says out '^Nothing has been counted: steps are' "before it nothing was counted"
says out '^From time [0-9]+ on, warp 0 of CTA 0, and all warps:$' "it says what it is about"
says out '^ +1 +1 +smsp__inst_executed.sum ' "an instruction"
says out '^ +12 +12 +l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum ' "and the sectors of its lanes"
succeeds "several steps" session 'break strided' run 'stepi 8' 'info counters'
says out '^ +8 +8 +smsp__inst_executed.sum ' "count together"
says out '^ +1 +1 +l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum ' "with the load among them"
succeeds "all warps of the CTA" session 'tbreak strided' run 'stepi cta 8' 'info counters'
says out '^ +1 +2 +l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum ' "one of them is in focus"
says out '^ +12 +24 +l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum ' "and they have their own sectors"
succeeds "going back" session 'break 18' run stepi reverse-stepi 'info counters' stepi 'info counters'
says out '^The last move went back in time: nothing was counted' "counts nothing"
says out '^ +12 +12 +l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum ' "but forward again"
succeeds "continue" session 'break 18' run 'tbreak 25' continue 'info counters'
says out '^Nothing has been counted' "counts nothing either"
succeeds "unless it is to" session 'break 18' run 'set counters on' 'show counters' delete 'tbreak 25' continue \
	'info counters'
says out '^Counting is on: all moves are counted' "which is shown"
says out '^ +6 +6 +smsp__inst_executed.sum ' "then all is counted"
ends 1 "wrong words" session 'set counters all'
says any '"on" or "off" expected' "are told"
succeeds "the caches" session 'break 18' run 'info cache' 'info cache %rd4 + 100'
says out '^NVIDIA H100 80GB HBM3: an SM holds 32 CTAs of this launch; 32768 bytes of it are shared' "of the launch"
says out '^First cache: 1736 lines of 128 bytes' "the first one"
says out '^Second cache: 52428800 bytes in 2 parts; a read that misses fetches 64 bytes' "the second one"
says out '^0x.*64: byte 4 of sector 3 of the line 0x.*00; byte 100 of its allocation of 16384 bytes, in line 0' \
	"an address"
ends 1 "an address that is nowhere" session 'break 18' run 'info cache 12'
says any '0xc is not in global memory' "is told"
finish
