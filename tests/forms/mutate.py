"""Single-defect mutations of a PTX statement. Each mutant says what was changed; whether that makes it illegal is
for ptxas to say (many changes of spelling are legal).
"""
import re
import zlib

# Our word for a refusal, by what the message of ptxas speaks of.
REASONS = [(r'requires \.?target|not supported on \.target|for arch|requires .target', 'target'),
           (r'PTX ISA|\.version', 'version'),
           (r'[Rr]ounding', 'rounding'),
           (r'[Mm]odifier', 'modifier'),
           (r'Arguments mismatch|[Aa]rgument', 'operands'),
           (r'instruction types|[Tt]ype', 'type'),
           (r'[Ss]pace', 'space'),
           (r'[Vv]ector', 'vector'),
           (r'Operation', 'operation'),
           (r'[Cc]oordinate', 'coordinates'),
           (r'syntax', 'syntax')]

# Mutations that ptxas answers with a fatal syntax error.
SYNTAX = {'syntax', 'sink', 'guard', 'address arithmetic'}
# Accepted mutants of these are the interesting ones: spellings that a strict reader would refuse.
SURPRISING = {'modifier order', 'modifier twice', 'modifier missing', 'modifier foreign', 'operand type', 'type',
              'literal kind', 'operand count', 'sink', 'negation', 'state space', 'immediate range', 'vector count',
              'special register', 'modifier value'}

TYPES = ('b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64 f16x2 bf16 bf16x2 tf32 f32x2 u16x2 s16x2 pred '
         'e4m3 e5m2 e4m3x2 e5m2x2').split()
SPACES = ['global', 'shared', 'local', 'const', 'param', 'shared::cta', 'shared::cluster']
# Modifiers of other instructions, in families of values that exclude one another.
SIBLINGS = [['rn', 'rz', 'rm', 'rp', 'rna', 'rs'], ['rni', 'rzi', 'rmi', 'rpi'],
            ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs', 'equ', 'ltu', 'num', 'nan'],
            ['up', 'down', 'bfly', 'idx'], ['all', 'any', 'uni', 'ballot'], ['cta', 'cluster', 'gpu', 'sys'],
            ['relaxed', 'acquire', 'release', 'acq_rel', 'weak', 'volatile', 'sc'],
            ['add', 'min', 'max', 'and', 'or', 'xor', 'inc', 'dec', 'exch', 'cas', 'popc'],
            ['ca', 'cg', 'cs', 'lu', 'cv', 'wb', 'wt'], ['v2', 'v4', 'v8', 'v3'], ['x1', 'x2', 'x4', 'x8', 'x3'],
            ['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', '4d', '5d'], ['trap', 'clamp', 'zero', 'wrap'],
            ['row', 'col'], ['m16n8k8', 'm16n8k16', 'm8n8k4', 'm16n16k16', 'm8n32k16', 'm8n8', 'm16n8k32'],
            ['lo', 'hi', 'wide'], ['width', 'height', 'depth'], ['l', 'r'], ['b', 'p'],
            ['cta_group::1', 'cta_group::2'], ['tile', 'im2col'], ['approx', 'full']]
FOREIGN = ('ftz sat rn rz rni cc relu approx NaN wide lo sync aligned uni volatile relaxed gpu sys v2 v4 nc ca '
           'L2::128B L1::no_allocate L2::cache_hint noftz noinc x2 trans satfinite shiftamt xorsign unified trap '
           'row 2d').split()
REGS = {'%h': 31, '%r': 131, '%rd': 31, '%f': 131, '%fd': 31, '%p': 15, '%b': 7, '%rq': 7}
OTHER_TYPE = {'%r': '%f', '%f': '%r', '%rd': '%fd', '%fd': '%rd', '%p': '%r', '%h': '%b', '%b': '%h', '%rq': '%rd'}
OTHER_SIZE = {'%r': ['%rd', '%h'], '%f': ['%fd', '%h'], '%rd': ['%r', '%h'], '%fd': ['%f'], '%h': ['%r', '%b'],
              '%b': ['%h'], '%rq': ['%r'], '%p': ['%h']}
