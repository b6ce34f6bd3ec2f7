#!/usr/bin/env python3
"""Enumerates PTX instruction forms as text; make_illegal.py asks ptxas which of them are legal where.

Templates use <a~b~c> for alternatives (an empty alternative means optional). Forms that no target accepts
are wanted as well: they become the illegal part of the test data.
"""
import itertools, re, sys, os, subprocess, collections, json

FORMS = collections.OrderedDict()      # family -> list of statements (no trailing ;)

def expand(t):
    m = re.search(r'<([^<>]*)>', t)
    if not m:
        return [t]
    out = []
    for alt in m.group(1).split('~'):
        out += expand(t[:m.start()] + alt + t[m.end():])
    return out

def F(fam, *templates):
    L = FORMS.setdefault(fam, [])
    for t in templates:
        for line in (t if isinstance(t, (list, tuple)) else [t]):
            for e in expand(line.strip()):
                if e not in L:
                    L.append(e)

REG = {}
for ts, pre in (('b8 u8 s8 b16 u16 s16 f16 bf16', '%h'), ('b32 u32 s32 f16x2 bf16x2 u16x2 s16x2 tf32', '%r'),
                ('b64 u64 s64 f32x2', '%rd'), ('b128', '%rq'), ('f32', '%f'), ('f64', '%fd'), ('pred', '%p')):
    for t in ts.split():
        REG[t] = pre
def R(t, n):
    return REG[t] + str(n)
def V(t, n, base=0):
    return '{' + ','.join(R(t, base + i) for i in range(n)) + '}'

INT = 'u16 u32 u64 s16 s32 s64'.split()
B = 'b16 b32 b64'.split()
ALLT = B + INT + ['f32', 'f64']
MEMT = 'b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64'.split()

def bin_(fam, op, types, mods=''):
    for t in types:
        F(fam, f'{op}{mods}.{t} {R(t,1)},{R(t,2)},{R(t,3)}')
def un_(fam, op, types, mods=''):
    for t in types:
        F(fam, f'{op}{mods}.{t} {R(t,1)},{R(t,2)}')

# ------------------------------------------------------------- integer
for op in ('add', 'sub'):
    bin_(op + '.int', op, INT + ['u16x2', 's16x2'])
    F(op + '.int', f'{op}.sat.s32 %r1,%r2,%r3', f'{op}.s32 %r1,%r2,<-7~0x7fffffff~WARP_SZ>', f'{op}.s64 %rd1,%rd2,0xffffffffffffffff')
for t in INT:
    w = {'u16': 'u32', 's16': 's32', 'u32': 'u64', 's32': 's64'}.get(t)
    F('mul.int', f'mul.<hi~lo>.{t} {R(t,1)},{R(t,2)},{R(t,3)}')
    F('mad.int', f'mad.<hi~lo>.{t} {R(t,1)},{R(t,2)},{R(t,3)},{R(t,4)}')
    if w:
        F('mul.int', f'mul.wide.{t} {R(w,1)},{R(t,2)},{R(t,3)}')
        F('mad.int', f'mad.wide.{t} {R(w,1)},{R(t,2)},{R(t,3)},{R(w,4)}')
F('mad.int', 'mad.hi.sat.s32 %r1,%r2,%r3,%r4')
F('mul24', 'mul24.<hi~lo>.<u32~s32> %r1,%r2,%r3')
F('mad24', 'mad24.<hi~lo>.<u32~s32> %r1,%r2,%r3,%r4', 'mad24.hi.sat.s32 %r1,%r2,%r3,%r4')
for t in INT:
    F('sad', f'sad.{t} {R(t,1)},{R(t,2)},{R(t,3)},{R(t,4)}')
bin_('div.int', 'div', INT)
bin_('rem', 'rem', INT)
un_('abs.int', 'abs', ['s16', 's32', 's64'])
un_('neg.int', 'neg', ['s16', 's32', 's64'])
for op in ('min', 'max'):
    bin_(op + '.int', op, INT + ['u16x2', 's16x2'])
    F(op + '.int', f'{op}.relu.<s16x2~s32> %r1,%r2,%r3')
for t in ('b32', 'b64'):
    F('popc', f'popc.{t} %r1,{R(t,2)}')
    F('clz', f'clz.{t} %r1,{R(t,2)}')
    F('brev', f'brev.{t} {R(t,1)},{R(t,2)}')
    F('bfi', f'bfi.{t} {R(t,1)},{R(t,2)},{R(t,3)},<%r4,%r5~0,8~4,%r5>')
for t in ('u32', 'u64', 's32', 's64'):
    F('bfind', f'bfind<~.shiftamt>.{t} %r1,{R(t,2)}')
    F('bfe', f'bfe.{t} {R(t,1)},{R(t,2)},<%r3,%r4~0,8~%r3,16>')
F('fns', 'fns.b32 %r1,<%r2~0x5a5a00ff>,<%r3~3>,<%r4~-1~1>')
F('szext', 'szext.<clamp~wrap>.<u32~s32> %r1,%r2,<%r3~8>')
F('bmsk', 'bmsk.<clamp~wrap>.b32 %r1,<%r2~4>,<%r3~8>')
F('dp4a', 'dp4a.<u32~s32>.<u32~s32> %r1,%r2,%r3,%r4')
F('dp2a', 'dp2a.<lo~hi>.<u32~s32>.<u32~s32> %r1,%r2,%r3,%r4')
# ------------------------------------------------------------- extended precision
for t in ('u32', 's32', 'u64', 's64'):
    for op in ('add.cc', 'addc', 'addc.cc', 'sub.cc', 'subc', 'subc.cc'):
        F(op.split('.')[0] + ('.cc' if op in ('add.cc', 'sub.cc') else ''), f'{op}.{t} {R(t,1)},{R(t,2)},<{R(t,3)}~0>')
    F('mad.cc', f'mad.<lo~hi>.cc.{t} {R(t,1)},{R(t,2)},{R(t,3)},{R(t,4)}')
    F('madc', f'madc.<lo~hi><~.cc>.{t} {R(t,1)},{R(t,2)},{R(t,3)},{R(t,4)}')
# ------------------------------------------------------------- fp32/fp64
RND = '<~.rn~.rz~.rm~.rp>'
RNDM = '<.rn~.rz~.rm~.rp>'
F('testp', 'testp.<finite~infinite~number~notanumber~normal~subnormal>.f32 %p1,%f1', 'testp.<finite~infinite~number~notanumber~normal~subnormal>.f64 %p1,%fd1')
F('copysign', 'copysign.f32 %f1,%f2,%f3', 'copysign.f64 %fd1,%fd2,%fd3')
for op in ('add', 'sub', 'mul'):
    F(op + '.fp', f'{op}{RND}<~.ftz><~.sat>.f32 %f1,%f2,%f3', f'{op}{RND}.f64 %fd1,%fd2,%fd3', f'{op}{RND}<~.ftz>.f32x2 %rd1,%rd2,%rd3')
F('add.fp', 'add.f32 %f1,%f2,<0f3F800000~0F7f800000~1.5~-1e-3~1~.5~2.>', 'add.f64 %fd1,%fd2,<0d3FF0000000000000~0D7ff8000000000000~1.5~2E+3>')
F('fma.fp', f'fma{RNDM}<~.ftz><~.sat>.f32 %f1,%f2,%f3,%f4', f'fma{RNDM}.f64 %fd1,%fd2,%fd3,%fd4', f'fma{RNDM}<~.ftz>.f32x2 %rd1,%rd2,%rd3,%rd4')
F('mad.fp', f'mad{RNDM}<~.ftz><~.sat>.f32 %f1,%f2,%f3,%f4', f'mad{RNDM}.f64 %fd1,%fd2,%fd3,%fd4')
F('div.fp', f'div<.approx~.full~.rn~.rz~.rm~.rp><~.ftz>.f32 %f1,%f2,%f3', f'div{RNDM}.f64 %fd1,%fd2,%fd3')
F('abs.fp', 'abs<~.ftz>.f32 %f1,%f2', 'abs.f64 %fd1,%fd2')
F('neg.fp', 'neg<~.ftz>.f32 %f1,%f2', 'neg.f64 %fd1,%fd2')
for op in ('min', 'max'):
    F(op + '.fp', f'{op}<~.ftz><~.NaN><~.xorsign.abs>.f32 %f1,%f2,%f3', f'{op}.f64 %fd1,%fd2,%fd3', f'{op}<~.ftz><~.NaN><~.abs>.f32 %f1,%f2,%f3,%f4')
for op in ('rcp', 'sqrt'):
    F(op, f'{op}<.approx~.rn~.rz~.rm~.rp><~.ftz>.f32 %f1,%f2', f'{op}{RNDM}.f64 %fd1,%fd2')
F('rcp', 'rcp.approx.ftz.f64 %fd1,%fd2')
F('rsqrt', 'rsqrt.approx<~.ftz>.f32 %f1,%f2', 'rsqrt.approx<~.ftz>.f64 %fd1,%fd2')
for op in ('sin', 'cos', 'lg2', 'ex2'):
    F(op, f'{op}.approx<~.ftz>.f32 %f1,%f2')
F('tanh', 'tanh.approx.f32 %f1,%f2', 'tanh.approx.<f16~bf16> %h1,%h2', 'tanh.approx.<f16x2~bf16x2> %r1,%r2')
F('ex2.half', 'ex2.approx<~.ftz>.<f16~bf16> %h1,%h2', 'ex2.approx<~.ftz>.<f16x2~bf16x2> %r1,%r2')
# ------------------------------------------------------------- half
for op in ('add', 'sub', 'mul'):
    F(op + '.half', f'{op}<~.rn><~.ftz><~.sat>.f16 %h1,%h2,%h3', f'{op}<~.rn><~.ftz><~.sat>.f16x2 %r1,%r2,%r3', f'{op}<~.rn>.bf16 %h1,%h2,%h3', f'{op}<~.rn>.bf16x2 %r1,%r2,%r3')
F('fma.half', 'fma.rn<~.ftz><~.sat~.relu>.f16 %h1,%h2,%h3,%h4', 'fma.rn<~.ftz><~.sat~.relu>.f16x2 %r1,%r2,%r3,%r4',
  'fma.rn<~.relu>.bf16 %h1,%h2,%h3,%h4', 'fma.rn<~.relu>.bf16x2 %r1,%r2,%r3,%r4',
  'fma.rn.oob<~.relu>.<f16~bf16> %h1,%h2,%h3,%h4', 'fma.rn.oob<~.relu>.<f16x2~bf16x2> %r1,%r2,%r3,%r4')
for op in ('neg', 'abs'):
    F(op + '.half', f'{op}<~.ftz>.f16 %h1,%h2', f'{op}<~.ftz>.f16x2 %r1,%r2', f'{op}.bf16 %h1,%h2', f'{op}.bf16x2 %r1,%r2')
for op in ('min', 'max'):
    F(op + '.half', f'{op}<~.ftz><~.NaN><~.xorsign.abs>.f16 %h1,%h2,%h3', f'{op}<~.ftz><~.NaN><~.xorsign.abs>.f16x2 %r1,%r2,%r3',
      f'{op}<~.NaN><~.xorsign.abs>.bf16 %h1,%h2,%h3', f'{op}<~.NaN><~.xorsign.abs>.bf16x2 %r1,%r2,%r3')
# ------------------------------------------------------------- mixed precision
for op in ('add', 'sub'):
    F('mixed', f'{op}{RND}<~.sat>.f32.<f16~bf16> %f1,%h2,%f3')
