"""front_end.py PTXLOOM PROGRAM: the program's end of the connection, against a front end that does what ours does not.

The program is tests/debug/calls.cu. Prints "ok TITLE" or "not ok TITLE" for each check, with what came.
"""
import os
import shlex
import socket
import struct
import subprocess
import sys

ptxloom, program = sys.argv[1:]


class Session:
    """A program that stands at its first stop, or that has not been told anything yet."""

    def __init__(self, state=b"break 28\n"):
        ours, theirs = socket.socketpair()
        environment = dict(os.environ)
        for line in subprocess.run([ptxloom, "env"], capture_output=True, text=True).stdout.splitlines():
            words = shlex.split(line)
            if words[:1] == ["export"]:
                environment.update([words[1].split("=", 1)])
        environment["PTXLOOM_DEBUG"] = str(theirs.fileno())
        self.socket = ours
        self.socket.settimeout(60)
        self.child = subprocess.Popen([program], env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        theirs.close()
        self.hello = self.receive()
        self.first = None
        if state is not None:
            self.send("s", state)
            self.first = self.answer()

    def send(self, kind, payload=b""):
        self.socket.sendall(struct.pack("<I", len(payload) + 1) + kind.encode() + payload)

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                return None
            data += more
        return data

    def receive(self):
        head = self.exactly(4)
        frame = self.exactly(struct.unpack("<I", head)[0]) if head else None
        return (chr(frame[0]), frame[1:].decode(errors="replace")) if frame else None

    def answer(self):
        """All up to the end of a command: (output, what the answer says)."""
        output = ""
        while (frame := self.receive()) and frame[0] != "d":
            output += frame[1] if frame[0] == "o" else ""
        return output, frame[1] if frame else None

    def command(self, text):
        self.send("c", text if isinstance(text, bytes) else text.encode())
        return self.answer()

    def end(self):
        """The program's output and status, once the connection is of no more use."""
        try:
            return self.child.communicate(timeout=60)[0].decode(errors="replace"), self.child.returncode
        except subprocess.TimeoutExpired:
            self.child.kill()
            return "(did not end)", None


def check(title, good, *came):
    if not good:
        for x in came:
            print(f"# {x!r}")
    print(f"{'ok' if good else 'not ok'} {title}")


LAST = "the program goes on without a debugger\n7 218 cudaSuccess\n"

s = Session()
check("hello names the process", s.hello[0] == "h" and s.hello[1].split()[0] == str(s.child.pid), s.hello)
check("the first answer is that of the first stop", "Breakpoint 1: mix" in s.first[0] and s.first[1].startswith("stopped ")
      and "calls.cu\t28\t" in s.first[1], s.first)
came = s.command("next")
check("a command is answered once", "calls.cu:29" in came[0] and "calls.cu\t29\t" in came[1], came)
came = s.command(b"\xff\xfe")
check("bytes that are no text are an error", "Undefined command" in came[0] and came[1].endswith("failed"), came)
s.send("k", b"info wa")
came = s.receive()
check("completion", came == ("K", "warps\nwatchpoints\n"), came)
s.command("delete")
s.send("i")
came = s.command("continue")
check("an interrupt while it stands is none", came[1] is None, came)
came = s.end()
check("the program ends as ever", came == ("7 218 cudaSuccess\n", 3), came)

s = Session()
s.socket.close()
came = s.end()
check("the connection is cut while it stands", came == ("ptxloom: " + LAST, 3), came)

s = Session(None)
s.socket.close()
came = s.end()
check("the connection is cut before the state", came == ("ptxloom: " + LAST, 3), came)

s = Session()
s.socket.sendall(b"\5\0\0\0Qabcd")
came = s.end()
check("a frame of unknown kind", came == ("ptxloom: a frame of unknown kind 81: " + LAST, 3), came)

s = Session()
s.socket.sendall(b"\377\377\377\377c")
came = s.end()
check("a frame that is too long", came == ("ptxloom: a frame of 4294967295 bytes: " + LAST, 3), came)

s = Session(b"-number 1\nfrobnicate\nbreak 28\ncommands 1\nprint t\n")
check("a state that ends early", s.first[1] is not None and "Breakpoint 1: mix" in s.first[0], s.first)
s.child.kill()
s.end()