REG = re.compile(r'^(%(?:rd|rq|fd|[hrfpb]))(\d+)$')
INT = re.compile(r'^-?(0[xX][0-9a-fA-F]+|\d+)U?$')
FLOAT = re.compile(r'^-?(0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|\d*\.\d*(e-?\d+)?|\d+[eE][+-]?\d+)$')
SYMBOLS = {'gbuf': 'sbuf', 'sbuf': 'gbuf', 'cbuf': 'lbuf', 'lbuf': 'cbuf', 'prm0': 'gbuf', 'prm1': 'sbuf',
           'tref': 'sref', 'sref': 'tref'}
SPACE_SYMBOL = {'global': 'sbuf', 'shared': 'gbuf', 'local': 'gbuf', 'const': 'lbuf', 'param': 'cbuf'}


def split(text):
    """Top-level operands of a list."""
    out, depth, cur = [], 0, ''
    for ch in text:
        depth += ch in '[{('
        depth -= ch in ']})'
        if ch == ',' and depth == 0:
            out.append(cur.strip())
            cur = ''
        else:
            cur += ch
    return out + [cur.strip()] if cur.strip() else out


def parse(st):
    """(guard, opcode, modifiers, operands)"""
    m = re.match(r'^(@!?\S+ )?([^ ]+) ?(.*)$', st)
    words = re.split(r'\.', m[2])
    return m[1] or '', words[0], words[1:], split(m[3])


def build(guard, op, mods, args):
    return guard + '.'.join([op] + mods) + (' ' + ','.join(args) if args else '')


def kind(arg):
    if arg.startswith('['):
        return 'addr'
    if arg.startswith('{'):
        return 'vec'
    if REG.match(arg):
        return REG.match(arg)[1]
    if INT.match(arg):
        return 'int'
    if FLOAT.match(arg):
        return 'float'
    return 'other'


def shape(st):
    """Statements of one shape differ in values only: opcode, operand kinds and the presence of a few modifiers."""
    _, op, mods, args = parse(st)
    return op, tuple(kind(a) for a in args), tuple(m for m in mods if '::' in m or m in SPACES)[:2]


def pick(seq, seed, n=1):
    """n members of seq, chosen by the seed text."""
    seq = list(seq)
    out = []
    h = zlib.crc32(seed.encode())
    while seq and len(out) < n:
        h = (h * 1103515245 + 12345) & 0x7fffffff
        out.append(seq.pop(h % len(seq)))
    return out


def of_register(arg, cls, num):
    for new in OTHER_SIZE[cls]:
        yield 'operand size', new + str(min(int(num), REGS[new]))
    new = OTHER_TYPE[cls]
    yield 'operand type', new + str(min(int(num), REGS[new]))
    if cls == '%r':
        yield 'operand type', '%fd1'
    if cls != '%p':
        yield 'predicate for register', '%p1'
    yield 'literal kind', '7' if cls in ('%f', '%fd') else '1.5'
    yield 'immediate for register', '1.5' if cls in ('%f', '%fd') else '1'
    yield 'address for register', '[' + arg + ']'
    yield 'vector for register', '{' + arg + '}'
    yield 'sink', '_'
    yield 'negation', '-' + arg
    yield 'negation', '!' + arg
    yield 'special register', '%tid.x'
    yield 'symbol for register', 'gbuf'
    yield 'register pair', arg + '|%p7'
    yield 'component', arg + '.x'