F('mixed', f'fma{RNDM}<~.sat>.f32.<f16~bf16> %f1,%h2,%h3,%f4')
# ------------------------------------------------------------- compare/select
ICMP = '<eq~ne~lt~le~gt~ge>'
UCMP = '<eq~ne~lt~le~gt~ge~lo~ls~hi~hs>'
FCMP = '<eq~ne~lt~le~gt~ge~equ~neu~ltu~leu~gtu~geu~num~nan>'
for t in ALLT:
    c = '<eq~ne>' if t[0] == 'b' else UCMP if t[0] == 'u' else ICMP if t[0] == 's' else FCMP
    F('setp', f'setp.{c}.{t} %p1,{R(t,2)},{R(t,3)}')
    F('setp', f'setp.eq.{t} <%p1~%p1|%p2~_|%p2~%p1|_>,{R(t,2)},{R(t,3)}',
      f'setp.ne.<and~or~xor>.{t} <%p1~%p1|%p2>,{R(t,2)},{R(t,3)},<%p3~!%p3>')
    F('set', f'set.{"eq" if t[0]=="b" else "lt"}.<u32~s32>.{t} %r1,{R(t,2)},{R(t,3)}', f'set.ne.f32.{t} %f1,{R(t,2)},{R(t,3)}',
      f'set.eq.<and~or~xor>.u32.{t} %r1,{R(t,2)},{R(t,3)},<%p3~!%p3>')
    F('selp', f'selp.{t} {R(t,1)},{R(t,2)},{R(t,3)},%p1')
    F('slct', f'slct.{t}.s32 {R(t,1)},{R(t,2)},{R(t,3)},%r5', f'slct<~.ftz>.{t}.f32 {R(t,1)},{R(t,2)},{R(t,3)},%f5')
F('setp', f'setp.{FCMP}.ftz.f32 %p1,%f2,%f3', 'setp.lt.s32 %p1,%r2,<5~-1>', 'setp.gt.f32 %p1,%f2,0f00000000')
F('set', f'set.{FCMP}<~.ftz>.u32.f32 %r1,%f2,%f3', f'set.{FCMP}.f32.f64 %f1,%fd2,%fd3')
F('setp.half', f'setp.{FCMP}<~.ftz>.f16 %p1,%h2,%h3', f'setp.{FCMP}.bf16 %p1,%h2,%h3', 'setp.lt<~.ftz>.f16x2 %p1|%p2,%r2,%r3', 'setp.lt.bf16x2 %p1|%p2,%r2,%r3',
  'setp.ge.<and~or~xor><~.ftz>.f16 %p1,%h2,%h3,<%p3~!%p3>', 'setp.ge.<and~or~xor>.f16x2 %p1|%p2,%r2,%r3,%p3', 'setp.ge.<and~or~xor>.bf16x2 %p1|%p2,%r2,%r3,!%p3')
for t in 'b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64'.split():
    c = 'eq' if t[0] == 'b' else 'lt'
    F('set.half', f'set.{c}.<f16~bf16>.{t} %h1,{R(t,2)},{R(t,3)}', f'set.{c}.and.f16.{t} %h1,{R(t,2)},{R(t,3)},%p1')
F('set.half', f'set.{FCMP}<~.ftz>.<u16~s16>.f16 %h1,%h2,%h3', 'set.gt<~.ftz>.<u32~s32>.f16 %r1,%h2,%h3', 'set.gt.<u16~s16>.bf16 %h1,%h2,%h3', 'set.gt.<u32~s32>.bf16 %r1,%h2,%h3',
  'set.gt<~.ftz>.<f16x2~u32~s32>.f16x2 %r1,%r2,%r3', 'set.gt.<bf16x2~u32~s32>.bf16x2 %r1,%r2,%r3', 'set.neu.xor.f16x2.f16x2 %r1,%r2,%r3,!%p1', 'set.neu.or.bf16x2.bf16x2 %r1,%r2,%r3,!%p1')
# ------------------------------------------------------------- logic / shift
for op in ('and', 'or', 'xor'):
    for t in ('pred', 'b16', 'b32', 'b64'):
        F(op, f'{op}.{t} {R(t,1)},{R(t,2)},{R(t,3)}')
    F(op, f'{op}.b32 %r1,%r2,<0xFF~0377~0b1010~15U>', f'{op}.pred %p1,%p2,!%p3')
un_('not', 'not', ['pred', 'b16', 'b32', 'b64'])
un_('cnot', 'cnot', B)
F('lop3', 'lop3.b32 %r1,%r2,%r3,%r4,<0~0x80~0xFE~0x1A~255>', 'lop3.<or~and>.b32 <%r1|%p1~_|%p1>,%r2,%r3,%r4,0x3F,<%p2~!%p2>')
F('shf', 'shf.<l~r>.<clamp~wrap>.b32 %r1,%r2,%r3,<%r4~7>')
for t in B:
    F('shl', f'shl.{t} {R(t,1)},{R(t,2)},<%r4~3>')
for t in B + INT:
    F('shr', f'shr.{t} {R(t,1)},{R(t,2)},<%r4~3>')
# ------------------------------------------------------------- data movement
for t in ['pred'] + ALLT:
    F('mov', f'mov.{t} {R(t,1)},{R(t,2)}')
SREG32 = '%laneid %warpid %nwarpid %smid %nsmid %clock %clock_hi %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %globaltimer_lo %globaltimer_hi %total_smem_size %dynamic_smem_size %aggr_smem_size %cluster_ctarank %cluster_nctarank %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1'.split()
SREG32 += [f'%{n}.{c}' for n in ('tid', 'ntid', 'ctaid', 'nctaid', 'clusterid', 'nclusterid', 'cluster_ctaid', 'cluster_nctaid') for c in 'xyz']
SREG32 += [f'%pm{i}' for i in range(8)] + [f'%envreg{i}' for i in range(32)]
F('mov.sreg', *[f'mov.u32 %r1,{s}' for s in SREG32])
F('mov.sreg', *[f'mov.u64 %rd1,{s}' for s in ['%clock64', '%globaltimer', '%gridid', '%current_graph_exec'] + [f'%pm{i}_64' for i in range(8)]])
F('mov.sreg', 'mov.pred %p1,%is_explicit_cluster', 'mov.u32 %r1,WARP_SZ', 'mov.u32 %r1,%gridid', 'mov.v4.u32 {%r1,%r2,%r3,%r4},%tid', 'mov.u16 %h1,%tid.x', 'add.u32 %r1,%tid.x,%ntid.x', 'mov.b32 %r1,%laneid', 'cvt.u32.u16 %r1,%tid.x', 'cvt.u64.u32 %rd1,%ctaid.y')
F('mov', 'mov.u64 %rd1,<gbuf~gbuf+16~sbuf~cbuf~lbuf~dfunc~kmain>', 'mov.u32 %r1,<sbuf~sbuf+4>', 'mov.b32 %r1,<42~-1~0f3F800000~0x80000000>', 'mov.f32 %f1,<0f7FC00000~1.0~-0.0>', 'mov.f64 %fd1,0d4000000000000000', 'mov.pred %p1,<1~0>', 'mov.b16 %h1,0x3C00')
F('mov.pack', 'mov.b32 %r1,{%h1,%h2}', 'mov.b32 {%h1,%h2},%r1', 'mov.b32 {%h1,_},%r1', 'mov.b64 %rd1,{%r1,%r2}', 'mov.b64 {%r1,%r2},%rd1', 'mov.b64 {_,%r2},%rd1', 'mov.b64 %rd1,{%h1,%h2,%h3,%h4}', 'mov.b64 {%h1,%h2,%h3,%h4},%rd1',
  'mov.b64 %rd1,{%f1,%f2}', 'mov.b64 {%f1,%f2},%fd1', 'mov.b128 %rq1,{%rd1,%rd2}', 'mov.b128 {%rd1,%rd2},%rq1', 'mov.b16 %h1,{%b1,%b2}', 'mov.b16 {%b1,%b2},%h1', 'mov.b32 %r1,{%b1,%b2,%b3,%b4}', 'mov.b32 {%b1,%b2,%b3,%b4},%r1', 'mov.b128 %rq1,{%r1,%r2,%r3,%r4}', 'mov.b128 {%r1,%r2,%r3,%r4},%rq1', 'mov.b128 %rq1,%rq2')
F('shfl.sync', 'shfl.sync.<up~down~bfly~idx>.b32 <%r1~%r1|%p1>,%r2,<%r3~1>,<%r4~31~0x1c1f>,<%r5~0xffffffff~-1>')
F('prmt', 'prmt.b32<~.f4e~.b4e~.rc8~.ecl~.ecr~.rc16> %r1,%r2,%r3,<%r4~0x3210>')
# ld
for t in MEMT:
    d = R(t, 1)
    F('ld', f'ld<~.global~.local~.shared~.const~.param>.{t} {d},[<%rd1>]'.replace('<%rd1>', '%rd1'))
F('ld', 'ld.param.u64 %rd1,[prm0]', 'ld.param::entry.u64 %rd1,[prm0]', 'ld.param.b32 %r1,[prm1+4]', 'ld.param.v2.b32 {%r1,%r2},[prm1]',
  'ld.global.u32 %r1,[<gbuf~gbuf+8~%rd1+-4~%rd1+0x10~%rd1>]', 'ld.shared.u32 %r1,[<sbuf~sbuf+8~%r2~%r2+4>]', 'ld.local.u32 %r1,[<lbuf~lbuf+4>]', 'ld.const.u32 %r1,[<cbuf~cbuf+4>]',
  'ld<~.weak><~.global~.shared>.b32 %r1,[%rd1]', 'ld.shared::<cta~cluster>.b32 %r1,[%rd1]',
  'ld<~.global~.local><.ca~.cg~.cs~.lu~.cv>.b32 %r1,[%rd1]', 'ld.global.<ca~cg~cs~cv>.<v2~v4>.f32 <X>,[%rd1]'.replace('<v2~v4>.f32 <X>', 'v4.f32 {%f1,%f2,%f3,%f4}'),
  'ld.volatile<~.global~.shared>.<b32> %r1,[%rd1]'.replace('<b32>', 'b32'), 'ld.volatile.global.v2.u32 {%r1,%r2},[%rd1]', 'ld.volatile.local.b32 %r1,[%rd1]',
  'ld.<relaxed~acquire>.<cta~cluster~gpu~sys><~.global~.shared>.b32 %r1,[%rd1]', 'ld.<relaxed~acquire>.gpu.global.<b8~b16> %h1,[%rd1]', 'ld.<relaxed~acquire>.sys.global.b64 %rd2,[%rd1]',
  'ld.relaxed.gpu.global.L1::no_allocate.b32 %r1,[%rd1]', 'ld.acquire.gpu.global.L2::cache_hint.b32 %r1,[%rd1],%rd5', 'ld.relaxed.cluster.shared::cluster.b32 %r1,[%rd1]', 'ld.relaxed.gpu.global.v4.f32 {%f1,%f2,%f3,%f4},[%rd1]',
  'ld.mmio.relaxed.sys<~.global>.b32 %r1,[%rd1]', 'ld<~.global>.<L1::evict_normal~L1::evict_unchanged~L1::evict_first~L1::evict_last~L1::no_allocate>.b32 %r1,[%rd1]',
  'ld.global.<L2::64B~L2::128B~L2::256B>.b32 %r1,[%rd1]', 'ld.global.L2::cache_hint.b32 %r1,[%rd1],%rd5', 'ld.global.L1::no_allocate.L2::cache_hint.L2::256B.v4.b32 {%r1,%r2,%r3,%r4},[%rd1],%rd5', 'ld.global.ca.L2::cache_hint.L2::128B.b64 %rd2,[%rd1],%rd5',
  'ld.global.b128 %rq1,[%rd1]', 'ld.shared.b128 %rq1,[%rd1]', 'ld.relaxed.gpu.global.b128 %rq1,[%rd1]', 'ld.acquire.sys.global.b128 %rq1,[%rd1]',
  'ld.global.v8.<b32~u32~s32> {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd1]', 'ld.global.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd1]', 'ld.global.v4.<b64~u64~s64> {%rd2,%rd3,%rd4,%rd5},[%rd1]', 'ld.global.v4.f64 {%fd2,%fd3,%fd4,%fd5},[%rd1]',
  'ld.global<~.L1::no_allocate>.L2::<evict_last~evict_first~evict_normal>.v8.b32 {%r0,_,%r2,%r3,_,%r5,%r6,%r7},[%rd1]', 'ld.global.v4.b64 {%rd2,_,%rd4,%rd5},[%rd1]',
  'ld.global.u8 %r1,[%rd1]', 'ld.global.s8 %rd2,[%rd1]', 'ld.global.s16 %r1,[%rd1]', 'ld.global.s32 %rd2,[%rd1]', 'ld.global.b32 %r1,[0x1000]', 'ld.global.b8 %b1,[%rd1]')
