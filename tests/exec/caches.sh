# ptxloom exec --caches: what each kind of access finds and leaves behind, as probes of an H100 saw it, and that the
# numbers do not depend on workers, seeds or the host's instructions.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

ld=l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup
st=l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup
local=l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup

# counts KERNEL BLOCK METRIC=VALUE...: of one CTA on an H100.
counts()
{
	kernel=$1
	status 0 ptxloom exec tests/exec/caches.ptx --kernel "$1" -d h100 --block "$2" --buffer p:u32[4096] --caches
	shift 2
	for want; do
		says out "^${want%=*}(.sum)? +${want#*=}  [a-z]" || echo "# $kernel"
	done
}

counts twice 32 ${ld}_hit=4 ${ld}_miss=4 l1tex__m_xbar2l1tex_read_sectors=4 dram__sectors_read=4
counts twice 8 ${ld}_hit=1 ${ld}_miss=1 lts__t_sectors_srcunit_tex_op_read_lookup_miss=2 dram__sectors_read=2
counts past 32 ${ld}_hit=0 ${ld}_miss=12 lts__t_sectors_srcunit_tex_op_read=12 dram__sectors_read=4
counts none 32 ${ld}_hit=0 ${ld}_miss=8
counts stored 32 ${st}_hit=4 ${st}_miss=4 ${ld}_hit=4 ${ld}_miss=0 dram__sectors_read=0
counts stored 4 ${ld}_hit=1 ${ld}_miss=0 l1tex__m_l1tex2xbar_write_sectors=2 dram__sectors_write=0
counts added 32 ${ld}_hit=0 ${ld}_miss=8 lts__t_sectors_srcunit_tex_op_red=4
counts fenced 32 ${ld}_hit=4 ${ld}_miss=8
counts later 64 ${ld}_hit=4 ${ld}_miss=4
counts constants 32 idc__requests_lookup_hit=62
counts spilled 32 ${local}_hit=4 ${local}_miss=4

# Pascal: GTX 1080 has plain loads in the second cache alone, whose misses fetch one sector.
status 0 ptxloom exec tests/exec/caches.ptx --kernel twice -d gtx1080 --block 8 --buffer p:u32[4096] --caches
says out "^${ld}_hit.sum +0 "
says out "^dram__sectors_read.sum +1 "

# The same, whatever runs.
grid="ptxloom exec samples/vector_add.ptx -d h200 --grid 3000 --block 128 --buffer a:f32[384000]=iota
	--buffer b:f32[384000]=iota --buffer c:f32[384000] --arg u32=384000 --caches"
status 0 $grid
cp "$scratch/out" "$scratch/first"
says first "^dram__sectors_read.sum +96000 "
for setting in PTXLOOM_WORKERS=1 PTXLOOM_WORKERS=2 PTXLOOM_WORKERS=4 PTXLOOM_SEED=5 PTXLOOM_HOST_ISA=base \
	"PTXLOOM_WORKERS=4 PTXLOOM_SEED=9"; do
	# shellcheck disable=SC2086
	env $setting $grid >"$scratch/out" 2>&1
	ok "$(cmp -s "$scratch/first" "$scratch/out"; echo $?)" "the same with $setting"
done
finish