def of_address(arg, seed):
    inner = arg[1:-1]
    yield 'register for address', inner.split(',')[0].split('+')[0]
    yield 'literal for address', '0'
    yield 'address base', '[%f1]'
    yield 'address base', '[%h1]'
    yield 'address base', '[%p1]'
    if ',' not in inner:
        yield 'address arithmetic', '[' + inner + '-4]'
        yield 'address arithmetic', '[' + inner.split('+')[0] + '+%r9]'
        yield 'immediate address', '[0x1000]'
        yield 'address offset', '[' + inner.split('+')[0] + '+1.5]'
        yield 'offset spelling', '[' + inner.split('+')[0] + '+8-4]'
        yield 'offset spelling', '[' + inner.split('+')[0] + '+(1<<3)]'
        yield 'vector for address', '{' + inner + '}'
    else:
        head, tail = split(inner)[0], split(inner)[1:]
        yield 'operand count', '[' + head + ']'
        for i, t in enumerate(tail):
            if t.startswith('{'):
                parts = split(t[1:-1])
                rest = tail[:i], tail[i + 1:]
                for c, new in of_vector(parts):
                    yield c, '[' + ','.join([head] + rest[0] + [new] + rest[1]) + ']'
                for c, new in of_operand(parts[0], seed):
                    vector = '{' + ','.join([new] + parts[1:]) + '}'
                    yield c, '[' + ','.join([head] + rest[0] + [vector] + rest[1]) + ']'
    base = re.split(r'[+,]', inner)[0]
    if base in SYMBOLS:
        yield 'space of symbol', '[' + SYMBOLS[base] + inner[len(base):] + ']'
        yield 'brackets missing', inner
    elif base.startswith('%rd') or base.startswith('%r'):
        for s in pick(['gbuf', 'sbuf', 'lbuf', 'cbuf', 'prm0'], seed, 3):
            yield 'space of symbol', '[' + s + inner[len(base):] + ']'
        other = '%r' + base[3:] if base.startswith('%rd') else '%rd' + str(min(int(base[2:]), 31))
        yield 'address width', '[' + other + inner[len(base):] + ']'