for t in MEMT:
    F('ld.vec', f'ld<~.global~.shared~.local~.const>.v2.{t} {V(t,2,2)},[%rd1]')
    if t[1:] != '64':
        F('ld.vec', f'ld<~.global~.shared~.local~.const>.v4.{t} {V(t,4,2)},[%rd1]')
    F('ld.global.nc', f'ld.global.nc.{t} {R(t,2)},[%rd1]', f'ld.global.nc.v2.{t} {V(t,2,2)},[%rd1]')
    F('ldu', f'ldu<~.global>.{t} {R(t,2)},[%rd1]')
    if t[1:] != '64':
        F('ld.global.nc', f'ld.global.nc.v4.{t} {V(t,4,2)},[%rd1]')
F('ldu', 'ldu.global.v2.f64 {%fd1,%fd2},[%rd1]', 'ldu.global.v4.u32 {%r1,%r2,%r3,%r4},[%rd1]', 'ldu.global.b128 %rq1,[%rd1]')
F('ld.global.nc', 'ld.global.<ca~cg~cs>.nc.b32 %r1,[%rd1]', 'ld.global.nc.<L1::evict_normal~L1::evict_unchanged~L1::evict_first~L1::evict_last~L1::no_allocate>.b32 %r1,[%rd1]', 'ld.global.nc.<L2::64B~L2::128B~L2::256B>.b32 %r1,[%rd1]', 'ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.f32 {%f1,%f2,%f3,%f4},[%rd1],%rd5', 'ld.global.nc.b128 %rq1,[%rd1]',
  'ld.global.nc.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd1]', 'ld.global.nc.L2::evict_first.v8.f32 {%f0,%f1,_,%f3,%f4,%f5,%f6,%f7},[%rd1]', 'ld.global.nc.v4.b64 {%rd2,%rd3,%rd4,%rd5},[%rd1]')
# st
for t in MEMT:
    F('st', f'st<~.global~.local~.shared>.{t} [%rd1],{R(t,2)}')
    F('st.vec', f'st<~.global~.shared~.local>.v2.{t} [%rd1],{V(t,2,2)}')
    if t[1:] != '64':
        F('st.vec', f'st<~.global~.shared~.local>.v4.{t} [%rd1],{V(t,4,2)}')
F('st', 'st.weak.global.b32 [%rd1],%r1', 'st.shared::<cta~cluster>.b32 [%rd1],%r1', 'st<~.global~.local><.wb~.cg~.cs~.wt>.b32 [%rd1],%r1', 'st.volatile<~.global~.shared>.b32 [%rd1],%r1', 'st.volatile.local.b32 [%rd1],%r1', 'st.volatile.global.v4.f32 [%rd1],{%f1,%f2,%f3,%f4}',
  'st.<relaxed~release>.<cta~cluster~gpu~sys><~.global~.shared>.b32 [%rd1],%r1', 'st.release.gpu.global.<b8~b16> [%rd1],%h1', 'st.mmio.relaxed.sys<~.global>.b32 [%rd1],%r1', 'st.global.<L1::evict_normal~L1::evict_unchanged~L1::evict_first~L1::evict_last~L1::no_allocate>.b32 [%rd1],%r1', 'st.global.L2::cache_hint.b32 [%rd1],%r1,%rd5', 'st.global.L1::no_allocate.L2::cache_hint.v2.f64 [%rd1],{%fd1,%fd2},%rd5',
  'st.global.b128 [%rd1],%rq1', 'st.relaxed.gpu.global.b128 [%rd1],%rq1', 'st.release.sys.global.b128 [%rd1],%rq1', 'st.global.v8.b32 [%rd1],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}', 'st.global.v8.f32 [%rd1],{%f0,_,%f2,%f3,%f4,%f5,%f6,%f7}', 'st.global.v4.<b64~u64~s64> [%rd1],{%rd2,%rd3,%rd4,%rd5}', 'st.global.L2::evict_last.v4.f64 [%rd1],{%fd1,%fd2,_,%fd4}',
  'st.global.b32 [<gbuf~gbuf+4~%rd1+8>],<%r1~5>', 'st.shared.b32 [<sbuf~sbuf+4~%r2>],%r1', 'st.local.b32 [<lbuf~lbuf+4>],%r1', 'st.global.u8 [%rd1],%r1', 'st.global.b8 [%rd1],%b1', 'st.global.f32 [%rd1],<1.0~0f3F800000>')
F('st.async', 'st.async<~.weak><~.shared::cluster>.mbarrier::complete_tx::bytes.<b32~u32~s32> [%rd1],%r1,[%rd2]', 'st.async.shared::cluster.mbarrier::complete_tx::bytes.<b64~u64~s64> [%rd1],%rd3,[%rd2]', 'st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%rd1],%f1,[%rd2]', 'st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%rd1],{%r1,%r2},[%rd2]', 'st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%rd1],{%f1,%f2,%f3,%f4},[%rd2]', 'st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%rd1],{%rd3,%rd4},[%rd2]',
  'st.async<~.mmio>.release.<gpu~sys><~.global>.<b32~u32> [%rd1],%r1', 'st.async.release.gpu.global.b64 [%rd1],%rd3', 'st.async.release.sys.global.<b8~b16> [%rd1],%h1')
F('st.bulk', 'st.bulk<~.weak><~.shared::cta> [%rd1],<%rd2~%r2>,0')
# multimem
for sem in ('.weak', '.relaxed.<cta~cluster~gpu~sys>', '.acquire.<cta~cluster~gpu~sys>'):
    F('multimem', f'multimem.ld_reduce{sem}<~.global>.add.u32 %r1,[%rd1]')
F('multimem', 'multimem.ld_reduce.global.<min~max~add>.<u32~s32> %r1,[%rd1]', 'multimem.ld_reduce.global.<min~max>.<u64~s64> %rd2,[%rd1]', 'multimem.ld_reduce.global.add.u64 %rd2,[%rd1]', 'multimem.ld_reduce.global.<and~or~xor>.b32 %r1,[%rd1]', 'multimem.ld_reduce.global.<and~or~xor>.b64 %rd2,[%rd1]',
  'multimem.ld_reduce.relaxed.gpu.global.<add~min~max>.<f16x2~bf16x2> %r1,[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add<~.acc::f32>.v4.<f16x2~bf16x2> {%r1,%r2,%r3,%r4},[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add.v2.<f16x2~bf16x2> {%r1,%r2},[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.<add~min~max>.v8.<f16~bf16> {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7},[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add.v4.<f16~bf16> {%h0,%h1,%h2,%h3},[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add.f32 %f1,[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f1,%f2,%f3,%f4},[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add.f64 %fd1,[%rd1]',
  'multimem.ld_reduce.relaxed.gpu.global.<add~min~max><~.acc::f16>.<e4m3x4~e5m2x4> %r1,[%rd1]', 'multimem.ld_reduce.relaxed.gpu.global.add.v4.<e4m3x4~e5m2x4> {%r1,%r2,%r3,%r4},[%rd1]',
  'multimem.st<.weak~.relaxed.gpu~.release.sys~.release.cta><~.global>.<u32~s32~b32> [%rd1],%r1', 'multimem.st.global.<u64~b64> [%rd1],%rd2', 'multimem.st.relaxed.sys.global.v4.f32 [%rd1],{%f1,%f2,%f3,%f4}', 'multimem.st.relaxed.sys.global.v4.<f16x2~bf16x2> [%rd1],{%r1,%r2,%r3,%r4}', 'multimem.st.global.f64 [%rd1],%fd1',
  'multimem.red<.relaxed.gpu~.release.sys~.relaxed.cluster><~.global>.add.<u32~s32> [%rd1],%r1', 'multimem.red.global.<min~max>.<u32~s32> [%rd1],%r1', 'multimem.red.relaxed.gpu.global.<and~or~xor>.b32 [%rd1],%r1', 'multimem.red.relaxed.gpu.global.add.u64 [%rd1],%rd2', 'multimem.red.relaxed.gpu.global.add.v4.f32 [%rd1],{%f1,%f2,%f3,%f4}', 'multimem.red.relaxed.gpu.global.add.v4.<f16x2~bf16x2> [%rd1],{%r1,%r2,%r3,%r4}', 'multimem.red.relaxed.gpu.global.add.f64 [%rd1],%fd1')
F('prefetch', 'prefetch<~.global~.local>.<L1~L2> [%rd1]', 'prefetch.global.L2::<evict_last~evict_normal> [%rd1]', 'prefetchu.L1 [%rd1]', 'prefetch<~.const~.param>.tensormap [%rd1]', 'prefetch.global.L1 [gbuf+128]')
F('applypriority', 'applypriority<~.global>.L2::evict_normal [%rd1],128')
F('discard', 'discard<~.global>.L2 [%rd1],128')
F('createpolicy', 'createpolicy.range<~.global>.L2::<evict_last~evict_normal~evict_first~evict_unchanged><~.L2::evict_first~.L2::evict_unchanged>.b64 %rd1,[%rd2],<%r1~0x1000>,<%r2~0x2000>', 'createpolicy.fractional.L2::<evict_last~evict_normal~evict_first~evict_unchanged><~.L2::evict_first~.L2::evict_unchanged>.b64 %rd1<~,0.5~,%f1>', 'createpolicy.cvt.L2.b64 %rd1,%rd2')
F('isspacep', 'isspacep.<const~global~local~shared~shared::cta~shared::cluster~param~param::entry> %p1,%rd1')
F('cvta', 'cvta.<const~global~local~shared~shared::cta~shared::cluster~param~param::entry>.u64 %rd1,%rd2', 'cvta.to.<const~global~local~shared~shared::cta~shared::cluster~param~param::entry>.u64 %rd1,%rd2', 'cvta.global.u64 %rd1,<gbuf~gbuf+4>', 'cvta.shared.u64 %rd1,sbuf', 'cvta.local.u64 %rd1,lbuf', 'cvta.const.u64 %rd1,cbuf+8', 'cvta.param.u64 %rd1,prm0')
F('mapa', 'mapa.shared::cluster.u32 %r1,<%r2~sbuf~sbuf+4>,<%r3~1>', 'mapa<~.shared::cluster>.u64 %rd1,%rd2,%r3')
F('getctarank', 'getctarank.shared::cluster.u32 %r1,<%r2~sbuf>', 'getctarank<~.shared::cluster>.u64 %r1,%rd2')
# ------------------------------------------------------------- cvt
IT = 'u8 u16 u32 u64 s8 s16 s32 s64'.split()
FT = 'f16 bf16 f32 f64'.split()
for d in IT:
    for a in IT:
        F('cvt.int', f'cvt<~.sat>.{d}.{a} {R(d,1)},{R(a,2)}')
    for a in FT:
        F('cvt.f2i', f'cvt.<rni~rzi~rmi~rpi><~.ftz><~.sat>.{d}.{a} {R(d,1)},{R(a,2)}')
        F('cvt.i2f', f'cvt.<rn~rz~rm~rp><~.sat>.{a}.{d} {R(a,1)},{R(d,2)}')
        if d in ('u8', 's8') and a == 'bf16':
            F('cvt.f2i', f'cvt.<rni~rzi~rmi~rpi>.{d}.bf16 %b1,%h2')
            F('cvt.i2f', f'cvt.<rn~rz~rm~rp>.bf16.{d} %h1,%b2')
