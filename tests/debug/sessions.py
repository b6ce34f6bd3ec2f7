"""sessions.py PTXLOOM FOLDER CHECKS (--programs FOLDER | --ptx FOLDER) [--device NAME]: sessions of `ptxloom debug`.

CHECKS is a file of sessions; checks.txt explains its lines. Each session is one `ptxloom debug -x SCRIPT --batch` of a
program that was built from FOLDER, or of the kernel in a PTX file. For each check a line is printed, "ok TITLE" or
"not ok TITLE" after "# " lines with what was wanted and what came.
"""
import argparse
import os
import re
import shlex
import subprocess
import tempfile

# Options of `ptxloom exec` that do what the program does with its arguments.
EXEC = {
    "collatz": "--block 32 --buffer out:u32[32] --arg u32=0 --dump out",
    "names": "--block 4 --buffer out:s32[32] --arg f32=2.25 --arg s8=113 --arg u8=1",
    "recurse": "--block 32 --buffer out:s32[32]",
    "symbols": "--block 32 --buffer out:s32[32] --arg s32=3",
    "shapes": "--block 4 --buffer out:f32[4] --arg f64=1.5",
    "cluster": "--grid 4 --block 32 --buffer in:s32[128]=iota --buffer out:s32[128]",
    "moving": "--block 32 --buffer out:s32[64] --arg s32=3",
    "diverge": "--block 32 --buffer out:s32[32] --dump out",
    "fault": "--block 32 --buffer out:s32[32] --buffer link:s32=1,2,3,4,5,-1,7,0 --arg s32=3 --dump out",
    "fault 1": "--block 32 --buffer out:s32[32] --buffer link:s32=1,2,3,4,5,-1,7,0 --arg s32=1 --dump out",
    "deadlock": "--kernel _Z4meetPi --block 64 --buffer out:s32[64]",
    "deadlock 1": "--kernel _Z6lonelyPi --block 32 --buffer out:s32[64]",
}


class Command:
    def __init__(self, check, line):
        self.check = check
        self.line = line  # None: what comes before the first command
        self.wants = []  # (must it be there, text)


def load(path):
    """The sessions: [(program, arguments, [Command])]."""
    sessions, check = [], ""
    for line in open(path):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if re.match(r"\d+ ", line):
            check = re.split(r"\s{2,}\(", line)[0]
            continue
        for piece in re.split(r"\s+;\s+|\s+(?=[>!] )", line):
            if piece[:2] in ("> ", "! "):
                sessions[-1][2][-1].wants.append((piece[0] == ">", piece[2:]))
            elif piece.split()[0] == "run":
                words = piece.split()
                sessions.append((words[1], words[2:], [Command(check, None)]))
            else:
                sessions[-1][2].append(Command(check, piece))
    return sessions


def matches(text, output):
    """Is one of the alternatives there: its words in their order, numbers as a whole?"""
    for alternative in text.split("|"):
        parts = []
        for part in alternative.split():
            p = re.escape(part)
            if re.fullmatch(r"-?[\d.]+,?", part):
                p = r"(?<![\w.])" + re.escape(part.rstrip(",")) + r"(?![\w.]\w)(?!\d)"
            parts.append(p)
        if re.search(".*?".join(parts), output, re.S):
            return True
    return False


def run(options, program, args, commands, scratch):
    """The output of one session, one text for each command."""
    script = os.path.join(scratch, "script")
    with open(script, "w") as f:
        for i, command in enumerate(commands):
            f.write((command.line + "\n" if command.line is not None else "") + f"echo \\n@@{i}\\n\n")
    name = program.removesuffix(".ptx")
    if program.endswith(".ptx"):
        target = [program] + shlex.split(EXEC[name])
    elif options.ptx:
        target = [os.path.join(options.ptx, name + ".ptx")] + shlex.split(EXEC[" ".join([name] + args)])
    else:
        target = ["--", os.path.join(options.programs, name)] + args
    device = ["-d", options.device] if options.device else []
    try:
        done = subprocess.run(
            [options.ptxloom, "debug", *device, "-x", script, "--batch", *target],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
            cwd=options.folder, env=dict(os.environ, PTXLOOM_WORKERS="1"))
        output = done.stdout.decode(errors="replace")
        if done.returncode < 0:
            output += f"\n(ended by signal {-done.returncode})"
    except subprocess.TimeoutExpired as e:
        output = (e.stdout or b"").decode(errors="replace") + "\n(did not end)"
    texts = []
    for i in range(len(commands)):
        found = re.search(rf"^@@{i}$", output, re.M)
        texts.append(output[:found.start()] if found else output)
        output = output[found.end():] if found else ""
    texts[-1] += output
    return texts


def main():
    a = argparse.ArgumentParser()
    a.add_argument("ptxloom")
    a.add_argument("folder")
    a.add_argument("checks")
    a.add_argument("--programs")
    a.add_argument("--ptx")
    a.add_argument("--device")
    options = a.parse_args()
    failed = {}
    with tempfile.TemporaryDirectory() as scratch:
        for program, args, commands in load(options.checks):
            if options.ptx and program.endswith(".ptx"):
                continue
            texts = run(options, program, args, commands, scratch)
            for command, text in zip(commands, texts):
                failed.setdefault(command.check, [])
                for wanted, what in command.wants:
                    # What the program prints of the runtime's errors: `ptxloom exec` has no such thing.
                    if options.ptx and "cuda" in what or matches(what, text) == wanted:
                        continue
                    failed[command.check].append(
                        f"{program}: {command.line}: {'no' if wanted else 'there is'} {what!r} in {text.strip()[-400:]!r}")
    for check, reasons in failed.items():
        for reason in reasons:
            print(f"# {reason}")
        print(f"{'not ok' if reasons else 'ok'} {check}")


main()
