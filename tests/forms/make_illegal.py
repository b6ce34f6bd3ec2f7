#!/usr/bin/env python3
"""Makes the illegal and the surprising-but-legal PTX modules of this folder, with ptxas as the judge.

usage: make_illegal.py PTXAS OUTDIR [--check]
Writes OUTDIR/legal/{mutated,version}_*.ptx and OUTDIR/illegal/*.ptx; --check only asks ptxas again about the files
that are there. Every illegal statement stands alone on its line and ends in `// error: <category>`.
The choice is deterministic (a hash of the text decides), so the same ptxas makes the same files.
"""
import collections, glob, os, re, subprocess, sys, tempfile, zlib
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gen_forms as g
import mutate

ISA = '9.0'
GROUPS = ['sm_75', 'sm_80', 'sm_86', 'sm_89', 'sm_90a', 'sm_100a', 'sm_103a', 'sm_120a']
REFUSERS = ['sm_75', 'sm_80', 'sm_90a', 'sm_100a', 'sm_120a']
# Plain targets, to see what needs an older, newer or architecture specific chip.
PLAIN = ['sm_30', 'sm_50', 'sm_60', 'sm_70', 'sm_75', 'sm_80', 'sm_86', 'sm_89', 'sm_90', 'sm_100', 'sm_120']
# Every PTX version with the most capable target that it knows.
VERSIONS = [('6.3', 'sm_75'), ('6.4', 'sm_75'), ('6.5', 'sm_75'), ('7.0', 'sm_80'), ('7.1', 'sm_86'), ('7.2', 'sm_86'),
            ('7.3', 'sm_86'), ('7.4', 'sm_86'), ('7.5', 'sm_86'), ('7.6', 'sm_86'), ('7.7', 'sm_86'), ('7.8', 'sm_90'),
            ('8.0', 'sm_90a'), ('8.1', 'sm_90a'), ('8.2', 'sm_90a'), ('8.3', 'sm_90a'), ('8.4', 'sm_90a'),
            ('8.5', 'sm_90a'), ('8.6', 'sm_100a'), ('8.7', 'sm_100a'), ('8.8', 'sm_103a')]
BATCH = 400             # statements per ptxas run
PER_FAMILY_BASES = 9    # forms mutated per family
PER_FAMILY = 16         # illegal mutants kept per family and target; fewer fatal and accepted ones
LONG = 420              # characters: longer illegal statements are thinned out
ERR = re.compile(r', line (\d+); (error|fatal)\s*: (.*)')
# A warning that names the line, then an error that names none.
NARROW = re.compile(r"uses (32-bit address) on line '(\d+)'")


def rank(text):
    """A stable pseudo-random order."""
    return zlib.crc32(text.encode())


def module(version, target, fams):
    """Text and line map of a module; old versions know no 128-bit registers."""
    v = tuple(int(x) for x in version.split('.'))
    number = int(re.sub(r'\D', '', target))
    return g.module(version, target, fams, q128=v >= (8, 3) and number >= 70)


class Judge:
    def __init__(self, ptxas, tmp):
        self.ptxas, self.tmp, self.runs = ptxas, tmp, 0

    def run(self, target, text, full=False, extra=()):
        """Exit status and [(line, kind, message)]; without full, ptxas parses and checks but makes no code."""
        self.runs += 1
        src = os.path.join(self.tmp, 'x.ptx')
        with open(src, 'w') as f:
            f.write(text)
        number = int(re.sub(r'\D', '', target))
        arch = target if number >= 75 else 'sm_75'
        if not full:
            arch = arch.replace('sm_', 'compute_')
        p = subprocess.run([self.ptxas, *extra, '-arch=' + arch, src, '-o', os.path.join(self.tmp, 'x.o')],
                           capture_output=True, text=True, errors='replace')
        out = p.stderr + p.stdout
        errs = [(int(m[0]), m[1], m[2]) for m in ERR.findall(out)]
        return p.returncode, errs + [(int(m[1]), 'error', m[0]) for m in NARROW.findall(out)], out

    def check_batch(self, version, target, pairs, out):
        """pairs: [(family, statement)]; out[pair] = (kind, message) for the refused ones."""
        work = [pairs]
        while work:
            cur = work.pop()
            if not cur:
                continue
            fams = collections.OrderedDict()
            for fam, st in cur:
                fams.setdefault(fam, []).append(st)
            text, lines = module(version, target, fams)
            rc, errs, raw = self.run(target, text)
            stray = [e for e in errs if e[0] not in lines]
            fatal = [e for e in errs if e[1] == 'fatal' and e[0] in lines]
            if stray or rc < 0 or (rc != 0 and not errs):
                # An error that belongs to no statement, or a crash: find the statement that causes it.
                if len(cur) == 1:
                    out[cur[0]] = ('stray', (stray[0][2] if stray else raw.strip()))
                else:
                    h = len(cur) // 2
                    work += [cur[h:], cur[:h]]
                continue
            if fatal:
                # Nothing after a fatal error was seen, and symbols were not yet looked up before it.
                bad = lines[fatal[0][0]]
                out[bad] = ('fatal', fatal[0][2])
                order = [lines[k] for k in sorted(lines)]
                i = order.index(bad)
                work += [order[i + 1:], order[:i]]
                continue
            for ln, kind, msg in errs:
                out.setdefault(lines[ln], (kind, msg))

    def refused(self, version, target, pairs):
        out = {}
        pairs = list(dict.fromkeys(pairs))
        for i in range(0, len(pairs), BATCH):
            self.check_batch(version, target, pairs[i:i + BATCH], out)
        return out