for d in FT:
    for a in FT:
        F('cvt.f2f', f'cvt<~.rn~.rz~.rm~.rp><~.ftz><~.sat>.{d}.{a} {R(d,1)},{R(a,2)}', f'cvt.<rni~rzi~rmi~rpi><~.ftz><~.sat>.{d}.{a} {R(d,1)},{R(a,2)}')
F('cvt.half2', 'cvt.<rn~rz><~.relu><~.satfinite>.<f16~bf16>.f32 %h1,%f1', 'cvt.<rn~rz><~.relu><~.satfinite>.<f16x2~bf16x2>.f32 %r1,%f1,%f2', 'cvt.rs<~.relu><~.satfinite>.<f16x2~bf16x2>.f32 %r1,%f1,%f2,%r2')
F('cvt.tf32', 'cvt.rna<~.satfinite>.tf32.f32 %r1,%f1', 'cvt.<rn~rz><~.satfinite><~.relu>.tf32.f32 %r1,%f1')
F('cvt.fp8', 'cvt.rn.satfinite<~.relu>.<e4m3x2~e5m2x2>.f32 %h1,%f1,%f2', 'cvt.rn.satfinite<~.relu>.<e4m3x2~e5m2x2>.<f16x2~bf16x2> %h1,%r1', 'cvt.rn<~.relu>.f16x2.<e4m3x2~e5m2x2> %r1,%h1', 'cvt.rs<~.relu>.satfinite.<e4m3x4~e5m2x4>.f32 %r1,{%f1,%f2,%f3,%f4},%r2')
F('cvt.fp6', 'cvt.rn.satfinite<~.relu>.<e2m3x2~e3m2x2>.f32 %h1,%f1,%f2', 'cvt.rn<~.relu>.f16x2.<e2m3x2~e3m2x2> %r1,%h1', 'cvt.rs<~.relu>.satfinite.<e2m3x4~e3m2x4>.f32 %r1,{%f1,%f2,%f3,%f4},%r2')
F('cvt.fp4', 'cvt.rn.satfinite<~.relu>.e2m1x2.f32 %b1,%f1,%f2', 'cvt.rn<~.relu>.f16x2.e2m1x2 %r1,%b1', 'cvt.rs<~.relu>.satfinite.e2m1x4.f32 %h1,{%f1,%f2,%f3,%f4},%r2')
F('cvt.ue8m0', 'cvt.<rz~rp><~.satfinite>.ue8m0x2.f32 %h1,%f1,%f2', 'cvt.<rz~rp><~.satfinite>.ue8m0x2.bf16x2 %h1,%r1', 'cvt.rn.bf16x2.ue8m0x2 %r1,%h1')
F('cvt.pack', 'cvt.pack.sat.<u16~s16>.s32 %r1,%r2,%r3', 'cvt.pack.sat.<u8~s8~u4~s4~u2~s2>.s32.b32 %r1,%r2,%r3,<%r4~0>')
# ------------------------------------------------------------- texture / surface
D4 = {'u32': '{%r1,%r2,%r3,%r4}', 's32': '{%r1,%r2,%r3,%r4}', 'f32': '{%f1,%f2,%f3,%f4}', 'f16': '{%h1,%h2,%h3,%h4}'}
def coord(g, ct):
    i, f = ('%r', '%f')
    c = f if ct == 'f32' else i
    return {'1d': f'{{{c}5}}', '2d': f'{{{c}5,{c}6}}', '3d': f'{{{c}5,{c}6,{c}7,{c}8}}', 'a1d': f'{{%r9,{c}5}}', 'a2d': f'{{%r9,{c}5,{c}6,{c}6}}', 'cube': f'{{{c}5,{c}6,{c}7,{c}8}}', 'acube': f'{{%r9,{c}5,{c}6,{c}7}}',
            '2dms': '{%r9,%r5,%r6,%r7}', 'a2dms': '{%r9,%r8,%r5,%r6}'}[g]
OFF = {'1d': '{%r20}', '2d': '{%r20,%r21}', '3d': '{%r20,%r21,%r22,%r23}', 'a1d': '{%r20}', 'a2d': '{%r20,%r21}'}
GRAD = {'1d': '{%f20},{%f21}', '2d': '{%f20,%f21},{%f22,%f23}', '3d': '{%f20,%f21,%f22,%f22},{%f23,%f24,%f25,%f25}', 'a1d': '{%f20},{%f21}', 'a2d': '{%f20,%f21},{%f22,%f23}', 'cube': '{%f20,%f21,%f22,%f22},{%f23,%f24,%f25,%f25}', 'acube': '{%f20,%f21,%f22,%f22},{%f23,%f24,%f25,%f25}'}
for g in ('1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'):
    for dt in ('u32', 's32', 'f32', 'f16'):
        for ct in ('s32', 'f32'):
            F('tex', f'tex.{g}.v4.{dt}.{ct} {D4[dt]},[<tref~%rd1>,{coord(g,ct)}]')
    F('tex', f'tex.{g}.v2.f16x2.s32 {{%r1,%r2}},[tref,{coord(g,"s32")}]', f'tex.{g}.v2.f16x2.f32 {{%r1,%r2}},[tref,{coord(g,"f32")}]')
    ct = 's32' if 'ms' in g else 'f32'
    F('tex', f'tex.{g}.v4.f32.{ct} {D4["f32"]}|%p1,[tref,{coord(g,ct)}]')
    if g in OFF:
        F('tex', f'tex.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],{OFF[g]}')
    if 'ms' not in g:
        F('tex.mip', f'tex.base.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}]', f'tex.level.{g}.v4.<f32> {D4["f32"]},[tref,{coord(g,"f32")}],%f20'.replace('<f32>', 'f32.f32'), f'tex.level.{g}.v4.s32.s32 {D4["s32"]},[tref,{coord(g,"s32")}],%r20', f'tex.grad.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],{GRAD[g]}')
        if g != '3d':
            F('tex.mip', f'tex.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],%f30', f'tex.level.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],%f20,%f30')
        if g in OFF and g != '3d':
            F('tex.mip', f'tex.level.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],%f20,{OFF[g]},%f30')
    if g in ('2d', 'a2d', 'cube', 'acube'):
        for dt in ('u32', 's32', 'f32'):
            F('tld4', f'tld4.<r~g~b~a>.{g}.v4.{dt}.f32 {D4[dt]},[tref,{coord(g,"f32")}]')
        F('tld4', f'tld4.r.{g}.v4.f32.f32 {D4["f32"]}|%p1,[%rd1,{coord(g,"f32")}]', f'tld4.r.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],%f30')
        if g in OFF:
            F('tld4', f'tld4.r.{g}.v4.f32.f32 {D4["f32"]},[tref,{coord(g,"f32")}],{OFF[g]}')
F('txq', 'txq.<width~height~depth~channel_data_type~channel_order~normalized_coords~array_size~num_mipmap_levels~num_samples~filter_mode~addr_mode_0~addr_mode_1~addr_mode_2>.b32 %r1,[<tref~%rd1>]', 'txq.level.<width~height~depth>.b32 %r1,[tref],%r2')
F('istypep', 'istypep.<texref~samplerref~surfref> %p1,%rd1')
SC = {'1d': '{%r5}', '2d': '{%r5,%r6}', '3d': '{%r5,%r6,%r7,%r8}', 'a1d': '{%r9,%r5}', 'a2d': '{%r9,%r5,%r6,%r7}'}
for g in SC:
    for t in ('b8', 'b16', 'b32', 'b64'):
        F('suld', f'suld.b.{g}.{t}.<trap~clamp~zero> {R(t,1)},[<sref~%rd1>,{SC[g]}]', f'suld.b.{g}.v2.{t}.trap {V(t,2,1)},[sref,{SC[g]}]')
        F('sust', f'sust.b.{g}.{t}.<trap~clamp~zero> [<sref~%rd1>,{SC[g]}],{R(t,1)}', f'sust.b.{g}.v2.{t}.trap [sref,{SC[g]}],{V(t,2,1)}')
        if t != 'b64':
            F('suld', f'suld.b.{g}.v4.{t}.zero {V(t,4,1)},[sref,{SC[g]}]')
            F('sust', f'sust.b.{g}.v4.{t}.zero [sref,{SC[g]}],{V(t,4,1)}')
    F('suld', f'suld.b.{g}.<ca~cg~cs~cv>.b32.trap %r1,[sref,{SC[g]}]')
    F('sust', f'sust.b.{g}.<wb~cg~cs~wt>.b32.trap [sref,{SC[g]}],%r1')
    if g in ('1d', '2d', '3d'):
        F('sust', f'sust.p.{g}.b32.<trap~clamp~zero> [sref,{SC[g]}],%r1', f'sust.p.{g}.v2.b32.trap [sref,{SC[g]}],{{%r1,%r2}}', f'sust.p.{g}.v4.b32.trap [sref,{SC[g]}],{{%r1,%r2,%r3,%r4}}')
        F('sured', f'sured.b.<add~min~max>.{g}.<u32~s32>.<trap~clamp~zero> [sref,{SC[g]}],%r1', f'sured.b.<and~or>.{g}.b32.trap [<sref~%rd1>,{SC[g]}],%r1', f'sured.b.add.{g}.u64.trap [sref,{SC[g]}],%rd2', f'sured.b.<min~max>.{g}.<u64~s64>.trap [sref,{SC[g]}],%rd2', f'sured.p.<add~min~max~and~or>.{g}.b32.trap [sref,{SC[g]}],%r1', f'sured.p.<min~max>.{g}.b64.trap [sref,{SC[g]}],%rd2')
F('suq', 'suq.<width~height~depth~channel_data_type~channel_order~array_size~memory_layout>.b32 %r1,[<sref~%rd1>]')
# ------------------------------------------------------------- sync
F('bar', 'bar<~.cta>.sync <0~15~%r1>', 'bar<~.cta>.sync <1~%r1>,<64~%r2>', 'bar<~.cta>.arrive <1~%r1>,<64~%r2>', 'bar<~.cta>.red.popc.u32 %r1,<0~%r2>,<%p1~!%p1>', 'bar<~.cta>.red.popc.u32 %r1,1,64,%p1', 'bar<~.cta>.red.<and~or>.pred %p1,0,<%p2~!%p2>', 'bar<~.cta>.red.<and~or>.pred %p1,1,<128~%r3>,%p2')
F('barrier', 'barrier<~.cta>.sync<~.aligned> <0~%r1>', 'barrier<~.cta>.sync<~.aligned> 1,64', 'barrier<~.cta>.arrive<~.aligned> 1,<64~%r2>', 'barrier<~.cta>.red.popc<~.aligned>.u32 %r1,0,<%p1~!%p1>', 'barrier<~.cta>.red.<and~or><~.aligned>.pred %p1,1,64,%p2')
F('bar.warp.sync', 'bar.warp.sync <%r1~0xffffffff>')
F('barrier.cluster', 'barrier.cluster.arrive<~.release~.relaxed><~.aligned>', 'barrier.cluster.wait<~.acquire><~.aligned>')
F('membar', 'membar.<cta~gl~sys>', 'membar.proxy.alias')
F('fence', 'fence<~.sc~.acq_rel~.acquire~.release>.<cta~cluster~gpu~sys>', 'fence.acquire.sync_restrict::shared::cluster.cluster', 'fence.release.sync_restrict::shared::cta.cluster', 'fence.mbarrier_init.release.cluster', 'fence.proxy.<alias~async~async.global~async.shared::cta~async.shared::cluster>', 'fence.proxy.tensormap::generic.release.<cta~cluster~gpu~sys>', 'fence.proxy.tensormap::generic.acquire.<cta~cluster~gpu~sys> [%rd1],128', 'fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster', 'fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster')
# atom/red
SEM = '<~.relaxed~.acquire~.release~.acq_rel>'
SPC = '<~.global~.shared>'
for sem in ('', '.relaxed', '.acquire', '.release', '.acq_rel'):
    for sc in (['', '.cta', '.gpu', '.sys', '.cluster'] if sem else ['', '.gpu', '.sys']):
        F('atom.sem', f'atom{sem}{sc}<~.global~.shared>.add.u32 %r1,[%rd1],%r2', f'atom{sem}{sc}.global.cas.b32 %r1,[%rd1],%r2,%r3', f'atom{sem}{sc}.global.exch.b64 %rd2,[%rd1],%rd3')
        if sem in ('', '.relaxed', '.release'):
            F('red.sem', f'red{sem}{sc}<~.global~.shared>.add.u32 [%rd1],%r2')
