# Reads of what was never written, by kernels that have one or none: every one is found, at its line, none is invented.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
. tests/check/init.inc.sh

for kernel in $(kernels_of $registers); do
	look_at env PTXLOOM_CHECK=init ptxloom exec $registers --kernel "$kernel" --block 64 \
		--buffer out:u32[64]
	is_expected $registers "$kernel"
	verdict $? "registers: $kernel"
done

# The address is the one that the thread has read, also where a predicate comes between.
cat >"$scratch/lanes.ptx" <<'END'
.version 7.0
.target sm_70
.address_size 64
.shared .align 4 .b32 s[32];
.visible .entry lanes(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .pred %p;
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, s;
	add.u32 %r3, %r3, %r2;
	ld.shared.u32 %r4, [%r3];
	setp.gt.u32 %p, %r4, 3;
	@%p bra END;
	bar.sync 0;
END:
	ret;
}
END
status 86 ptxloom exec --check=init "$scratch/lanes.ptx" --block 32 --buffer out:u32[32]
says err '^=========     by thread \(0,0,0\) in block \(0,0,0\)$'
says err "^=========     Byte 0 of the block's shared memory was never written$"

# Rows 8 to 15 of each warp's part of A are not defined.
wgmma_rows()
{
	cat <<END
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %a<4>;
	.reg .f32 %d<4>;
	.reg .b64 %p<3>;
	.shared .align 128 .b8 b[1024];
	ld.param.u64 %p0, [out];
	mov.u64 %p1, 0x0000000800010000;
	mov.b32 %a0, 0x3c003c00;
	mov.b32 %a2, 0x3c003c00;
	mov.f32 %d0, 0f00000000;
	mov.f32 %d1, %d0;
	mov.f32 %d2, %d0;
	mov.f32 %d3, %d0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %p1, 1, 1, 1, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	st.global.f32 [%p0], $1;
	ret;
}
END
}
wgmma_rows %d1 >"$scratch/fine.ptx"
wgmma_rows %d2 >"$scratch/bad.ptx"
status 0 ptxloom exec --check=init -d h100 "$scratch/fine.ptx" --block 128 --buffer out:f32[1]
status 86 ptxloom exec --check=init -d h100 "$scratch/bad.ptx" --block 128 --buffer out:f32[1]

# Scales of rows and columns, in bytes that count and in others: lane 4 has those of row 1 and of column 1.
scaled()
{
	cat <<END
.version 8.7
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b32 %s<4>;
	.reg .f32 %f<5>;
	.reg .b64 %a<3>;
	.reg .pred %p;
	ld.param.u64 %a0, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %a1, %r0, 8;
	add.u64 %a0, %a0, %a1;
	mov.b32 %r1, 0x38383838;
	mov.b32 %s0, 0x7f7f7f7f;
	setp.$1.u32 %p, %r0, 4;
	@%p mov.b32 %s1, 0x7f7f7f7f;
	prmt.b32 %s2, %s0, %s1, 0x5400;
	mov.f32 %f0, 0f00000000;
	mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0
		{%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f0, %f0, %f0, %f0},
		$2, {$3, 0}, $4, {0, 0};
	st.global.v2.f32 [%a0], {%f$5, %f$6};
	ret;
}
END
}

# scales EXIT WHAT ARGUMENTS...: of scaled
scales()
{
	want=$1
	what=$2
	shift 2
	scaled "$@" >"$scratch/scales.ptx"
	ends "$want" "$what" ptxloom exec --check=init -d rtx5090 "$scratch/scales.ptx" --block 32 \
		--buffer out:f32[64]
}
scales 0 "all scales are there" ge %s0 0 %s0 1 2
scales 86 "a row without its scale" ne %s1 0 %s0 1 2
scales 0 "the other rows have theirs" ne %s1 0 %s0 3 4
scales 86 "a column without its scale" ne %s0 0 %s1 3 4
scales 86 "a byte without the scale" ne %s2 2 %s0 1 2
scales 0 "a byte that does not count" ne %s2 1 %s0 1 2

if has_clang; then
	succeeds "a program is built" build_program
	for kernel in $(kernels_of $source); do
		wrong=
		for mode in PTXLOOM_SEED=0 PTXLOOM_SEED=7 PTXLOOM_WORKERS=4 PTXLOOM_HOST_ISA=base \
			PTXLOOM_HOST_ACCESS=1; do
			look_at env "$mode" ptxloom run --check=init "$scratch/init" "$kernel"
			is_expected $source "$kernel" || wrong="$wrong $mode"
		done
		look_at ptxloom run --check=mem,init,race "$scratch/init" "$kernel"
		case $kernel in
		init_*) is_expected $source "$kernel" || wrong="$wrong with-other-checks" ;;
		esac
		empty "$wrong" "$kernel in every mode"
	done
	look_at ptxloom run --check=init "$scratch/init" init_sum
	says err '^========= Uninitialized __global__ memory read of size 4 bytes \[32 times\]$'
	says err '^=========     at init_sum in .*init\.cu:[0-9]+$'
	says err '^=========     by thread \(32,0,0\) in block \(0,0,0\)$'
	says err '^=========     Address 0x[0-9a-f]+ was never written and is 512 bytes inside a 1024-byte alloc'
	says err '^=========     Its value is stored to global memory$'
	says err '^========= ERROR SUMMARY: 1 error$'
	says out '^cudaSuccess$' "the program goes on"
else
	skip "programs" "$tap_no_clang"
fi
finish
