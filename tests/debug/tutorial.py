"""tutorial.py DOCUMENT PTXLOOM [--update | --compiler COMMAND CHANGES]: are the sessions of a document true?

Blocks ```debugger show sessions: "$ ptxloom debug ..." begins one, which further blocks continue; after "(ptxloom) COMMAND"
come the lines that it prints. In them "..." stands for anything, and a line of it for any lines; how many blanks there are
does not matter. Further lines of a command begin with ">". Programs are built by the lines "$ ptxloom cc" of ```sh blocks; the current folder is one for that.
With --compiler these lines build with that COMMAND instead of `ptxloom cc`; CHANGES says which lines it changes: after
"> COMMAND" lines "- " of the document and "+ " what stands in their place. With --update the document gets what commands print now. Prints "ok" or "not ok" and the command for each, with "# " lines before that say what was wrong.
"""
import os
import re
import shlex
import subprocess
import sys


def blocks(path):
    kind = None
    for number, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if line.startswith("```"):
            kind = line[3:] if kind is None else None
        elif kind:
            yield number, kind, line


class Command:
    def __init__(self, number, line):
        self.number = number
        self.line = line  # None: what comes before the first command
        self.last = number  # of its own lines in the document
        self.expected = []


def read(path):
    """The commands that build, and the sessions: [(start, [Command])]."""
    builds, sessions = [], []
    for number, kind, line in blocks(path):
        if kind == "sh" and line.startswith("$ ptxloom cc "):
            builds.append(line[2:])
        if kind != "debugger":
            continue
        if line.startswith("$ "):
            sessions.append((line[2:], [Command(number, None)]))
        elif line.startswith("(ptxloom) "):
            sessions[-1][1].append(Command(number, line[10:]))
        elif line.startswith(">"):
            sessions[-1][1][-1].line += "\n" + line[1:]
            sessions[-1][1][-1].last = number
        else:
            sessions[-1][1][-1].expected.append((number, line))
    return builds, sessions


def change(path, sessions):
    """Put what another compiler makes of them in the place of lines; returns those that no command has."""
    edits, unused = [], []
    for line in open(path):
        line = line.rstrip("\n")
        if line.startswith("> "):
            edits.append((line[2:], [], []))
        elif line[:2] in ("- ", "+ "):
            edits[-1][1 + (line[0] == "+")].append(squeeze(line[2:]))
    for name, old, new in edits:
        used = False
        for command in (c for _, commands in sessions for c in commands if c.line == name):
            lines = [squeeze(text) for _, text in command.expected]
            at = next((i for i in range(len(lines)) if lines[i:i + len(old)] == old), None)
            if at is not None:
                command.expected[at:at + len(old)] = [(0, text) for text in new]
                used = True
        if not used:
            unused.append(name)
    return unused


def squeeze(line):
    return " ".join(line.split())


def pattern(expected):
    parts = []
    for line in map(squeeze, expected):
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, line.split("..."))) + "\n")
    return "".join(parts)


def run(ptxloom, start, commands):
    """What each command printed."""
    with open("script", "w") as f:
        for i, command in enumerate(commands):
            f.write((command.line + "\n" if command.line else "") + f"echo \\n@@{i}\\n\n")
    words = shlex.split(start)
    done = subprocess.run(
        [ptxloom, "debug", "--batch", "-x", "script"] + words[2:],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    output, texts = done.stdout.decode(errors="replace"), []
    for i in range(len(commands)):
        text, _, output = output.partition(f"\n@@{i}\n")
        texts.append([line.rstrip().expandtabs() for line in text.splitlines() if line.strip()])
    return texts


def is_true(command, text):
    got = "".join(squeeze(line) + "\n" for line in text)
    want = pattern([line for _, line in command.expected if line.strip()])
    return re.fullmatch(want, got) is not None


def update(document, found):
    """Put what commands have printed where what they should have printed stands."""
    with open(document) as f:
        lines = dict(enumerate(f.read().splitlines(), 1))
    for command, text in found:
        for number, _ in command.expected:
            del lines[number]
        lines[command.last] = "\n".join([lines[command.last]] + text)
    with open(document, "w") as f:
        f.write("\n".join(lines[n] for n in sorted(lines)) + "\n")


def main(document, ptxloom, how="", compiler="", changes=None):
    builds, sessions = read(document)
    for name in change(changes, sessions) if changes else []:
        print(f"not ok {os.path.basename(changes)}: {name}: such lines are in the document")
    for build in builds:
        if how == "--compiler":
            build = build.replace("ptxloom cc", compiler, 1)
        subprocess.run(build, shell=True, check=True)
    wrong = []
    for start, commands in sessions:
        for command, text in zip(commands, run(ptxloom, start, commands)):
            if command.line is None:
                continue
            good = is_true(command, text)
            if not good:
                wrong.append((command, text))
                for _, line in command.expected:
                    print("# expected:", line)
                for line in text:
                    print("# got:     ", line)
            print("ok" if good else "not ok", f"{os.path.basename(document)}:{command.number}: {command.line.splitlines()[0]}")
    if how == "--update":
        update(document, wrong)


main(*sys.argv[1:])
