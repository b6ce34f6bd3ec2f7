#!/bin/sh
# Adds invented instructions to a copy of the sources, each in at most three places, builds it and runs them: a lane
# operation (fmix), an action of atomics (atom.xnor), an action of warps (redux.sync.xnor). `make check-extend`.
. "${srcdir:-.}/tests/tap.sh"

copy=$scratch/copy
mkdir "$copy"
(cd "$top" && tar -cf - --exclude=./build --exclude=./.git .) | tar -xf - -C "$copy"
chmod -R u+w "$copy"

places=0
# place FILE SED: edits the copy; a place that the edit does not find is a failure.
place()
{
	places=$((places + 1))
	cp "$copy/$1" "$scratch/before"
	sed -i -e "$2" "$copy/$1"
	! cmp -s "$copy/$1" "$scratch/before"
	ok $? "an edit of $1"
}

# invented NAME: how many places the instruction took since the last one.
invented()
{
	ok "$([ "$places" -le 3 ]; echo $?)" "$1 takes $places places"
	places=0
}

place src/isa/opcodes.def '/^OPCODE(fns,/i OPCODE(fmix, "fmix")'
place src/isa/insn/int.def '/^INSN(bmsk,/i INSN(fmix, "fmix.b32 d=T, a:T, b:T", 10, SM(10), RUN(lanes))'
place src/uop/table/int.def '/^OP(add_b32,/i OP(fmix_b32, "fmix.b32", W_WW, (x ^ y) * 2654435761u)'
invented fmix

place src/isa/modifiers.def '/^MOD(exch,/a MOD(xnor, "xnor", OP, 10, 10)'
place src/isa/insn/atom.def '/^INSN(atom_logic,/,/RUN(atom)/s/(and|or|xor)/(and|or|xor|xnor)/'
place src/uop/table/atom.def '/^ATOM(MAX,/a ATOM(XNOR, M_xnor)\nAPPLY(XNOR, b32, ~(x ^ y))'
invented atom.xnor

places=1 # the modifier's row, which is there already
place src/isa/insn/warp.def '/^INSN(redux_logic,/s/(and|or|xor)/(and|or|xor|xnor)/'
place src/uop/table/warp.def '/^REDUCE(XOR,/a REDUCE(XNOR, FULL_MASK, ~(v ^ x))\nFORM(redux, M_xnor, T_b32, XNOR, 0)'
invented redux.sync.xnor

mkdir "$copy/build"
(cd "$copy/build" && ../configure -q CFLAGS=-O0 --disable-host-levels &&
	make -j"${PTXLOOM_JOBS:-2}" -s ptxloom) >"$scratch/log" 2>&1
status=$?
[ "$status" -eq 0 ] || tail -n 20 "$scratch/log" | sed 's/^/# /'
ok "$status" "the copy builds"

cat >"$scratch/invented.ptx" <<'END'
.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d0, [out];
	mov.u32 %r0, %tid.x;
	mad.lo.u32 %r1, %r0, 7, 3;
	fmix.b32 %r2, %r1, %r0;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d1, %d0, %d1;
	st.global.u32 [%d1+8], %r2;
	atom.global.xnor.b32 %r3, [%d0], %r1;
	redux.sync.xnor.b32 %r4, %r1, -1;
	st.global.u32 [%d0+4], %r4;
	ret;
}
END

# The same with the shell's arithmetic. The buffer begins with zeros.
expected=$(
	atom=0 redux=0 mixed=
	for lane in $(seq 0 31); do
		value=$((lane * 7 + 3))
		atom=$((~(atom ^ value) & 0xffffffff))
		[ "$lane" -eq 0 ] && redux=$value || redux=$((~(redux ^ value) & 0xffffffff))
		mixed="$mixed $((((value ^ lane) * 2654435761) & 0xffffffff))"
	done
	echo "$atom $redux$mixed"
)
got=$("$copy/build/ptxloom" exec "$scratch/invented.ptx" -d a100 --block 32 --buffer out:u32[34] --dump out 2>&1 |
	sed 's/^.*= //' | tr '\n' ' ')
[ "$(echo $got)" = "$(echo $expected)" ] || printf '# expected %s\n# got      %s\n' "$expected" "$got"
ok "$([ "$(echo $got)" = "$(echo $expected)" ]; echo $?)" "invented instructions run"
finish