for op, ts in (('and', 'b32 b64'), ('or', 'b32 b64'), ('xor', 'b32 b64'), ('exch', 'b32 b64 b128 u32 f32'), ('add', 'u32 s32 u64 s64 f32 f64'), ('inc', 'u32'), ('dec', 'u32'), ('min', 'u32 s32 u64 s64 f32'), ('max', 'u32 s32 u64 s64 f32')):
    for t in ts.split():
        F('atom', f'atom{SPC}.{op}.{t} <{R(t,2)}~_>,[%rd1],{R(t,3)}')
        if op != 'exch':
            F('red', f'red{SPC}.{op}.{t} [%rd1],{R(t,3)}')
for t in ('b16', 'b32', 'b64', 'b128', 'u64', 's32'):
    F('atom', f'atom{SPC}.cas.{t} {R(t,2)},[%rd1],{R(t,3)},{R(t,4)}')
F('atom', f'atom{SPC}.add.noftz.<f16~bf16> %h1,[%rd1],%h2', f'atom{SPC}.add.noftz.<f16x2~bf16x2> %r1,[%rd1],%r2', 'atom.global.add.L2::cache_hint.u32 %r1,[%rd1],%r2,%rd5', 'atom.global.exch.L2::cache_hint.b128 %rq1,[%rd1],%rq2,%rd5', 'atom.shared::<cta~cluster>.add.u32 %r1,[%rd1],%r2', 'atom.shared.add.u32 %r1,[sbuf+4],<1~-1>', 'atom.global.add.u32 %r1,[gbuf+4],%r2')
F('red', f'red{SPC}.add.noftz.<f16~bf16> [%rd1],%h2', f'red{SPC}.add.noftz.<f16x2~bf16x2> [%rd1],%r2', 'red.global.add.L2::cache_hint.u32 [%rd1],%r2,%rd5', 'red.shared::<cta~cluster>.add.u32 [%rd1],%r2')
for op, dst in (('atom', True), ('red', False)):
    def av(t, n, mods):
        d = V(t, n, 10) + ',' if dst else ''
        return f'{op}{mods} {d}[%rd1],{V(t,n,20)}'
    for n in (2, 4):
        F(op + '.vec', av('f32', n, f'<~.relaxed.gpu~.release.sys><~.global>.add.v{n}.f32'), av('f16x2', n, f'.global.<add~min~max>.noftz.v{n}.f16x2'), av('bf16x2', n, f'.global.<add~min~max>.noftz.v{n}.bf16x2'))
    for n in (2, 4, 8):
        F(op + '.vec', av('f16', n, f'.global.<add~min~max>.noftz.v{n}.f16') if n < 8 else f'{op}.global.<add~min~max>.noftz.v8.f16 ' + (V('f16', 8, 0) + ',' if dst else '') + '[%rd1],' + V('f16', 8, 8), (f'{op}.global.<add~min~max>.noftz.v{n}.bf16 ' + (V('f16', n, 0) + ',' if dst else '') + '[%rd1],' + V('f16', n, 8)))
    F(op + '.vec', f'{op}.relaxed.gpu.global.add.L2::cache_hint.v2.f32 ' + ('{%f1,%f2},' if dst else '') + '[%rd1],{%f3,%f4},%rd5')
F('red.async', 'red.async.relaxed.cluster<~.shared::cluster>.mbarrier::complete_tx::bytes.<inc~dec>.u32 [%rd1],%r1,[%rd2]', 'red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.<min~max~add>.<u32~s32> [%rd1],%r1,[%rd2]', 'red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.<and~or~xor>.b32 [%rd1],%r1,[%rd2]', 'red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%rd1],%rd3,[%rd2]', 'red.async<~.mmio>.release.<gpu~sys~cluster><~.global>.add.<u32~s32> [%rd1],%r1', 'red.async.release.gpu.global.add.<u64~s64> [%rd1],%rd3')
# warp
F('vote.sync', 'vote.sync.<all~any~uni>.pred %p1,<%p2~!%p2>,<%r1~0xffffffff>', 'vote.sync.ballot.b32 %r1,<%p1~!%p1>,<%r2~0xffffffff~-1>')
F('match.sync', 'match.any.sync.b32 %r1,%r2,<%r3~0xffffffff>', 'match.any.sync.b64 %r1,%rd2,%r3', 'match.all.sync.b32 <%r1~%r1|%p1~_|%p1~%r1|_>,%r2,%r3', 'match.all.sync.b64 %r1|%p1,%rd2,%r3')
F('activemask', 'activemask.b32 %r1')
F('redux.sync', 'redux.sync.<add~min~max>.<u32~s32> %r1,%r2,<%r3~0xffffffff>', 'redux.sync.<and~or~xor>.b32 %r1,%r2,%r3', 'redux.sync.<min~max><~.abs><~.NaN>.f32 %f1,%f2,%r3')
F('elect.sync', 'elect.sync <%r1|%p1~_|%p1>,<%r2~0xffffffff>')
F('griddepcontrol', 'griddepcontrol.<launch_dependents~wait>')
# mbarrier
SS = '<~.shared~.shared::cta>'
F('mbarrier', f'mbarrier.init{SS}.b64 [%rd1],<%r1~32>', 'mbarrier.init.shared.b64 [mbar],1', f'mbarrier.inval{SS}.b64 [%rd1]', 'mbarrier.expect_tx<~.relaxed.cta~.relaxed.cluster><~.shared~.shared::cta~.shared::cluster>.b64 [%rd1],<%r1~128>', 'mbarrier.complete_tx<~.relaxed.cta~.relaxed.cluster><~.shared~.shared::cta~.shared::cluster>.b64 [%rd1],%r1',
  f'mbarrier.arrive<~.release.cta~.release.cluster~.relaxed.cta~.relaxed.cluster>{SS}.b64 <%rd2~_>,[%rd1]', f'mbarrier.arrive{SS}.b64 %rd2,[%rd1],<%r1~2>', 'mbarrier.arrive<~.release.cluster~.relaxed.cluster>.shared::cluster.b64 _,[%rd1]<~,%r1>', f'mbarrier.arrive.expect_tx<~.release.cta~.relaxed.cta>{SS}.b64 <%rd2~_>,[%rd1],<%r1~256>', 'mbarrier.arrive.expect_tx<~.release.cluster>.shared::cluster.b64 _,[%rd1],%r1', f'mbarrier.arrive.noComplete<~.release.cta>{SS}.b64 %rd2,[%rd1],<%r1~1>',
  f'mbarrier.arrive_drop<~.release.cta~.release.cluster~.relaxed.cta>{SS}.b64 <%rd2~_>,[%rd1]', f'mbarrier.arrive_drop{SS}.b64 %rd2,[%rd1],%r1', 'mbarrier.arrive_drop.shared::cluster.b64 _,[%rd1]<~,%r1>', f'mbarrier.arrive_drop.expect_tx{SS}.b64 %rd2,[%rd1],%r1', f'mbarrier.arrive_drop.noComplete<~.release.cta>{SS}.b64 %rd2,[%rd1],%r1',
  f'mbarrier.test_wait<~.acquire.cta~.acquire.cluster~.relaxed.cta>{SS}.b64 %p1,[%rd1],%rd2', f'mbarrier.test_wait.parity<~.acquire.cta~.relaxed.cluster>{SS}.b64 %p1,[%rd1],<%r1~0>', f'mbarrier.try_wait<~.acquire.cta~.acquire.cluster~.relaxed.cta>{SS}.b64 %p1,[%rd1],%rd2<~,%r3>', f'mbarrier.try_wait.parity<~.acquire.cta~.acquire.cluster~.relaxed.cluster>{SS}.b64 %p1,[%rd1],<%r1~1><~,%r3~,0x989680>', 'mbarrier.pending_count.b64 %r1,%rd1')
# async copies
F('cp.async', 'cp.async.ca.shared<~::cta>.global<~.L2::64B~.L2::128B~.L2::256B> [%rd1],[%rd2],<4~8~16>', 'cp.async.cg.shared.global<~.L2::64B~.L2::128B~.L2::256B> [%rd1],[%rd2],16<~,%r1~,0~,%p1>', 'cp.async.ca.shared.global [%r1],[%rd2+16],<4~8~16><,%r2~,%p1>', 'cp.async.<ca~cg>.shared.global.L2::cache_hint<~.L2::128B> [%rd1],[%rd2],16<~,%r1>,%rd5', 'cp.async.commit_group', 'cp.async.wait_group <0~1~7>', 'cp.async.wait_all', f'cp.async.mbarrier.arrive<~.noinc>{SS}.b64 [%rd1]')
CT = '.mbarrier::complete_tx::bytes'
F('cp.async.bulk', f'cp.async.bulk.shared::<cta~cluster>.global{CT} [%rd1],[%rd2],<%r1~1024>,[%rd3]', f'cp.async.bulk.shared::cta.global{CT}.L2::cache_hint [%rd1],[%rd2],%r1,[%rd3],%rd5', f'cp.async.bulk.shared::cluster.global{CT}.multicast::cluster [%rd1],[%rd2],%r1,[%rd3],%h1', f'cp.async.bulk.shared::cluster.global{CT}<~.multicast::cluster>.L2::cache_hint [%rd1],[%rd2],%r1,[%rd3]<X>%rd5'.replace('<~.multicast::cluster>', '').replace('<X>', ','), f'cp.async.bulk.shared::cluster.global{CT}.multicast::cluster.L2::cache_hint [%rd1],[%rd2],%r1,[%rd3],%h1,%rd5', f'cp.async.bulk.shared::cluster.shared::cta{CT} [%rd1],[%rd2],%r1,[%rd3]', 'cp.async.bulk.global.shared::cta.bulk_group [%rd1],[%rd2],%r1', 'cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1],[%rd2],%r1,%rd5', 'cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1],[%rd2],%r1,%h1', 'cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1],[%rd2],%r1,%rd5,%h1',
  'cp.async.bulk.prefetch.L2.global [%rd1],%r1', 'cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1],%r1,%rd5', 'cp.async.bulk.commit_group', 'cp.async.bulk.wait_group<~.read> <0~2>')
for op, ts in (('and', 'b32'), ('or', 'b32'), ('xor', 'b32'), ('add', 'u32 s32 u64'), ('inc', 'u32'), ('dec', 'u32'), ('min', 'u32 s32'), ('max', 'u32 s32')):
    for t in ts.split():
        F('cp.reduce.async.bulk', f'cp.reduce.async.bulk.shared::cluster.shared::cta{CT}.{op}.{t} [%rd1],[%rd2],%r1,[%rd3]')
for op, ts in (('and', 'b32 b64'), ('or', 'b32 b64'), ('xor', 'b32 b64'), ('add', 'u32 s32 u64 f32 f64'), ('inc', 'u32'), ('dec', 'u32'), ('min', 'u32 s32 u64 s64 f16 bf16'), ('max', 'u32 s32 u64 s64 f16 bf16')):
    for t in ts.split():
        F('cp.reduce.async.bulk', f'cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{t} [%rd1],[%rd2],%r1')
