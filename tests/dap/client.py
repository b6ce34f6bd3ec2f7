"""A client of the Debug Adapter Protocol for tests: Python's standard library alone.

`Adapter(command)` starts an adapter; `request` sends one request and returns the body of its
response; `event` waits for an event of a name. Whatever else comes before it is kept in order.
"""
import json
import os
import select
import subprocess
import time


class Refused(Exception):
    """The adapter has answered a request with success false."""


class Adapter:
    def __init__(self, command, **environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, **environment))
        self.seq = 0
        self.buffer = b""
        self.events = []
        self.responses = {}  # those that came before they were asked for, by request
        self.output = {}  # text by category
        self.limit = 40  # seconds for one answer

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, command, **arguments):
        self.seq += 1
        body = {"seq": self.seq, "type": "request", "command": command}
        if arguments:
            body["arguments"] = arguments
        data = json.dumps(body).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        return self.seq

    def _message(self, until):
        """The next message; None: the adapter has ended or the time is over."""
        while True:
            head, sep, rest = self.buffer.partition(b"\r\n\r\n")
            if sep:
                length = int(head.split(b":")[1])
                if len(rest) >= length:
                    self.buffer = rest[length:]
                    return json.loads(rest[:length])
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.time()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                return None
            self.buffer += data

    def _keep(self, message):
        if message["type"] == "event" and message["event"] == "output":
            body = message["body"]
            kind = body.get("category", "console")
            self.output[kind] = self.output.get(kind, "") + body["output"]
        elif message["type"] == "event":
            self.events.append(message)
        elif message["type"] == "response":
            self.responses[message["request_seq"]] = message

    def answer(self, seq):
        """The whole response to the request of this number."""
        until = time.time() + self.limit
        while seq not in self.responses:
            message = self._message(until)
            assert message is not None, "no answer to request %d" % seq
            self._keep(message)
        return self.responses.pop(seq)

    def request(self, command, **arguments):
        response = self.answer(self.send(command, **arguments))
        if not response["success"]:
            raise Refused(response.get("message"))
        return response.get("body", {})

    def event(self, *names):
        """The first event of one of these names that has not been asked for; None: the adapter has ended."""
        until = time.time() + self.limit
        while True:
            for i, e in enumerate(self.events):
                if e["event"] in names:
                    return self.events.pop(i)
            message = self._message(until)
            if message is None:
                return None
            self._keep(message)

    def begin(self, breakpoints=None, functions=None, filters=("faults", "deadlocks", "asserts"), request="launch",
              **launch):
        """A session up to the start of the program, as editors do it. Returns what became of the breakpoints."""
        self.request("initialize", adapterID="ptxloom", linesStartAt1=True)
        assert self.event("initialized")
        started = self.send(request, **launch)
        made = []
        for path, lines in (breakpoints or {}).items():
            lines = [b if isinstance(b, dict) else {"line": b} for b in lines]
            made += self.request("setBreakpoints", source={"path": path}, breakpoints=lines)["breakpoints"]
        if functions:
            made += self.request("setFunctionBreakpoints",
                                 breakpoints=[{"name": f} for f in functions])["breakpoints"]
        self.request("setExceptionBreakpoints", filters=list(filters))
        self.request("configurationDone")
        response = self.answer(started)
        if not response["success"]:
            raise Refused(response.get("message"))
        return made

    def end(self):
        """Disconnect; returns the adapter's exit status."""
        if self.process.poll() is None:
            try:
                self.request("disconnect", terminateDebuggee=True)
            except (AssertionError, BrokenPipeError, Refused):
                pass
        self.process.stdin.close()
        status = self.process.wait(30)
        self.process.stdout.close()
        return status
