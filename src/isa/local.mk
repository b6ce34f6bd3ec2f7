libcore_la_SOURCES += \
	src/isa/isa.c src/isa/isa.h src/isa/shape.h \
	src/isa/isa_compile.c src/isa/isa_int.h \
	src/isa/isa_explain.c \
	src/isa/isa_match.c \
	src/isa/modifiers.def src/isa/opcodes.def src/isa/modkinds.def src/isa/sets.def src/isa/sregs.def src/isa/targets.def src/isa/types.def \
	src/isa/insn/all.def src/isa/insn/chapters.def \
	src/isa/insn/int.def \
	src/isa/insn/float.def \
	src/isa/insn/half.def \
	src/isa/insn/cmp.def \
	src/isa/insn/logic.def \
	src/isa/insn/move.def \
	src/isa/insn/cvt.def \
	src/isa/insn/ld_st.def \
	src/isa/insn/async.def \
	src/isa/insn/tex.def \
	src/isa/insn/control.def \
	src/isa/insn/barrier.def \
	src/isa/insn/atom.def \
	src/isa/insn/warp.def \
	src/isa/insn/mma.def \
	src/isa/insn/wgmma.def \
	src/isa/insn/tcgen05.def \
	src/isa/insn/video.def \
	src/isa/insn/misc.def

EXTRA_DIST += tests/forms/forms-min.tsv