F('cp.reduce.async.bulk', 'cp.reduce.async.bulk.global.shared::cta.bulk_group<~.L2::cache_hint>.add.noftz.<f16~bf16> [%rd1],[%rd2],%r1,%rd5', 'cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.<f16~bf16> [%rd1],[%rd2],%r1', 'cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [%rd1],[%rd2],%r1,%rd5')
for n in range(1, 6):
    c = '{' + ','.join(f'%r{i}' for i in range(1, n + 1)) + '}'
    F('cp.async.bulk.tensor', f'cp.async.bulk.tensor.{n}d.shared::<cta~cluster>.global<~.tile>{CT} [%rd1],[%rd2,{c}],[%rd3]', f'cp.async.bulk.tensor.{n}d.shared::cluster.global{CT}.multicast::cluster [%rd1],[%rd2,{c}],[%rd3],%h1', f'cp.async.bulk.tensor.{n}d.shared::cluster.global{CT}.multicast::cluster.L2::cache_hint [%rd1],[%rd2,{c}],[%rd3],%h1,%rd5', f'cp.async.bulk.tensor.{n}d.shared::cluster.global{CT}.cta_group::<1~2> [%rd1],[%rd2,{c}],[%rd3]', f'cp.async.bulk.tensor.{n}d.shared::cluster.global{CT}.L2::cache_hint [%rd1],[%rd2,{c}],[%rd3],%rd5',
      f'cp.async.bulk.tensor.{n}d.global.shared::cta<~.tile>.bulk_group [%rd2,{c}],[%rd1]', f'cp.async.bulk.tensor.{n}d.global.shared::cta.bulk_group.L2::cache_hint [%rd2,{c}],[%rd1],%rd5', f'cp.async.bulk.prefetch.tensor.{n}d.L2.global<~.tile> [%rd2,{c}]', f'cp.async.bulk.prefetch.tensor.{n}d.L2.global.L2::cache_hint [%rd2,{c}],%rd5', f'cp.reduce.async.bulk.tensor.{n}d.global.shared::cta.<add~min~max~inc~dec~and~or~xor><~.tile>.bulk_group [%rd2,{c}],[%rd1]')
    if n >= 3:
        o = '{' + ','.join(f'%h{i}' for i in range(1, n - 1)) + '}'
        F('cp.async.bulk.tensor', f'cp.async.bulk.tensor.{n}d.shared::<cta~cluster>.global.im2col{CT} [%rd1],[%rd2,{c}],[%rd3],{o}', f'cp.async.bulk.tensor.{n}d.shared::cluster.global.im2col{CT}.multicast::cluster [%rd1],[%rd2,{c}],[%rd3],{o},%h9', f'cp.async.bulk.tensor.{n}d.global.shared::cta.im2col_no_offs.bulk_group [%rd2,{c}],[%rd1]', f'cp.async.bulk.prefetch.tensor.{n}d.L2.global.im2col [%rd2,{c}],{o}', f'cp.reduce.async.bulk.tensor.{n}d.global.shared::cta.add.im2col_no_offs.bulk_group [%rd2,{c}],[%rd1]', f'cp.async.bulk.tensor.{n}d.shared::<cta~cluster>.global.im2col::w<~::128>{CT} [%rd1],[%rd2,{c}],[%rd3],{{%h1,%h2}}', f'cp.async.bulk.prefetch.tensor.{n}d.L2.global.im2col::w<~::128> [%rd2,{c}],{{%h1,%h2}}')
c5 = '{%r1,%r2,%r3,%r4,%r5}'
F('cp.async.bulk.tensor', f'cp.async.bulk.tensor.2d.shared::<cta~cluster>.global.tile::gather4{CT} [%rd1],[%rd2,{c5}],[%rd3]', f'cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd2,{c5}],[%rd1]', f'cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd2,{c5}]')
F('tensormap', 'tensormap.replace.tile.global_address<~.global~.shared::cta>.b1024.b64 [%rd1],%rd2', 'tensormap.replace.tile.rank<~.global~.shared::cta>.b1024.b32 [%rd1],%r1', 'tensormap.replace.tile.<box_dim~global_dim~element_stride>.global.b1024.b32 [%rd1],<0~1~4>,%r1', 'tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd1],0,%rd2', 'tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1],<0~6~12~13~15>', 'tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1],<0~1~2>', 'tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1],<0~1~2~3~4>', 'tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%rd1],<0~1~2~3>', 'tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd1],<0~1>',
  'tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.<cta~cluster~gpu~sys>.sync.aligned [%rd1],[%rd2],128')
F('clusterlaunchcontrol', f'clusterlaunchcontrol.try_cancel.async<~.shared::cta>{CT}<~.multicast::cluster::all>.b128 [%rd1],[%rd2]', 'clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1,%rq1', 'clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1,%r2,%r3,_},%rq1', 'clusterlaunchcontrol.query_cancel.get_first_ctaid::<x~y~z>.b32.b128 %r1,%rq1')
# ------------------------------------------------------------- ldmatrix etc
for n in (1, 2, 4):
    F('ldmatrix', f'ldmatrix.sync.aligned.m8n8.x{n}<~.trans><~.shared~.shared::cta>.b16 {V("b32",n,1)},[%rd1]', f'ldmatrix.sync.aligned.m8n16.x{n}<~.shared>.b8x16.<b6x16_p32~b4x16_p64> {V("b32",n,1)},[%rd1]')
    F('stmatrix', f'stmatrix.sync.aligned.m8n8.x{n}<~.trans><~.shared~.shared::cta>.b16 [%rd1],{V("b32",n,1)}', f'stmatrix.sync.aligned.m16n8.x{n}.trans<~.shared>.b8 [%rd1],{V("b32",n,1)}')
    if n < 4:
        F('ldmatrix', f'ldmatrix.sync.aligned.m16n16.x{n}.trans<~.shared>.b8 {V("b32",2*n,1)},[%rd1]', f'ldmatrix.sync.aligned.m16n16.x{n}.trans<~.shared>.b8x16.<b6x16_p32~b4x16_p64> {V("b32",2*n,1)},[%rd1]')
F('movmatrix', 'movmatrix.sync.aligned.m8n8.trans.b16 %r1,%r2')
# ------------------------------------------------------------- wmma
def wload(fam, m, lay, sh, t, n, reg):
    F(fam, f'wmma.load.{m}.sync.aligned.{lay}.{sh}<~.global~.shared>.{t} {V(reg,n,1)},[%rd1]<~,%r90>')
for sh in ('m16n16k16', 'm8n32k16', 'm32n8k16'):
    for m in 'ab':
        wload('wmma.load', m, '<row~col>', sh, 'f16', 8, 'b32')
        n8 = {'m16n16k16': (2, 2), 'm8n32k16': (1, 4), 'm32n8k16': (4, 1)}[sh][m == 'b']
        wload('wmma.load', m, '<row~col>', sh, '<s8~u8>', n8, 'b32')
        nb = {'m16n16k16': (4, 4), 'm8n32k16': (2, 8), 'm32n8k16': (8, 2)}[sh][m == 'b']
        wload('wmma.load', m, '<row~col>', sh, 'bf16', nb, 'b32')
    wload('wmma.load', 'c', '<row~col>', sh, 'f16', 4, 'b32')
    wload('wmma.load', 'c', '<row~col>', sh, 'f32', 8, 'f32')
    wload('wmma.load', 'c', '<row~col>', sh, 's32', 8, 'b32')
    F('wmma.store', f'wmma.store.d.sync.aligned.<row~col>.{sh}<~.global~.shared>.f16 [%rd1],{V("b32",4,1)}<~,%r90>', f'wmma.store.d.sync.aligned.<row~col>.{sh}<~.global~.shared>.f32 [%rd1],{V("f32",8,1)}<~,%r90>', f'wmma.store.d.sync.aligned.<row~col>.{sh}.s32 [%rd1],{V("b32",8,1)}')
    for dt, dn, dr in (('f16', 4, 'b32'), ('f32', 8, 'f32')):
        for ct, cn, cr in (('f16', 4, 'b32'), ('f32', 8, 'f32')):
            F('wmma.mma', f'wmma.mma.sync.aligned.<row~col>.<row~col>.{sh}.{dt}.{ct} {V(dr,dn,1)},{V("b32",8,10)},{V("b32",8,20)},{V(cr,cn,30)}')
    a8, b8 = {'m16n16k16': (2, 2), 'm8n32k16': (1, 4), 'm32n8k16': (4, 1)}[sh]
    for st in ('s8', 'u8'):
        F('wmma.mma', f'wmma.mma.sync.aligned.<row~col>.<row~col>.{sh}.s32.{st}.{st}.s32<~.satfinite> {V("b32",8,1)},{V("b32",a8,10)},{V("b32",b8,20)},{V("b32",8,30)}')
    ab, bb = {'m16n16k16': (4, 4), 'm8n32k16': (2, 8), 'm32n8k16': (8, 2)}[sh]
    F('wmma.mma', f'wmma.mma.sync.aligned.<row~col>.<row~col>.{sh}.f32.bf16.bf16.f32 {V("f32",8,1)},{V("b32",ab,10)},{V("b32",bb,20)},{V("f32",8,30)}')
for m in 'ab':
    wload('wmma.load', m, '<row~col>', 'm16n16k8', 'tf32', 4, 'b32')
    wload('wmma.load', m, '<row~col>', 'm8n8k4', 'f64', 1, 'f64')
    wload('wmma.load', m, 'row' if m == 'a' else 'col', 'm8n8k32', '<s4~u4>', 1, 'b32')
    wload('wmma.load', m, 'row' if m == 'a' else 'col', 'm8n8k128', 'b1', 1, 'b32')
wload('wmma.load', 'c', '<row~col>', 'm16n16k8', 'f32', 8, 'f32')
wload('wmma.load', 'c', '<row~col>', 'm8n8k4', 'f64', 2, 'f64')
wload('wmma.load', 'c', '<row~col>', '<m8n8k32~m8n8k128>', 's32', 2, 'b32')
F('wmma.store', f'wmma.store.d.sync.aligned.<row~col>.m16n16k8.f32 [%rd1],{V("f32",8,1)}', 'wmma.store.d.sync.aligned.<row~col>.m8n8k4.f64 [%rd1],{%fd1,%fd2}', 'wmma.store.d.sync.aligned.<row~col>.<m8n8k32~m8n8k128>.s32 [%rd1],{%r1,%r2}')
F('wmma.mma', f'wmma.mma.sync.aligned.<row~col>.<row~col>.m16n16k8.f32.tf32.tf32.f32 {V("f32",8,1)},{V("b32",4,10)},{V("b32",4,20)},{V("f32",8,30)}', 'wmma.mma.sync.aligned.<row~col>.<row~col>.m8n8k4<~.rn~.rz~.rm~.rp>.f64.f64.f64.f64 {%fd1,%fd2},{%fd3},{%fd4},{%fd5,%fd6}', 'wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32<~.satfinite> {%r1,%r2},{%r3},{%r4},{%r5,%r6}', 'wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32<~.satfinite> {%r1,%r2},{%r3},{%r4},{%r5,%r6}', 'wmma.mma.<xor~and>.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1,%r2},{%r3},{%r4},{%r5,%r6}')
# ------------------------------------------------------------- mma
def mma(fam, q, d, a, b, c, tail='', pre='mma.sync.aligned'):
    F(fam, f'{pre}.{q} {V(*d)},{V(*a)},{V(*b)},{V(*c)}{tail}')
r = lambda n, base: ('b32', n, base)
f = lambda n, base: ('f32', n, base)
fd = lambda n, base: ('f64', n, base)
for dt, d in (('f16', r(4, 1)), ('f32', f(8, 1))):
    for ct, c in (('f16', r(4, 30)), ('f32', f(8, 30))):
        mma('mma', f'm8n8k4.<row~col>.<row~col>.{dt}.f16.f16.{ct}', d, r(2, 10), r(2, 20), c)
