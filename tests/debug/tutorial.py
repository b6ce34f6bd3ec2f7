"""tutorial.py DOCUMENT PTXLOOM: are the sessions of a document true?

Blocks ```debugger show sessions: "$ ptxloom debug ..." begins one, which further blocks continue; after "(ptxloom) COMMAND"
come the lines that it prints. In them "..." stands for anything, and a line of it for any lines; how many blanks there are
does not matter. Programs are built by the lines "$ ptxloom cc" of ```sh blocks; the current folder is one for that.
Prints "ok" or "not ok" and the command for each, with "# " lines before that say what was wrong.
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


def read(path):
    """The commands that build, and the sessions: [(start, [(number, command, [expected lines])])]."""
    builds, sessions = [], []
    for number, kind, line in blocks(path):
        if kind == "sh" and line.startswith("$ ptxloom cc "):
            builds.append(line[2:])
        if kind != "debugger":
            continue
        if line.startswith("$ "):
            sessions.append((line[2:], [(number, None, [])]))
        elif line.startswith("(ptxloom) "):
            sessions[-1][1].append((number, line[10:], []))
        else:
            sessions[-1][1][-1][2].append(line)
    return builds, sessions


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
        for i, (_, command, _) in enumerate(commands):
            f.write((command + "\n" if command else "") + f"echo \\n@@{i}\\n\n")
    words = shlex.split(start)
    done = subprocess.run(
        [ptxloom, "debug", "--batch", "-x", "script"] + words[2:],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    output, texts = done.stdout.decode(errors="replace"), []
    for i in range(len(commands)):
        text, _, output = output.partition(f"\n@@{i}\n")
        texts.append(text)
    return texts


def main(document, ptxloom):
    builds, sessions = read(document)
    for build in builds:
        subprocess.run(build, shell=True, check=True)
    name = os.path.basename(document)
    for start, commands in sessions:
        for (number, command, expected), text in zip(commands, run(ptxloom, start, commands)):
            if command is None:
                continue
            got = "".join(squeeze(line) + "\n" for line in text.splitlines() if line.strip())
            want = pattern([line for line in expected if line.strip()])
            good = re.fullmatch(want, got) is not None
            if not good:
                for line in expected:
                    print("# expected:", line)
                for line in text.splitlines():
                    print("# got:     ", line)
            print("ok" if good else "not ok", f"{name}:{number}: {command}")


main(*sys.argv[1:])
