"""fake.py WHAT: a program that speaks the debugger's protocol by itself, well or badly.

The socket's number is in PTXLOOM_DEBUG; frames are described in src/debugger/link.h.
"""
import os
import socket
import struct
import sys
import time

link = socket.socket(fileno=int(os.environ["PTXLOOM_DEBUG"]))


def send(kind, payload=b""):
    link.sendall(struct.pack("<I", len(payload) + 1) + kind + payload)


def receive():
    head = link.recv(5, socket.MSG_WAITALL)
    if len(head) < 5:
        sys.exit(0)
    size = struct.unpack("<I", head[:4])[0] - 1
    return head[4:], link.recv(size, socket.MSG_WAITALL) if size else b""


def serve(answer=b"host"):
    """Answer each command with itself."""
    while True:
        kind, payload = receive()
        if kind == b"c" and payload == b"continue":
            return
        if kind == b"c":
            send(b"o", b"<" + payload + b">\n")
            send(b"d", answer)
        if kind == b"k":
            send(b"K", b"ready\nreading\n")


def main(what):
    send(b"h", b"%d fake" % os.getpid())
    kind, state = receive()
    if what == "state":
        print(kind, state, flush=True)
    elif what == "serve":
        send(b"d", b"host")
        serve()
    elif what == "stand":
        # At line 2 of a file.
        answer = b"stopped " + os.fsencode(sys.argv[2]) + b"\t2\tx.ptx\t7"
        send(b"d", answer)
        serve(answer)
    elif what == "huge":
        link.sendall(struct.pack("<I", 0x7FFFFFFF) + b"o")
        time.sleep(0.2)
    elif what == "empty":
        link.sendall(struct.pack("<I", 0))
        time.sleep(0.2)
    elif what == "unknown":
        send(b"?", b"x")
        time.sleep(0.2)
    elif what == "partial":
        link.sendall(struct.pack("<I", 100) + b"oabc")
    elif what == "cut":
        send(b"d", b"host")
        serve()
        link.shutdown(socket.SHUT_RDWR)
        link.close()
        time.sleep(1.5)
        print("after the cut", flush=True)
    elif what == "large":
        send(b"o", b"x" * (8 << 20) + b"\n")
        send(b"d", b"host")
        serve()
    elif what == "bytes":
        for byte in struct.pack("<I", 6) + b"ohello" + struct.pack("<I", 5) + b"dhost":
            link.sendall(bytes([byte]))
            time.sleep(0.005)
        serve()
    elif what == "interrupt":
        print("running", flush=True)
        while receive()[0] != b"i":
            pass
        send(b"o", b"interrupted\n")
        send(b"d", b"host")
        serve()
    elif what == "leave":
        send(b"d", b"host")
        sys.exit(5)
    elif what == "deaf":
        print("running", flush=True)
        time.sleep(60)


main(sys.argv[1])