for k, na, nb in ((8, 2, 1), (16, 4, 2)):
    mma('mma', f'm16n8k{k}.row.col.f16.f16.f16.f16', r(2, 1), r(na, 10), r(nb, 20), r(2, 30))
    mma('mma', f'm16n8k{k}.row.col.f32.f16.f16.f32', f(4, 1), r(na, 10), r(nb, 20), f(4, 30))
    mma('mma', f'm16n8k{k}.row.col.f32.bf16.bf16.f32', f(4, 1), r(na, 10), r(nb, 20), f(4, 30))
mma('mma', 'm16n8k4.row.col.f32.tf32.tf32.f32', f(4, 1), r(2, 10), r(1, 20), f(4, 30))
mma('mma', 'm16n8k8.row.col.f32.tf32.tf32.f32', f(4, 1), r(4, 10), r(2, 20), f(4, 30))
for k, na, nb in ((16, 2, 1), (32, 4, 2)):
    mma('mma', f'm16n8k{k}.row.col.f32.<e4m3~e5m2>.<e4m3~e5m2>.f32', f(4, 1), r(na, 10), r(nb, 20), f(4, 30))
    mma('mma', f'm16n8k{k}.row.col.f16.<e4m3~e5m2>.<e4m3~e5m2>.f16', r(2, 1), r(na, 10), r(nb, 20), r(2, 30))
mma('mma', 'm8n8k4.row.col<~>.f64.f64.f64.f64<~.rn~.rz~.rm~.rp>', fd(2, 1), fd(1, 3), fd(1, 4), fd(2, 5))
for k, na, nb in ((4, 2, 1), (8, 4, 2), (16, 8, 4)):
    mma('mma', f'm16n8k{k}.row.col.f64.f64.f64.f64<~.rn~.rz~.rm~.rp>', fd(4, 0), fd(na, 4), fd(nb, 12), fd(4, 16))
for sh, n, na, nb in (('m8n8k16', 2, 1, 1), ('m16n8k16', 4, 2, 1), ('m16n8k32', 4, 4, 2)):
    mma('mma', f'{sh}.row.col<~.satfinite>.s32.<u8~s8>.<u8~s8>.s32', r(n, 1), r(na, 10), r(nb, 20), r(n, 30))
for sh, n, na, nb in (('m8n8k32', 2, 1, 1), ('m16n8k32', 4, 2, 1), ('m16n8k64', 4, 4, 2)):
    mma('mma', f'{sh}.row.col<~.satfinite>.s32.<u4~s4>.<u4~s4>.s32', r(n, 1), r(na, 10), r(nb, 20), r(n, 30))
for sh, n, na, nb in (('m8n8k128', 2, 1, 1), ('m16n8k128', 4, 2, 1), ('m16n8k256', 4, 4, 2)):
    mma('mma', f'{sh}.row.col.s32.b1.b1.s32.<xor~and>.popc', r(n, 1), r(na, 10), r(nb, 20), r(n, 30))
F8 = '<e4m3~e5m2~e3m2~e2m3~e2m1>'
mma('mma.kind', f'm16n8k32.row.col.kind::f8f6f4.f32.{F8}.{F8}.f32', f(4, 1), r(4, 10), r(2, 20), f(4, 30))
mma('mma.kind', f'm16n8k32.row.col.kind::f8f6f4.f16.{F8}.{F8}.f16', r(2, 1), r(4, 10), r(2, 20), r(2, 30))
SCL = ',%r40,{<0~2>,1},%r41,{0,3}'
mma('mma.block_scale', 'm16n8k64.row.col.kind::mxf4.block_scale<~.scale_vec::2X>.f32.e2m1.e2m1.f32.ue8m0', f(4, 1), r(4, 10), r(2, 20), f(4, 30), SCL)
mma('mma.block_scale', 'm16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0', f(4, 1), r(4, 10), r(2, 20), f(4, 30), SCL)
mma('mma.block_scale', 'm16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.<ue4m3~ue8m0>', f(4, 1), r(4, 10), r(2, 20), f(4, 30), ',%r40,{0,0},%r41,{0,1}')
mma('mma.block_scale', f'm16n8k32.row.col.kind::mxf8f6f4.block_scale<~.scale_vec::1X>.f32.{F8}.{F8}.f32.ue8m0', f(4, 1), r(4, 10), r(2, 20), f(4, 30), ',%r40,{%h1,%h2},%r41,{%h3,%h4}')
# mma.sp
for sp in ('mma.sp.sync.aligned', 'mma.sp::ordered_metadata.sync.aligned'):
    for k, na, nb in ((16, 2, 2), (32, 4, 4)):
        sel = '0'
        mma('mma.sp', f'm16n8k{k}.row.col.f16.f16.f16.f16', r(2, 1), r(na, 10), r(nb, 20), r(2, 30), ',%r40,<0~1>', sp)
        mma('mma.sp', f'm16n8k{k}.row.col.f32.<f16.f16~bf16.bf16>.f32', f(4, 1), r(na, 10), r(nb, 20), f(4, 30), ',%r40,0x1', sp)
    for k, na, nb in ((8, 2, 2), (16, 4, 4)):
        mma('mma.sp', f'm16n8k{k}.row.col.f32.tf32.tf32.f32', f(4, 1), r(na, 10), r(nb, 20), f(4, 30), ',%r40,0', sp)
    for k, na, nb in ((32, 2, 2), (64, 4, 4)):
        mma('mma.sp', f'm16n8k{k}.row.col<~.satfinite>.s32.<u8~s8>.<u8~s8>.s32', r(4, 1), r(na, 10), r(nb, 20), r(4, 30), ',%r40,0', sp)
    for k, na, nb in ((64, 2, 2), (128, 4, 4)):
        mma('mma.sp', f'm16n8k{k}.row.col<~.satfinite>.s32.<u4~s4>.<u4~s4>.s32', r(4, 1), r(na, 10), r(nb, 20), r(4, 30), ',%r40,0', sp)
    mma('mma.sp', 'm16n8k64.row.col.f32.<e4m3~e5m2>.<e4m3~e5m2>.f32', f(4, 1), r(4, 10), r(4, 20), f(4, 30), ',%r40,0', sp)
sp = 'mma.sp::ordered_metadata.sync.aligned'
mma('mma.sp.kind', f'm16n8k64.row.col.kind::f8f6f4.f32.{F8}.{F8}.f32', f(4, 1), r(4, 10), r(4, 20), f(4, 30), ',%r40,0', sp)
mma('mma.sp.kind', f'm16n8k64.row.col.kind::f8f6f4.f16.<e4m3~e2m1>.<e5m2~e3m2>.f16', r(2, 1), r(4, 10), r(4, 20), r(2, 30), ',%r40,0', sp)
mma('mma.sp.kind', 'm16n8k128.row.col.kind::mxf4.block_scale<~.scale_vec::2X>.f32.e2m1.e2m1.f32.ue8m0', f(4, 1), r(4, 10), r(4, 20), f(4, 30), ',%r40,0,%r41,{2,1},%r42,{2,3}', sp)
mma('mma.sp.kind', 'm16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3', f(4, 1), r(4, 10), r(4, 20), f(4, 30), ',%r40,0,%r41,{0,1},%r42,{0,3}', sp)
mma('mma.sp.kind', f'm16n8k64.row.col.kind::mxf8f6f4.block_scale<~.scale_vec::1X>.f32.{F8}.{F8}.f32.ue8m0', f(4, 1), r(4, 10), r(4, 20), f(4, 30), ',%r40,0,%r41,{0,1},%r42,{0,1}', sp)
# ------------------------------------------------------------- wgmma
def wg(ns, k, dt, at, bt, tailsD, tailsR, div, reg, sp=False):
    for n in ns:
        nd = n // div
        meta = ',%r90,0' if sp else ''
        op = 'wgmma.mma_async' + ('.sp' if sp else '')
        sat = '<~.satfinite>' if dt == 's32' and at != 'b1' else ''
        q = f'{op}.sync.aligned.m64n{n}k{k}.{dt}.{at}.{bt}' + ('.and.popc' if at == 'b1' else '') + sat
        F('wgmma.sp' if sp else 'wgmma', f'{q} {V(reg,nd,0)},%rd1,%rd2{meta}{tailsD}', f'{q} {V(reg,nd,0)},{{%r91,%r92,%r93,%r94}},%rd2{meta}{tailsR}')
