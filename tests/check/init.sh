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
