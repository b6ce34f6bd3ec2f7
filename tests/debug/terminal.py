"""terminal.py COMMAND...: run a command on a terminal of its own and type at it.

Standard input has what to type, one step a line: `expect REGEX` waits for output, `type TEXT` sends it with a line end,
`keys TEXT` sends it with Python's escapes and without one, `status N` waits for the end and its status. Output goes to
standard output. The first step that fails is named, and the exit status is 1.
"""
import os
import pty
import re
import select
import sys
import time

LIMIT_S = 30
seen = b""


def read(fd, wait_s):
    global seen
    if select.select([fd], [], [], wait_s)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        os.write(1, data)
        seen += data
        return bool(data)
    return True


def expect(fd, pattern):
    """The output up to and with the pattern is used up."""
    global seen
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        # Colours and other sequences are none of its business.
        text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\r", b"", seen)
        found = re.search(pattern.encode(), text)
        if found:
            seen = text[found.end():]
            return True
        if not read(fd, 0.1):
            return False
    return False


def status(pid, fd, want):
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        done, got = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(got) == int(want)
        read(fd, 0.05)
    return False


def main():
    steps = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    pid, fd = pty.fork()
    if not pid:
        os.execvp(sys.argv[1], sys.argv[1:])
    for step in steps:
        what, _, rest = step.partition(" ")
        good = True
        if what == "expect":
            good = expect(fd, rest)
        elif what == "type":
            os.write(fd, rest.encode() + b"\n")
        elif what == "keys":
            time.sleep(0.2)
            os.write(fd, rest.encode().decode("unicode_escape").encode("latin-1"))
        elif what == "status":
            good = status(pid, fd, rest)
        if not good:
            print(f"\nfailed: {step}; last seen: {seen[-300:]!r}", flush=True)
            os.kill(pid, 9)
            return 1
    return 0


sys.exit(main())