NS = [8, 64, 104, 256]
NI = [8, 24, 48, 128, 224]
wg(list(range(8, 257, 8)), 16, 'f32', 'f16', 'f16', ',%p1,1,<1~-1>,0,1', ',<%p1~1~0>,1,1,0', 2, 'f32')
wg([8, 128], 16, 'f16', 'f16', 'f16', ',%p1,1,1,0,0', ',%p1,1,-1,1', 4, 'b32')
wg(NS, 16, 'f32', 'bf16', 'bf16', ',%p1,1,1,1,1', ',%p1,-1,1,0', 2, 'f32')
wg(NS, 8, 'f32', 'tf32', 'tf32', ',%p1,1,1', ',%p1,1,1', 2, 'f32')
wg([8, 128], 32, 'f32', '<e4m3~e5m2>', '<e4m3~e5m2>', ',%p1,1,1', ',%p1,1,-1', 2, 'f32')
wg([8, 128], 32, 'f16', '<e4m3~e5m2>', '<e4m3~e5m2>', ',%p1,1,1', ',%p1,1,1', 4, 'b32')
wg(NI, 32, 's32', '<s8~u8>', '<s8~u8>', ',%p1', ',%p1', 2, 'b32') if False else None
for n in (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160):
    D = V('b32', min(n // 2, 80), 0)
    F('wgmma', f'wgmma.mma_async.sync.aligned.m64n{n}k32.s32.<s8~u8>.<s8~u8><~.satfinite> {D},%rd1,%rd2,%p1', f'wgmma.mma_async.sync.aligned.m64n{n}k32.s32.s8.s8 {D},{{%r91,%r92,%r93,%r94}},%rd2,%p1', f'wgmma.mma_async.sync.aligned.m64n{n}k256.s32.b1.b1.and.popc {D},%rd1,%rd2,%p1')
wg([8, 128], 32, 'f32', 'f16', 'f16', ',%p1,1,1,0,0', ',%p1,1,1,0', 2, 'f32', True)
wg([8, 128], 32, 'f16', 'f16', 'f16', ',%p1,1,1,0,0', ',%p1,1,1,0', 4, 'b32', True)
wg([8, 64], 32, 'f32', 'bf16', 'bf16', ',%p1,1,1,0,0', ',%p1,1,1,0', 2, 'f32', True)
wg([8, 64], 16, 'f32', 'tf32', 'tf32', ',%p1,1,1', ',%p1,1,1', 2, 'f32', True)
wg([8, 64], 64, 'f32', '<e4m3~e5m2>', '<e4m3~e5m2>', ',%p1,1,1', ',%p1,1,1', 2, 'f32', True)
for n in (8, 96):
    F('wgmma.sp', f'wgmma.mma_async.sp.sync.aligned.m64n{n}k64.s32.<s8~u8>.<s8~u8><~.satfinite> {V("b32",n//2,0)},%rd1,%rd2,%r90,0,%p1')
F('wgmma', 'wgmma.fence.sync.aligned', 'wgmma.commit_group.sync.aligned', 'wgmma.wait_group.sync.aligned <0~1~7>')
F('setmaxnreg', 'setmaxnreg.<inc~dec>.sync.aligned.u32 <24~40~232~240>')
# ------------------------------------------------------------- tcgen05
CG = '.cta_group::<1~2>'
F('tcgen05.alloc', f'tcgen05.alloc{CG}.sync.aligned<~.shared::cta>.b32 [%rd1],<%r1~32~512>', f'tcgen05.dealloc{CG}.sync.aligned.b32 %r1,<%r2~64>', f'tcgen05.relinquish_alloc_permit{CG}.sync.aligned')
for shp, per in (('16x64b', 1), ('16x128b', 2), ('16x256b', 4), ('32x32b', 1)):
    for n in (1, 2, 4, 8, 16, 32, 64, 128):
        if n * per <= 128:
            F('tcgen05.ld', f'tcgen05.ld.sync.aligned.{shp}.x{n}<~.pack::16b>.b32 {V("b32",n*per,0)},[%r128]')
            F('tcgen05.st', f'tcgen05.st.sync.aligned.{shp}.x{n}<~.unpack::16b>.b32 [%r128],{V("b32",n*per,0)}')
for n in (1, 2, 4, 8, 16, 32, 64, 128):
    F('tcgen05.ld', f'tcgen05.ld.sync.aligned.16x32bx2.x{n}<~.pack::16b>.b32 {V("b32",n,0)},[%r128],<0~32>')
    F('tcgen05.st', f'tcgen05.st.sync.aligned.16x32bx2.x{n}<~.unpack::16b>.b32 [%r128],32,{V("b32",n,0)}')
    if n > 1:
        F('tcgen05.ld.red', f'tcgen05.ld.red.sync.aligned.32x32b.x{n}.<min~max><~.abs><~.NaN>.f32 {V("f32",n,0)},%f129,[%r128]', f'tcgen05.ld.red.sync.aligned.32x32b.x{n}.<min~max>.<u32~s32> {V("b32",n,0)},%r129,[%r128]', f'tcgen05.ld.red.sync.aligned.16x32bx2.x{n}.<min~max>.u32 {V("b32",n,0)},%r129,[%r128],16')
F('tcgen05.wait', 'tcgen05.wait::<ld~st>.sync.aligned')
F('tcgen05.fence', 'tcgen05.fence::<before_thread_sync~after_thread_sync>')
F('tcgen05.cp', f'tcgen05.cp{CG}.<128x256b~4x256b~128x128b> [%r1],%rd1', f'tcgen05.cp{CG}.64x128b.warpx2::<02_13~01_23> [%r1],%rd1', f'tcgen05.cp{CG}.32x128b.warpx4 [%r1],%rd1', f'tcgen05.cp{CG}.<128x256b~4x256b~128x128b>.b8x16.<b6x16_p32~b4x16_p64> [%r1],%rd1', f'tcgen05.cp{CG}.32x128b.warpx4.b8x16.b4x16_p64 [%r1],%rd1')
F('tcgen05.shift', f'tcgen05.shift{CG}.down [%r1]')
F('tcgen05.commit', f'tcgen05.commit{CG}.mbarrier::arrive::one<~.shared::cluster>.b64 [%rd1]', f'tcgen05.commit{CG}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%rd1],%h1')
M4, M8 = '{%r10,%r11,%r12,%r13}', '{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}'
for sp, meta, fam in (('', '', 'tcgen05.mma'), ('.sp', ',[%r5]', 'tcgen05.mma.sp')):
    for A in ('%rd1', '[%r2]'):
        for kind in ('f16', 'tf32', 'f8f6f4', 'i8'):
            si = '<~,2>' if kind in ('f16', 'tf32') else ''
            F(fam, f'tcgen05.mma{sp}.cta_group::1.kind::{kind} [%r1],{A},%rd2{meta},%r3<~,{M4}>,%p1{si}', f'tcgen05.mma{sp}.cta_group::2.kind::{kind} [%r1],{A},%rd2{meta},%r3<~,{M8}>,%p1', f'tcgen05.mma{sp}.cta_group::1.kind::{kind}.collector::a::<fill~use~lastuse~discard> [%r1],{A},%rd2{meta},%r3,%p1')
            if A[0] == '[':
                F(fam, f'tcgen05.mma{sp}.cta_group::1.kind::{kind}.ashift<~.collector::a::lastuse> [%r1],{A},%rd2{meta},%r3,%p1')
        F(fam, f'tcgen05.mma{sp}.cta_group::<1~2>.kind::mxf8f6f4.block_scale<~.scale_vec::1X~.block32> [%r1],{A},%rd2{meta},%r3,[%r6],[%r7],%p1', f'tcgen05.mma{sp}.cta_group::1.kind::mxf4.block_scale<~.scale_vec::2X~.block32><~.collector::a::fill> [%r1],{A},%rd2{meta},%r3,[%r6],[%r7],%p1', f'tcgen05.mma{sp}.cta_group::1.kind::mxf4nvf4.block_scale.<scale_vec::2X~scale_vec::4X~block16~block32> [%r1],{A},%rd2{meta},%r3,[%r6],[%r7],%p1')
        F('tcgen05.mma.ws' + sp, f'tcgen05.mma.ws{sp}.cta_group::1.kind::<f16~tf32~f8f6f4~i8><~.collector::b0::fill~.collector::b1::use~.collector::b2::lastuse~.collector::b3::discard> [%r1],{A},%rd2{meta},%r3,%p1<~,%rd9>')
# ------------------------------------------------------------- video
SEL = '<~.b0~.h1>'
for op in ('vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax'):
    F('video.scalar', f'{op}.<u32~s32>.<u32~s32>.<u32~s32><~.sat> %r1,%r2,%r3', f'{op}.s32.u32.s32<~.sat>.<add~min~max> %r1,%r2.b0,%r3.h1,%r4', f'{op}.u32.s32.u32<~.sat> %r1.<b0~b1~b2~b3~h0~h1>,%r2.b3,%r3.h0,%r4')
for op in ('vshl', 'vshr'):
    F('video.scalar', f'{op}.<u32~s32>.<u32~s32>.u32<~.sat>.<clamp~wrap> %r1,%r2,%r3', f'{op}.u32.u32.u32.wrap.<add~min~max> %r1,%r2,%r3.b1,%r4', f'{op}.u32.u32.u32.clamp %r1.<b0~h1>,%r2,%r3,%r4')
F('video.scalar', 'vmad.<u32~s32>.<u32~s32>.<u32~s32><~.sat><~.shr7~.shr15> %r1,%r2.h0,%r3.b1,%r4', 'vmad.s32.s32.s32 %r1,<-%r2,%r3,%r4~%r2,-%r3,%r4~%r2,%r3,-%r4>', 'vmad.<u32.u32.u32~s32.s32.s32>.po<~.sat><~.shr7> %r1,%r2,%r3,%r4', 'vset.<u32~s32>.<u32~s32>.<eq~ne~lt~le~gt~ge> %r1,%r2,%r3', 'vset.u32.u32.lt.<add~min~max> %r1,%r2.b0,%r3,%r4', 'vset.s32.s32.ge %r1.<b2~h0>,%r2,%r3,%r4')
for op in ('vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax'):
    F('video.simd', f'{op}2.<u32~s32>.<u32~s32>.<u32~s32><~.sat> %r1,%r2,%r3,%r4', f'{op}2.s32.s32.s32.add %r1<~.h0~.h1~.h10>,%r2.h10,%r3.h32,%r4', f'{op}4.<u32~s32>.<u32~s32>.<u32~s32><~.sat> %r1,%r2,%r3,%r4', f'{op}4.u32.u32.u32.add %r1<~.b0~.b10~.b210~.b3210~.b31>,%r2.b3210,%r3.b7654,%r4')
F('video.simd', 'vset2.<u32~s32>.<u32~s32>.<eq~ne~lt~le~gt~ge><~.add> %r1,%r2,%r3,%r4', 'vset4.<u32~s32>.<u32~s32>.<eq~ne~lt~le~gt~ge><~.add> %r1,%r2,%r3,%r4')
# ------------------------------------------------------------- misc / stack
F('stack', 'stacksave.u64 %rd1', 'stackrestore.u64 %rd1', 'alloca.u64 %rd1,%rd2<~,16~,128>')
F('misc', 'nanosleep.u32 <%r1~100>', 'pmevent <0~7>', 'pmevent.mask <0x5~1>', 'brkpt')
# guards on a sample
F('guard', '@%p1 add.s32 %r1,%r2,%r3', '@!%p1 add.s32 %r1,%r2,%r3', '@%p1 ld.global.u32 %r1,[%rd1]', '@!%p2 st.shared.u32 [sbuf],%r1', '@%p1 bar.sync 0', '@%p1 exit', '@%p1 trap', '@%p1 ret', '@%p1 ret.uni', '{ .reg .b32 %t; mov.b32 %t,1; add.s32 %r1,%t,%r2; }')
# legacy (removed for .target sm_70+ from PTX 6.4)
LEGACY = collections.OrderedDict()
def FL(fam, *ts):
    L = LEGACY.setdefault(fam, [])
    for t in ts:
        L += expand(t)
FL('vote', 'vote.<all~any~uni>.pred %p1,<%p2~!%p2>', 'vote.ballot.b32 %r1,<%p1~!%p1>')
FL('shfl', 'shfl.<up~down~bfly~idx>.b32 <%r1~%r1|%p1>,%r2,<%r3~1>,<%r4~31>')

REGDECL = '''	.reg .pred %p<16>;
	.reg .b8 %b<8>;
	.reg .b16 %h<32>;
	.reg .b32 %r<132>;
	.reg .b64 %rd<32>;
	.reg .f32 %f<132>;
	.reg .f64 %fd<32>;
'''
def module(version, target, fams, full=True, q128=True, uni=False, tex=True, single=False):
    """returns (text, linemap: line -> (family, form))"""
    out = [f'.version {version}', f'.target {target}', '.address_size 64', '',
           '.visible .global .align 128 .b8 gbuf[4096];', '.visible .const .align 16 .b8 cbuf[256];']
    if uni:
        out.append('.visible .global .attribute(.unified(7,11)) .f32 guni;')
    if tex:
        out += ['.visible .global .texref tref;', '.visible .global .surfref sref;']
    out += ['.visible .shared .align 128 .b8 sbuf[4096];', '.visible .shared .align 8 .b64 mbar;', '',
            '.func dfunc() { ret; }', '.entry kmain() { ret; }', '']
    lm = {}
    for fam, forms in fams.items():
        if not forms:
            continue
        out.append(f'// family: {fam}')
        name = re.sub(r'[^A-Za-z0-9_]', '_', fam)
        if any('cta_group::2' in x for x in forms) and any('cta_group::1' in x for x in forms) and 'tcgen05' in fam:
            one = [x for x in forms if 'cta_group::2' not in x]
            two = [x for x in forms if 'cta_group::2' in x]
            batches = [(name, one), (name + '_pair', two)]
        else:
            batches = [(name, forms)]
        for bname, bforms in batches:
            emit(out, lm, fam, bname, bforms, q128)
    return '\n'.join(out) + '\n', lm

def emit(out, lm, fam, name, forms, q128):
        out.append(f'.entry k_{name}(.param .u64 prm0, .param .align 8 .b8 prm1[16])')
        out.append('{')
        out += REGDECL.rstrip('\n').split('\n')
        if q128:
            out.append('\t.reg .b128 %rq<8>;')
        out.append('\t.local .align 16 .b8 lbuf[64];')
        for fo in forms:
            out.append('\t' + fo + ('' if fo.endswith('}') and fo.startswith('{ .reg') else ';'))
            lm[len(out)] = (fam, fo)
        out += ['\tret;', '}', '']

ERR = re.compile(r'line (\d+); (error|fatal)\s*: (.*)')
def run(ptxas, arch, text, tmp, extra=()):
    src = os.path.join(tmp, 'x.ptx')
    open(src, 'w').write(text)
    p = subprocess.run([ptxas, '-arch=' + arch, *extra, src, '-o', os.path.join(tmp, 'x.o')], capture_output=True, text=True)
    return p.returncode, p.stderr + p.stdout
