"""values.py FILE COMMAND...: what a debugger answers to the commands of FILE, compared with what FILE says.

In FILE `> COMMAND` is a command and the lines after it its answer, in which ADDRESS is any address. COMMAND is the
debugger with its program; commands are given to it as a file `-x SCRIPT` or, with `--stdin` in front, as what is typed.
For each command a line is printed, "ok COMMAND" or "not ok COMMAND" behind "# " lines with both answers.
"""
import re
import subprocess
import sys
import tempfile

HEAD = "set width 0\nset height 0\nset confirm off\n"


def load(path):
    """[(command, answer)]"""
    blocks = []
    for line in open(path):
        if line.startswith("> "):
            blocks.append((line[2:].rstrip("\n"), []))
        elif blocks and not line.startswith("# "):
            blocks[-1][1].append(line)
    return [(command, "".join(answer).strip()) for command, answer in blocks]


def plain(text):
    """Without what differs between machines: addresses, their state spaces, spaces at line ends."""
    text = re.sub(r"^0x[0-9a-f]+(?=[ :])", "ADDRESS", text, flags=re.M)
    text = re.sub(r"(\*+\) |@|= |\{)0x[0-9a-f]{2,}(?= [<\"]|[:}]|$)", r"\1ADDRESS", text, flags=re.M)
    text = re.sub(r"0x[0-9a-f]{9,}", "ADDRESS", text)
    text = re.sub(r"@(shared|local|global|constant) ", "", text)
    text = re.sub(r"/\* X{3} ", "/* --- ", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M).strip()


def main():
    typed = sys.argv[2] == "--stdin"
    tool = sys.argv[3:] if typed else sys.argv[2:]
    blocks = load(sys.argv[1])
    script = HEAD + "set prompt\n" * typed + "".join(
        f"echo \\n@@{i}\\n\n{command}\n" for i, (command, _) in enumerate(blocks)) + "echo \\n@@end\\n\nkill\nquit\n"
    if typed:
        done = subprocess.run(tool, input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".gdb") as f:
            f.write(script)
            f.flush()
            done = subprocess.run([*tool[:2], "-x", f.name, *tool[2:]], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    pieces = re.split(r"^@@(?:\d+|end)$", done.stdout.decode(errors="replace").replace("(gdb) ", ""), flags=re.M)[1:]
    for i, (command, wanted) in enumerate(blocks):
        came = plain(pieces[i]) if i < len(pieces) else "(nothing: it has ended)"
        if command.startswith(("break", "run")):
            continue
        if came != plain(wanted):
            for line in f"wanted:\n{plain(wanted)}\ncame:\n{came}".split("\n"):
                print(f"# {line}")
        print(f"{'ok' if came == plain(wanted) else 'not ok'} {command}")


main()