def of_vector(parts):
    if len(parts) > 1:
        yield 'vector count', '{' + ','.join(parts[:-1]) + '}'
        yield 'vector count', '{' + ','.join(parts[:len(parts) // 2]) + '}'
    yield 'vector count', '{' + ','.join(parts + [parts[-1]]) + '}'
    yield 'vector count', '{' + ','.join(parts + parts) + '}'
    yield 'register for vector', parts[0]


def of_integer(arg):
    yield 'register for immediate', '%r9'
    yield 'register for immediate', '%rd9'
    yield 'literal kind', '1.5'
    yield 'literal kind', '0f3F800000'
    for v in ('-1', '3', '16', '33', '256', '100000', '0x100000000'):
        if v != arg:
            yield 'immediate range', v
    yield 'predicate for register', '%p1'
    yield 'sink', '_'
    yield 'address for register', '[' + arg + ']'


def of_operand(arg, seed):
    m = REG.match(arg)
    if m:
        yield from of_register(arg, m[1], m[2])
    elif arg.startswith('['):
        yield from of_address(arg, seed)
    elif arg.startswith('{'):
        parts = split(arg[1:-1])
        yield from of_vector(parts)
        i = zlib.crc32(seed.encode()) % len(parts)
        for c, new in of_operand(parts[i], seed):
            yield c, '{' + ','.join(parts[:i] + [new] + parts[i + 1:]) + '}'
    elif INT.match(arg):
        yield from of_integer(arg)
    elif FLOAT.match(arg):
        yield 'literal kind', '1'
        yield 'operand type', '%r9'
    elif arg.startswith('!'):
        yield 'negation', '-' + arg[1:]
        yield 'operand type', '!%r9'
        yield 'predicate for register', '%r9'
    elif '|' in arg:
        a, b = arg.split('|', 1)
        yield 'operand count', a
        yield 'operand count', arg + '|%p9'
        yield 'register pair', b + '|' + a
        yield 'operand type', a + '|%r9'
        yield 'sink', '_|_'
        yield 'sink', '_'
        for c, new in of_operand(a, seed):
            if '|' not in new:
                yield c, new + '|' + b
    elif arg == '_':
        for new in ('%p9', '%r9', '%f9', '%rd9'):
            yield 'operand type', new
    elif re.match(r'^%[a-z]', arg):
        yield 'undefined symbol', '%no_such'
        yield 'component', arg + '.w'
    elif arg in SYMBOLS:
        yield 'space of symbol', SYMBOLS[arg]


def of_modifiers(op, mods, seed):
    """(category, modifiers) variants."""
    for i, m in enumerate(mods):
        rest = mods[:i], mods[i + 1:]
        yield 'modifier missing', rest[0] + rest[1]
        yield 'modifier twice', rest[0] + [m, m] + rest[1]
        if i + 1 < len(mods):
            yield 'modifier order', rest[0] + [mods[i + 1], m] + mods[i + 2:]
        if i + 2 < len(mods):
            yield 'modifier order', rest[0] + rest[1] + [m]
        if m in TYPES:
            for t in pick([t for t in TYPES if t != m], seed + str(i), 7):
                yield 'type', rest[0] + [t] + rest[1]
            yield 'modifier unknown', rest[0] + [m + 'x3'] + rest[1]
        elif m in SPACES:
            for s in SPACES:
                if s != m:
                    yield 'state space', rest[0] + [s] + rest[1]
        else:
            fams = [s for s in SIBLINGS if m in s]
            for f in fams[:2]:
                for s in pick([s for s in f if s != m], seed + m, 4):
                    yield 'modifier value', rest[0] + [s] + rest[1]
            yield 'modifier unknown', rest[0] + [m + 'q'] + rest[1]
    for f in pick(FOREIGN, seed, 8):
        if f not in mods:
            at = zlib.crc32((seed + f).encode()) % (len(mods) + 1)
            yield 'modifier foreign', mods[:at] + [f] + mods[at:]
    yield 'state space', ['global'] + mods
    yield 'state space', ['shared'] + mods
    if mods:
        yield 'modifier order', mods[::-1]


def mutants(st):
    """(category, statement) of every single-defect variant; duplicates possible."""
    guard, op, mods, args = parse(st)
    for c, m in of_modifiers(op, mods, st):
        yield c, build(guard, op, m, args)
    for i, a in enumerate(args):
        for c, new in of_operand(a, st + str(i)):
            yield c, build(guard, op, mods, args[:i] + [new] + args[i + 1:])
    if args:
        yield 'operand count', build(guard, op, mods, args[:-1])
        yield 'operand count', build(guard, op, mods, args + ['%r9'])
        yield 'operand count', build(guard, op, mods, args + ['0'])
        yield 'operand count', build(guard, op, mods, args[:1] + args)
        yield 'operand count', build(guard, op, mods, [])
    else:
        yield 'operand count', build(guard, op, mods, ['%r9'])
    for i in range(len(args) - 1):
        yield 'operand order', build(guard, op, mods, args[:i] + [args[i + 1], args[i]] + args[i + 2:])
    regs = re.findall(r'%(?:rd|rq|fd|[hrfpb])\d+', st)
    if regs:
        tag = str(zlib.crc32(st.encode()) % 100000)
        yield 'undefined symbol', st.replace(regs[-1], '%no' + tag, 1) if st.count(regs[-1]) == 1 else st
        yield 'undefined symbol', st.replace(regs[0], regs[0].rstrip('0123456789') + '500', 1)
    yield 'unknown opcode', build(guard, op + 'x', mods, args)
    yield 'guard', '@%r1 ' + st if not guard else '@' + st
    yield 'guard', '@%p2 ' + st if not guard else '@%p2 @' + st
    if zlib.crc32(st.encode()) % 4 == 0:
        yield 'guard', '@1 ' + st
        yield 'guard', '@!!%p1 ' + st
        yield 'syntax', st + ','
        yield 'syntax', st.replace(',', ' ', 1)
        yield 'syntax', st.replace(']', '', 1)
        yield 'syntax', st.replace('}', '', 1)
        yield 'syntax', st.replace('.', '..', 1)
        yield 'syntax', st.replace('%', '%%', 1)
        yield 'syntax', st.replace(' ', ' ,', 1)