def family_order(pairs):
    fams = collections.OrderedDict()
    for fam, st in pairs:
        fams.setdefault(fam, []).append(st)
    return fams


def write(path, version, target, entries, title):
    """entries: [((family, statement), category or None)]; returns the line map, which the title shifts by one."""
    cats = dict(entries)
    text, lines = module(version, target, family_order([p for p, _ in entries]))
    rows = text.split('\n')
    for ln, pair in lines.items():
        if cats[pair]:
            rows[ln - 1] += ' // error: ' + cats[pair]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write('// ' + title + '\n' + '\n'.join(rows))
    return lines


def category(msg):
    """Our short word for what ptxas complains about."""
    for pat, word in mutate.REASONS:
        if re.search(pat, msg):
            return word
    return 'form'


def short(msg):
    return re.sub(r"'[^']*'|\d+", '#', msg)


def thin(pairs, limit=LONG, keep=6):
    """Drops most of the very long statements (whole register files), per opcode."""
    seen = collections.Counter()
    out = []
    for fam, st in sorted(pairs, key=lambda p: rank(p[1])):
        if len(st) > limit:
            k = (fam, len(st) // 600)
            seen[k] += 1
            if seen[k] > keep:
                continue
        out.append((fam, st))
    kept = set(out)
    return [p for p in pairs if p in kept]


def candidates(j, out):
    """Forms of the generator that a target refuses. Returns {pair: first group that accepts it}."""
    every = [(fam, st) for fam, forms in g.FORMS.items() for st in forms]
    verdict = {t: j.refused(ISA, t, every) for t in GROUPS}
    first = {}
    for p in every:
        for t in GROUPS:
            if p not in verdict[t]:
                first[p] = t
                break
    chosen = collections.defaultdict(list)
    for p in thin(every):
        ts = [t for t in REFUSERS if p in verdict[t] and verdict[t][p][0] == 'error']
        if p not in first:
            ts = ts[-3:]        # refused everywhere: the newest chips say why best
        if ts:
            t = ts[rank(p[1]) % len(ts)]
            chosen[t].append((p, category(verdict[t][p][1])))
    for t, entries in chosen.items():
        write(f'{out}/illegal/forms_{t.replace("_", "")}.ptx', ISA, t, entries,
              f'{len(entries)} statements that ptxas 13.0 refuses for this target')
    print('candidates', len(every), 'illegal written', sum(map(len, chosen.values())), flush=True)
    return first


def targets(j, out, first):
    """Legal forms on a target that is too old: one file per plain target."""
    forms = list(first)
    total = 0
    place = {p: i for i, p in enumerate(forms)}
    accepted = {t: set(forms) - set(j.refused(ISA, t, forms)) for t in PLAIN}
    used = set()
    for t in PLAIN:
        bad = [p for p in forms if p not in accepted[t] and p not in used]
        ref = j.refused(ISA, t, bad)
        pick, seen = [], collections.Counter()
        for p in sorted(bad, key=lambda p: rank(p[1] + t)):
            k = (p[0], short(ref[p][1]))
            if ref[p][0] == 'error' and len(p[1]) < 200 and seen[k] < 1 and category(ref[p][1]) in ('target', 'form'):
                seen[k] += 1
                pick.append((p, 'target'))
        used |= {p for p, _ in pick}
        pick.sort(key=lambda e: place[e[0]])
        total += len(pick)
        write(f'{out}/illegal/target_{t.replace("_", "")}.ptx', ISA, t, pick,
              f'{len(pick)} statements that need another target than this one')
    print('too old target', total, flush=True)


def versions(j, out, first):
    """Forms at the PTX version that brings them (legal) and one version before (illegal)."""
    forms = list(first)
    place = {p: i for i, p in enumerate(forms)}
    ok, refusal = {}, {}
    for v, t in VERSIONS:
        refusal[v] = j.refused(v, t, forms)
        ok[v] = set(forms) - set(refusal[v])
    nlegal = nill = 0
    used, legal_seen = set(), collections.Counter()
    for i, (v, t) in enumerate(VERSIONS):
        target_ok = set(forms) - set(j.refused(ISA, t, forms))
        bad = [p for p in forms if p in target_ok and p not in ok[v] and p not in used and refusal[v][p][0] == 'error']
        pick, seen = [], collections.Counter()
        later = VERSIONS[i + 1][0] if i + 1 < len(VERSIONS) else ISA
        for p in sorted(bad, key=lambda p: rank(p[1] + v)):
            k = (p[0], p[1].split()[0].split('.')[0], short(refusal[v][p][1]))
            new = later == ISA or p in ok[later]
            if len(p[1]) < 300 and seen[k] < (3 if new else 1):
                seen[k] += 1
                pick.append((p, 'version'))
        used |= {p for p, _ in pick}
        pick.sort(key=lambda e: place[e[0]])
        nill += len(pick)
        tag = v.replace('.', '_')
        if pick:
            write(f'{out}/illegal/version_{tag}.ptx', v, t, pick,
                  f'{len(pick)} statements that need a later PTX version')
        fresh = [p for p in forms if p in ok[v] and (i == 0 or p not in ok[VERSIONS[i - 1][0]]) and len(p[1]) < 300]
        good = []
        for p in sorted(fresh, key=lambda p: rank(p[1])):
            k = (v, p[0], p[1].split()[0].split('.')[0])
            legal_seen[k] += 1
            if legal_seen[k] <= (4 if i else 2):
                good.append((p, None))
        good.sort(key=lambda e: place[e[0]])
        good = full_legal(j, v, t, good)
        nlegal += len(good)
        if good:
            write(f'{out}/legal/version_{tag}.ptx', v, t, good,
                  f'{len(good)} statements legal from this PTX version on')
    print('version illegal', nill, 'legal', nlegal, flush=True)


def full_legal(j, version, target, entries):
    """Only the entries for which ptxas also makes code."""
    out, work = [], [entries]
    while work:
        cur = work.pop()
        if not cur:
            continue
        text, _ = module(version, target, family_order([p for p, _ in cur]))
        if j.run(target, text, full=True)[0] == 0:
            out += cur
        elif len(cur) > 1:
            h = len(cur) // 2
            work += [cur[h:], cur[:h]]
    keep = {p for p, _ in out}
    entries = [e for e in entries if e[0] in keep]
    # Together in one kernel a few contradict each other (register counts, say): drop until they do not.
    for fam in dict.fromkeys(p[0] for p, _ in entries):
        mine = [e for e in entries if e[0][0] == fam]
        while mine:
            text, _ = module(version, target, family_order([p for p, _ in mine]))
            if j.run(target, text, full=True)[0] == 0:
                break
            entries.remove(mine.pop())
    return entries


def choose(cat, ref):
    """A diverse sample of the mutants: illegal, fatal and accepted ones, each [(pair, category or None)]."""
    bad, syn, good = [], [], []
    seen, size = collections.Counter(), collections.Counter()
    for p in sorted(cat, key=lambda p: rank(p[1])):
        kind, msg = ref.get(p, ('ok', ''))
        if kind == 'stray':
            continue
        key = (kind, p[0], cat[p], short(msg))
        opcode = (kind, re.match(r'[^. ]+', p[1])[0], cat[p], short(msg))
        limit = {'error': PER_FAMILY, 'fatal': PER_FAMILY // 4, 'ok': PER_FAMILY * 3 // 4}[kind]
        if kind == 'ok' and cat[p] not in mutate.SURPRISING and rank(p[1]) % 3:
            continue
        if seen[key] >= 1 or seen[opcode] >= 3 or size[kind, p[0]] >= limit:
            continue
        seen[key] += 1
        seen[opcode] += 1
        size[kind, p[0]] += 1
        if kind == 'ok':
            good.append((p, None))
        else:
            (syn if kind == 'fatal' else bad).append((p, cat[p]))
    return bad, syn, good


def settle(j, path, target, entries, title):
    """Writes the file; statements that ptxas judges otherwise in this company are dropped."""
    while True:
        lines = write(path, ISA, target, entries, f'{len(entries)} {title}')
        diff = check_illegal(j, path)
        if not diff:
            return entries
        drop = {lines[ln - 1] for ln in diff if ln - 1 in lines} or {entries[0][0]}
        entries = [e for e in entries if e[0] not in drop]


def mutations(j, out, first):
    """Mutates a sample of the legal forms of every family; ptxas says which mutants are illegal."""
    known = {st for forms in g.FORMS.values() for st in forms}
    by_group = collections.defaultdict(list)
    fams = collections.defaultdict(list)
    for p in first:
        if len(p[1]) < 260 and not p[1].startswith('{'):
            fams[p[0]].append(p)
    for fam, pairs in fams.items():
        pairs = sorted(pairs, key=lambda p: rank(p[1]))
        chosen, picked = [], collections.Counter()
        for p in pairs:     # one of each shape first, then the next of each
            k = mutate.shape(p[1])
            picked[k] += 1
            if picked[k] <= 4:
                chosen.append((picked[k], rank(p[1]), p))
        for _, _, p in sorted(chosen)[:PER_FAMILY_BASES]:
            by_group[first[p]].append(p)
    n_ill = n_syn = n_leg = n_all = 0
    for t in GROUPS:
        if not by_group[t]:
            continue
        cat = {}
        for fam, st in by_group[t]:
            for c, m in mutate.mutants(st):
                if c in mutate.SYNTAX and rank(m) % 3:
                    continue    # each costs a run of its own
                if m not in known and len(m) < 400:
                    cat.setdefault((fam, m), c)
        n_all += len(cat)
        ref = j.refused(ISA, t, sorted(cat, key=lambda p: cat[p] in mutate.SYNTAX))
        bad, syn, good = choose(cat, ref)
        order = {p: i for i, p in enumerate(cat)}
        for lst in (bad, syn, good):
            lst.sort(key=lambda e: order[e[0]])
        good = full_legal(j, ISA, t, good)
        tag = t.replace('_', '')
        bad = settle(j, f'{out}/illegal/mutated_{tag}.ptx', t, bad,
                     'statements with one defect each, refused by ptxas 13.0')
        syn = settle(j, f'{out}/illegal/syntax_{tag}.ptx', t, syn,
                     'statements at each of which ptxas 13.0 gives up parsing')
        write(f'{out}/legal/mutated_{tag}.ptx', ISA, t, good,
              f'{len(good)} unusual spellings, accepted by ptxas 13.0')
        n_ill += len(bad); n_syn += len(syn); n_leg += len(good)
        print(t, len(by_group[t]), 'forms', len(cat), 'mutants', len(bad), 'illegal', len(syn), 'syntax',
              len(good), 'legal', flush=True)
    print('mutants', n_all, 'illegal', n_ill, 'syntax', n_syn, 'legal', n_leg, flush=True)


def header(text):
    return re.search(r'^\.target (\w+)', text, re.M).group(1)


def check_illegal(j, path):
    """Every marked line is refused and no other; fatal ones are blanked one after the other."""
    rows = open(path).read().split('\n')
    target = header('\n'.join(rows))
    want = {i + 1 for i, r in enumerate(rows) if '// error' in r}
    got = set()
    while True:
        rc, errs, raw = j.run(target, '\n'.join(rows))
        if rc < 0:      # a crash: blame the first marked line that was not reached
            return set(sorted(want - got - {e[0] for e in errs})[:1]) or want
        fatal = [e[0] for e in errs if e[1] == 'fatal']
        got |= {e[0] for e in errs}
        if not fatal:
            break
        rows[fatal[0] - 1] = ''
    return want ^ got


def check(j, out):
    """Asks ptxas again about every file; returns the number of files it disagrees with."""
    bad = 0
    for path in sorted(glob.glob(out + '/legal/[!n]*.ptx')):  # newer_* are another ptxas's
        text = open(path).read()
        rc, errs, raw = j.run(header(text), text, full=True, extra=['-c'] if '_rdc_' in path else [])
        if rc:
            bad += 1
            print('not legal:', path, raw[:200])
    for path in sorted(glob.glob(out + '/illegal/[!n]*.ptx')):
        diff = check_illegal(j, path)
        if diff:
            bad += 1
            print('marks differ:', path, sorted(diff)[:10])
    print('files that ptxas disagrees with:', bad)
    return bad


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    ptxas, out = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as tmp:
        j = Judge(ptxas, tmp)
        if len(sys.argv) == 3:
            for old in glob.glob(out + '/illegal/[!n]*.ptx') + glob.glob(out + '/legal/[mv]*_*.ptx'):
                os.remove(old)
            first = candidates(j, out)
            targets(j, out, first)
            versions(j, out, first)
            mutations(j, out, first)
        bad = check(j, out)
        print(j.runs, 'runs of ptxas')
        sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
