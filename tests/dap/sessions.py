#!/usr/bin/env python3
"""sessions.py PTXLOOM PROGRAMS SOURCES [SESSION...]: whole sessions of an editor with `ptxloom dap`, results as TAP.

PROGRAMS holds the programs of tests/debug (fault, diverge, deadlock), built from SOURCES with -G.
"""
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

from client import Adapter, Refused

PTXLOOM, PROGRAMS, SOURCES = sys.argv[1:4]
WANTED = sys.argv[4:]
count = 0
failed = 0


def check(name, ok, *details):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", count, name), flush=True)
    if not ok:
        for d in details:
            print("# %r" % (d,))


def source(name):
    return os.path.join(SOURCES, name)


def launch(program, *args, **more):
    return dict(program=os.path.join(PROGRAMS, program), args=list(args), cwd=PROGRAMS, **more)


def top(a, thread=1):
    frames = a.request("stackTrace", threadId=thread, startFrame=0, levels=20)["stackFrames"]
    return frames[0] if frames else {}


def scope(a, frame, name):
    for s in a.request("scopes", frameId=frame["id"])["scopes"]:
        if s["name"] == name:
            return {v["name"]: v for v in a.request("variables", variablesReference=s["variablesReference"])["variables"]}
    return {}


def value(a, expression):
    return a.request("evaluate", expression=expression, frameId=top(a)["id"], context="watch")["result"]


def console(a, line):
    return a.request("evaluate", expression=line, context="repl")["result"]


def breakpoints():
    a = Adapter([PTXLOOM, "dap"])
    made = a.begin({source("diverge.cu"): [9, {"line": 16, "condition": "j == 2"}]}, **launch("diverge"))
    check("breakpoints have numbers before the program runs", [b["id"] for b in made] == [1, 2], made)
    e = a.event("stopped", "terminated")
    check("a breakpoint stops", e["event"] == "stopped" and e["body"]["reason"] == "breakpoint", e)
    check("it says which", e["body"].get("hitBreakpointIds") == [1], e)
    changed = [x for x in a.events if x["event"] == "breakpoint"]
    check("breakpoints are told when they have found their code",
          {x["body"]["breakpoint"]["id"] for x in changed} >= {1, 2}, a.events)
    f = top(a)
    check("the frame is the kernel's, with its line", f["name"] == "paths" and f["line"] == 9, f)
    check("and its file", os.path.basename(f["source"]["path"]) == "diverge.cu", f)
    threads = a.request("threads")["threads"]
    check("threads are groups of lanes", len(threads) == 2 and "0-7" in threads[0]["name"] and
          "8-31" in threads[1]["name"], threads)
    check("the waiting group stands elsewhere", top(a, 2)["line"] == 10, top(a, 2))
    local = scope(a, f, "Locals")
    check("locals have values and types", local["lane"]["value"] == "0" and local["lane"]["type"] == "int", local)
    lanes = a.request("variables", variablesReference=local["lane"]["variablesReference"])["variables"]
    check("a number opens to its value in each lane", [v["value"] for v in lanes] == [str(i) for i in range(32)], lanes)
    page = a.request("variables", variablesReference=local["lane"]["variablesReference"], start=30, count=5)
    check("in pages", [v["name"] for v in page["variables"]] == ["[30]", "[31]"], page)
    check("the launch has its indices", "x = 0" in scope(a, f, "Launch")["threadIdx"]["value"], scope(a, f, "Launch"))
    a.request("next", threadId=1)
    e = a.event("stopped")
    check("a step stops", e["body"]["reason"] == "step", e)
    a.request("continue", threadId=1)
    e = a.event("stopped", "terminated")
    check("a condition stops where it holds", e["body"].get("hitBreakpointIds") == [2], e)
    check("for all lanes of the expression", value(a, "j,lanes") == "by lane")
    check("the condition's lanes stop", value(a, "j") == "2")
    a.request("setBreakpoints", source={"path": source("diverge.cu")}, breakpoints=[])
    a.request("continue", threadId=1)
    e = a.event("stopped", "exited")
    check("without breakpoints it runs to its end", e["event"] == "exited" and e["body"]["exitCode"] == 0, e)
    check("what it printed is output", "324" in a.output.get("stdout", ""), a.output)
    check("the session is told its end", a.event("terminated") is not None)
    check("the adapter ends", a.end() == 0)


def fault():
    a = Adapter([PTXLOOM, "dap"])
    a.begin(**launch("fault"))
    e = a.event("stopped", "terminated")
    check("a fault is an exception", e["event"] == "stopped" and e["body"]["reason"] == "exception", e)
    f = top(a)
    check("at its line", f["line"] == 20 and os.path.basename(f["source"]["path"]) == "fault.cu", f)
    check("with its values", value(a, "sum") == "25" and value(a, "t") == "5")
    about = a.request("exceptionInfo", threadId=1)
    check("and its name", about["exceptionId"] == "fault" and about["description"], about)
    node = a.request("evaluate", expression="node", frameId=f["id"], context="watch")
    check("an array has its elements", node["indexedVariables"] == 8, node)
    rows = a.request("variables", variablesReference=node["variablesReference"], start=4, count=1)["variables"]
    members = a.request("variables", variablesReference=rows[0]["variablesReference"])["variables"]
    check("and they their members", [(m["name"], m["value"]) for m in members][0] == ("value", "16"), members)
    pointer = [m for m in members if m["name"] == "next"][0]
    inner = a.request("variables", variablesReference=pointer["variablesReference"])["variables"]
    check("pointers are followed", len(inner) == 1 and "25" in inner[0]["value"], inner)
    a.request("stepBack", threadId=1)
    e = a.event("stopped")
    check("a step back", e["body"]["reason"] == "step" and top(a)["line"] in (18, 19, 20, 21), (e, top(a)))
    said = console(a, "origin node[5].next")
    check("commands of the debugger work in the console", "fault.cu:14" in said, said)
    e = a.event("stopped")
    check("when they move, the editor is told", e is not None and top(a)["line"] == 14, e)
    a.request("continue", threadId=1)
    e = a.event("stopped", "exited")
    check("the fault comes again", e["body"].get("reason") == "exception", e)
    a.request("restart")
    e = a.event("stopped", "exited")
    check("it can be started again", e["event"] == "stopped" and top(a)["line"] == 20, e)
    a.request("setExceptionBreakpoints", filters=[])
    a.request("continue", threadId=1)
    check("and goes on after the fault", a.event("exited") is not None and
          "cudaErrorIllegalAddress" in a.output.get("stdout", ""), a.output)
    check("the adapter ends", a.end() == 0)


def changes():
    a = Adapter([PTXLOOM, "dap"])
    a.begin(functions=["paths"], **launch("diverge"))
    e = a.event("stopped")
    check("a breakpoint on a function", e["body"]["reason"] == "breakpoint", e)
    a.request("next", threadId=1)
    a.event("stopped")
    a.request("next", threadId=1)
    a.event("stopped")
    local = [s for s in a.request("scopes", frameId=top(a)["id"])["scopes"] if s["name"] == "Locals"][0]
    made = a.request("setVariable", variablesReference=local["variablesReference"], name="r", value="7 * 6")
    check("a variable is set", made["value"] == "42" and value(a, "r") == "42", made)
    info = a.request("dataBreakpointInfo", variablesReference=local["variablesReference"], name="r")
    check("it can be watched", info["dataId"] == "r", info)
    made = a.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
    check("a data breakpoint", made["breakpoints"][0].get("id"), made)
    a.request("continue", threadId=1)
    e = a.event("stopped", "exited")
    check("stops when it changes", e["body"].get("reason") == "data breakpoint", e)
    a.request("reverseContinue", threadId=1)
    check("back to what was before", a.event("stopped", "exited")["event"] == "stopped")
    f = top(a)
    code = a.request("disassemble", memoryReference=f["instructionPointerReference"], instructionCount=5,
                     instructionOffset=-2)["instructions"]
    check("instructions around the place", len(code) == 5 and code[2]["address"] == f["instructionPointerReference"], code)
    registers = scope(a, f, "Registers (PTX)")
    check("registers have their PTX names", any(n.startswith("%r") for n in registers), list(registers)[:5])
    memory = a.request("readMemory", memoryReference="0x10", count=16)
    check("memory that is not there is unreadable", memory.get("unreadableBytes") == 16, memory)
    targets = a.request("completions", text="info la", column=8)["targets"]
    check("commands are completed", any("lanes" in t["label"] for t in targets), targets)
    check("the adapter ends in mid program", a.end() == 0)


def deadlock():
    a = Adapter([PTXLOOM, "dap"])
    a.begin(**launch("deadlock"))
    e = a.event("stopped", "exited")
    check("a deadlock is an exception", e["body"].get("reason") == "exception" and e["body"].get("kind") == "deadlock", e)
    threads = a.request("threads")["threads"]
    check("both warps are shown", len(threads) == 2, threads)
    check("with their lines", sorted([top(a, 1)["line"], top(a, 2)["line"]]) == [10, 14])
    console(a, "warp 1")
    a.request("threads")
    check("the console's focus is the first thread", top(a)["line"] == 14, top(a))
    check("the adapter ends", a.end() == 0)


def reasons():
    a = Adapter([PTXLOOM, "dap"])
    a.begin(filters=["divergence"], stopOnEntry=True, **launch("diverge"))
    e = a.event("stopped", "exited")
    check("stopOnEntry stops as an entry", e["body"].get("reason") == "entry", e)
    a.request("restart")
    e = a.event("stopped", "exited")
    check("each time", e["body"].get("reason") == "entry", e)
    a.request("stepBack", threadId=1)
    a.event("stopped")
    check("before the body is what the compiler put there", top(a)["line"] < 7, top(a))
    a.request("stepBack", threadId=1)
    e = a.event("stopped")
    check("a step that leads nowhere ends with a stop, too", e is not None and "No more reverse-execution history" in a.output.get("console", ""),
          a.output)
    a.request("continue", threadId=1)
    e = a.event("stopped", "exited")
    check("an exception that was asked for stops", e["body"].get("reason") == "exception", e)
    about = a.request("exceptionInfo", threadId=1)
    check("and has its name", about["exceptionId"] == "divergence" and "divergence" in about["description"], about)
    a.end()
    a = Adapter([PTXLOOM, "dap"])
    a.begin(filters=["findings"], **launch("race"), env={"PTXLOOM_CHECK": "race"})
    e = a.event("stopped", "exited")
    check("a finding of a check stops", e["body"].get("reason") == "exception", e)
    about = a.request("exceptionInfo", threadId=1)
    check("and has its text", about["exceptionId"] == "finding" and "No barrier of the block" in about["description"], about)
    check("at its line", top(a)["line"] == 7, top(a))
    a.request("next", threadId=1)
    a.event("stopped", "exited")
    a.request("reverseContinue", threadId=1)
    e = a.event("stopped", "exited")
    about = a.request("exceptionInfo", threadId=1)
    check("the way back stops at the finding", e["body"].get("reason") == "exception" and top(a)["line"] == 7
          and "No barrier of the block" in about["description"], (e, about))
    a.end()
    a = Adapter([PTXLOOM, "dap"])
    a.begin(**launch("spin"))
    while "launching" not in a.output.get("stdout", ""):
        a._keep(a._message(time.time() + 40))
    time.sleep(0.3)
    a.request("pause", threadId=1)
    e = a.event("stopped", "exited")
    check("a pause is told as one", e["body"].get("reason") == "pause", e)
    a.end()


def points():
    a = Adapter([PTXLOOM, "dap"])
    made = a.begin({source("diverge.cu"): [
        {"line": 16, "logMessage": 'lane {lane}: "r" is {r}, 100%', "condition": "lane == 3"},
        {"line": 14, "condition": "lane == 3", "hitCondition": "> 9"},
        {"line": 9, "logMessage": "a brace { is open"}, {"line": 9, "hitCondition": "never"}]}, **launch("diverge"))
    check("a log point is made", made[0].get("id"), made)
    check("one that cannot be read is told", not made[2]["verified"] and "{}" in made[2]["message"], made)
    check("so is a hit condition", not made[3]["verified"] and "hit condition" in made[3]["message"], made)
    e = a.event("stopped", "exited")
    check("neither stops", e["event"] == "exited", e)
    said = [line for line in a.output["console"].split("\n") if line.startswith("lane")]
    check("a log point prints for the lanes of its condition",
          said == ['lane 3: "r" is %d, 100%%' % n for n in (103, 1103, 2103)], a.output)
    a.end()
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [{"line": 16, "hitCondition": ">= 2"}]}, **launch("diverge"))
    a.event("stopped", "exited")
    check("a hit condition stops at its hit", value(a, "j") == "1", value(a, "j"))
    code = top(a)["instructionPointerReference"]
    a.request("setBreakpoints", source={"path": source("diverge.cu")}, breakpoints=[])
    made = a.request("setInstructionBreakpoints", breakpoints=[{"instructionReference": code}])["breakpoints"]
    a.request("continue", threadId=1)
    e = a.event("stopped", "exited")
    check("a breakpoint on an instruction stops",
          e["body"].get("hitBreakpointIds") == [made[0]["id"]] and value(a, "j") == "2", e)
    made = a.request("setExpression", frameId=top(a)["id"], expression="r", value="5")
    check("an expression is set", made["value"] == "5" and value(a, "r") == "5", made)
    check("in the lane in focus alone", value(a, "$_lane") == "3", value(a, "$_lane"))
    hover = a.request("evaluate", expression="j", frameId=top(a)["id"], context="hover")
    check("a value is shown beside the mouse", hover["result"] == "2", hover)
    at = value(a, "&out[0]").split()[-1]
    made = a.request("writeMemory", memoryReference=at, offset=4, data="KgAAAA==")
    check("memory is written", made["bytesWritten"] == 4 and value(a, "out[1]") == "42", made)
    memory = a.request("readMemory", memoryReference=at, offset=4, count=4)
    check("and read", memory["data"] == "KgAAAA==", memory)
    try:
        a.request("writeMemory", memoryReference=at, data="K")
        check("what is not base64 is refused", False)
    except Refused as r:
        check("what is not base64 is refused", "base64" in str(r), r)
    a.request("setInstructionBreakpoints", breakpoints=[])
    a.request("continue", threadId=1)
    a.event("exited")
    a.end()


def code():
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [9]}, **launch("diverge"))
    a.event("stopped")
    modules = a.request("modules")
    check("modules have the names of their files", modules["totalModules"] == 1 and
          modules["modules"][0]["name"] == "diverge.cu", modules)
    check("and say what is known of them", modules["modules"][0]["symbolStatus"] == "lines and variables", modules)
    check("in pages", a.request("modules", startModule=1, moduleCount=1)["modules"] == [])
    sources = a.request("loadedSources")["sources"]
    check("sources are the user's files", [s["name"] for s in sources] == ["diverge.cu"], sources)
    lines = a.request("breakpointLocations", source={"path": source("diverge.cu")}, line=8, endLine=13)["breakpoints"]
    check("lines with code can have breakpoints", [b["line"] for b in lines] == [8, 9, 10, 11, 12, 13] or
          [b["line"] for b in lines] == [8, 9, 10, 11, 13], lines)
    none = a.request("breakpointLocations", source={"path": source("diverge.cu")}, line=1)["breakpoints"]
    check("one without code cannot", none == [], none)
    at = value(a, "&out[3]").split()[2]
    info = a.request("dataBreakpointInfo", name=at, asAddress=True, bytes=4)
    check("bytes at an address can be watched", info["dataId"] and at in info["dataId"], info)
    a.request("setBreakpoints", source={"path": source("diverge.cu")}, breakpoints=[])
    a.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
    a.request("continue", threadId=1)
    e = a.event("stopped", "exited")
    check("and stop when one is written", e["body"].get("reason") == "data breakpoint" and value(a, "out[3]") == "3103", e)
    try:
        a.request("dataBreakpointInfo", name="out", asAddress=True, bytes=4)
        check("a name is no address", False)
    except Refused as r:
        check("a name is no address", "address" in str(r), r)
    try:
        a.request("terminateThreads", threadIds=[1])
        check("lanes are not ended", False)
    except Refused as r:
        check("lanes are not ended", "freeze" in str(r), r)
    a.end()


def patience():
    a = Adapter([PTXLOOM, "dap"])
    a.request("initialize", adapterID="ptxloom", supportsProgressReporting=True)
    a.event("initialized")
    started = a.send("launch", **launch("spin"))
    a.request("setFunctionBreakpoints", breakpoints=[{"name": "spin"}])
    a.request("configurationDone")
    a.answer(started)
    a.event("stopped")
    a.request("setFunctionBreakpoints", breakpoints=[])
    asked = a.send("evaluate", expression="continue", context="repl")
    e = a.event("continued", "stopped")
    check("a command of the console lets the program go on", e["event"] == "continued", e)
    a.request("pause", threadId=1)
    e = a.event("stopped", "exited")
    check("and can be paused", e["body"].get("reason") == "pause", e)
    check("it has its answer then", "Interrupted" in a.answer(asked)["body"]["result"])
    frame = top(a)["id"]
    asked = a.send("evaluate", expression="print wait_for(stop)", context="repl")
    e = a.event("progressStart")
    check("what takes long is told", e["body"]["requestId"] == asked and e["body"]["cancellable"], e)
    waits = a.send("evaluate", expression="turns", frameId=frame, context="watch")
    a.request("cancel", requestId=waits)
    r = a.answer(waits)
    check("what waits can be cancelled", not r["success"] and r["message"] == "cancelled", r)
    a.request("cancel", progressId=e["body"]["progressId"])
    r = a.answer(asked)
    check("so can what runs", "Interrupted: wait_for" in r["body"]["result"], r)
    check("the editor is told its end", a.event("progressEnd")["body"]["progressId"] == e["body"]["progressId"])
    e = a.event("stopped", "exited")
    check("and where it stands", e["event"] == "stopped" and top(a)["name"] == "wait_for", e)
    a.request("setFunctionBreakpoints", breakpoints=[{"name": "spin"}])
    a.request("restart")
    a.event("stopped")
    a.send("evaluate", expression="print wait_for(stop)", context="repl")
    a.event("progressStart")
    a.request("pause", threadId=1)
    check("a function that is called can be paused", a.event("stopped", "exited")["event"] == "stopped")
    a.request("cancel", requestId=12345)
    check("cancelling what was answered does nothing", value(a, "1 + 1") == "2")
    a.end()


# Each capability, and the sessions that use it.
CAPABILITIES = {
    "supportsConfigurationDoneRequest": "breakpoints", "supportsFunctionBreakpoints": "changes",
    "supportsConditionalBreakpoints": "breakpoints", "supportsHitConditionalBreakpoints": "points",
    "supportsLogPoints": "points", "supportsEvaluateForHovers": "points", "supportsStepBack": "fault",
    "supportsSetVariable": "changes", "supportsSetExpression": "points", "supportsCompletionsRequest": "changes",
    "supportsRestartRequest": "fault", "supportsExceptionInfoRequest": "fault", "supportTerminateDebuggee": "attach",
    "supportsTerminateRequest": "attach", "supportsDataBreakpoints": "changes", "supportsReadMemoryRequest": "changes",
    "supportsWriteMemoryRequest": "points", "supportsDisassembleRequest": "changes",
    "supportsInstructionBreakpoints": "points", "supportsSteppingGranularity": "ptx",
    "supportsDelayedStackTraceLoading": "frames", "supportsGotoTargetsRequest": "jumps",
    "supportsModulesRequest": "code", "supportsLoadedSourcesRequest": "code",
    "supportsBreakpointLocationsRequest": "code", "supportsDataBreakpointBytes": "code",
    "supportsCancelRequest": "patience", "supportsStepInTargetsRequest": "targets",
}


def targets():
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("targets.cu"): [{"line": 25}]}, **launch("targets"))
    a.event("stopped", "exited")
    a.request("threads")

    def offered():
        return {t["label"]: t["id"] for t in a.request("stepInTargets", frameId=top(a)["id"])["targets"]}

    first = offered()
    check("what the line calls, in the order of the code and once, toolkit headers left out",
          list(first) == ["outer(int)", "twice<int>", "add(int, int)", "add(float, float)"], first)
    a.request("stepIn", threadId=1, targetId=first["add(float, float)"])
    a.event("stopped", "exited")
    check("the overload is stepped into, over the others", top(a)["name"] == "add" and top(a)["line"] == 10, top(a))
    check("a line without calls has none", offered() == {}, offered())
    a.request("stepOut", threadId=1)
    a.event("stopped", "exited")
    check("of the rest of the line nothing is called any more", offered() == {}, offered())
    try:
        a.request("stepIn", threadId=1, targetId=1)
        check("an old target is refused", False)
    except Refused as r:
        check("an old target is refused", "no such target" in str(r), r)
    a.request("restart")
    a.event("stopped", "exited")
    a.request("threads")
    a.request("stepIn", threadId=1, targetId=offered()["twice<int>"])
    a.event("stopped", "exited")
    check("and one that is inlined", top(a)["name"].startswith("twice") and top(a)["line"] == 14, top(a))
    a.end()


def frames():
    a = Adapter([PTXLOOM, "dap"])
    can = a.request("initialize", adapterID="ptxloom")
    said = {name for name, value in can.items() if value is True}
    check("each capability has a session", said == set(CAPABILITIES), said ^ set(CAPABILITIES))
    check("filters have names", {f["filter"] for f in can["exceptionBreakpointFilters"]} ==
          {"faults", "deadlocks", "asserts", "findings", "launches", "divergence"}, can)
    a.end()
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("targets.cu"): [{"line": 20}]}, **launch("targets"))
    a.event("stopped", "exited")
    whole = a.request("stackTrace", threadId=1)
    page = a.request("stackTrace", threadId=1, startFrame=1, levels=1)
    check("frames come in pages", whole["totalFrames"] == 2 and [f["name"] for f in page["stackFrames"]] ==
          [whole["stackFrames"][1]["name"]], (whole, page))
    a.end()


def jumps():
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [16]}, **launch("diverge"))
    a.event("stopped", "exited")
    none = a.request("gotoTargets", source={"path": source("diverge.cu")}, line=2600)["targets"]
    check("a line without code is no target", none == [], none)
    targets = a.request("gotoTargets", source={"path": source("diverge.cu")}, line=9)["targets"]
    check("a line of the function is one", [t["line"] for t in targets] == [9], targets)
    a.request("goto", threadId=1, targetId=targets[0]["id"])
    e = a.event("stopped", "exited")
    check("the lane goes there", e["body"].get("reason") == "goto" and top(a)["line"] == 9, (e, top(a)))
    check("alone", value(a, "$_lane") == "1", value(a, "$_lane"))
    a.request("setBreakpoints", source={"path": source("diverge.cu")}, breakpoints=[])
    a.request("continue", threadId=1)
    a.event("exited")
    check("and on from there", a.output["stdout"].split()[1] == "1101", a.output)
    a.end()


def waiting(program):
    """A program that waits for a debugger; it and its process."""
    p = subprocess.Popen([PTXLOOM, "run", "--debug-wait", os.path.join(PROGRAMS, program)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    said = p.stderr.readline().decode()
    return p, int(re.search(r"-p (\d+)", said).group(1))


def attach():
    p, pid = waiting("diverge")
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [9]}, request="attach", processId=pid)
    e = a.event("stopped", "terminated")
    check("a program that waits is attached to", e["event"] == "stopped" and top(a)["line"] == 9, e)
    try:
        a.request("restart")
        check("it cannot be started again", False)
    except Refused as r:
        check("it cannot be started again", "started again" in str(r), r)
    a.request("disconnect")
    check("disconnecting lets it go on", a.end() == 0 and "324" in p.communicate(timeout=40)[0].decode())
    p, pid = waiting("diverge")
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [9]}, request="attach", processId=str(pid))
    a.event("stopped", "terminated")
    a.request("setBreakpoints", source={"path": source("diverge.cu")}, breakpoints=[])
    a.request("continue", threadId=1)
    e = a.event("terminated", "exited", "stopped")
    check("its end is told, without a status that nobody knows", e["event"] == "terminated", e)
    a.end()
    p.communicate(timeout=40)
    p, pid = waiting("diverge")
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [9]}, request="attach", processId=pid)
    a.event("stopped", "terminated")
    a.request("terminate")
    p.communicate(timeout=40)
    check("terminate ends it", a.event("terminated") is not None and p.returncode == -9, p.returncode)
    a.end()


def ptx():
    a = Adapter([PTXLOOM, "dap"])
    made = a.begin({source("collatz.ptx"): [22]}, program=source("collatz.ptx"),
                   args=["--block", "32", "--buffer", "out:u32[32]", "--arg", "u32=0"])
    e = a.event("stopped", "exited")
    check("PTX alone is debugged", e["body"].get("reason") == "breakpoint", (e, made, a.output))
    if e["event"] == "stopped":
        f = top(a)
        check("its frame has a line of the PTX", f["line"] == 22, f)
        a.request("stepIn", threadId=1, granularity="instruction")
        a.event("stopped")
        check("instructions are stepped", top(a)["line"] > 22, top(a))
    a.end()


def refusals():
    a = Adapter([PTXLOOM, "dap"])

    def refused(command, **arguments):
        try:
            a.request(command, **arguments)
        except Refused as r:
            return str(r)
        return ""

    a.request("initialize", adapterID="ptxloom")
    check("an unknown request is refused", "not supported" in refused("frobnicate"))
    check("nothing can be shown of no program", "no program" in refused("stackTrace", threadId=1))
    check("a launch needs a program", "program" in (refused("configurationDone") or refused("launch", args=[])))
    check("arguments are strings", "array of strings" in refused("launch", program="/bin/true", args=[1]))
    check("so is the environment", "object of strings" in refused("launch", program="/bin/true", env={"A": 1}))
    check("a program that is not there", "No such file" in refused("launch", program="/nowhere/at/all"))
    check("a device that is none", "gtx9" in refused("launch", device="gtx9", program="/bin/true"))
    check("attach needs a process", "processId" in refused("attach"))
    check("that waits", "does not wait" in refused("attach", processId=os.getpid()))
    check("the adapter ends", a.end() == 0)
    for name, data in (("no header", b"hello\r\n\r\n"), ("a negative length", b"Content-Length: -4\r\n\r\n{}"),
                       ("an absurd length", b"Content-Length: 99999999999999\r\n\r\n"),
                       ("no JSON", b"Content-Length: 3\r\n\r\nabc"), ("no object", b"Content-Length: 2\r\n\r\n[]"),
                       ("a header without end", b"x" * 70000)):
        r = subprocess.run([PTXLOOM, "dap"], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        said = r.stderr.decode()
        check("what is not the protocol ends it with one line: " + name, r.returncode == 2 and
              said.startswith("ptxloom dap: ") and said.count("\n") == 1, r)


def killed():
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [9]}, **launch("diverge"))
    a.event("stopped")
    a.process.stdin.close()
    check("an editor that goes away ends it", a.process.wait(30) in (0, 2))
    a.process.stdout.close()
    p, pid = waiting("diverge")
    a = Adapter([PTXLOOM, "dap"])
    a.begin({source("diverge.cu"): [9]}, request="attach", processId=pid)
    a.event("stopped")
    os.kill(pid, signal.SIGKILL)
    check("a program that is killed ends the session", a.event("terminated") is not None)
    p.communicate(timeout=40)
    for command in "stackTrace", "next", "readMemory", "evaluate":
        try:
            a.request(command, threadId=1, memoryReference="0", expression="1")
            check("after that %s is refused" % command, False)
        except Refused as r:
            check("after that %s is refused" % command, "has ended" in str(r), r)
    check("and the adapter lives until it is told", a.end() == 0)


def at_port():
    """An adapter that waits at a port, and where."""
    p = subprocess.Popen([PTXLOOM, "dap", "--port", "0"], stderr=subprocess.PIPE)
    return p, ("127.0.0.1", int(re.search(rb":(\d+)", p.stderr.readline()).group(1)))


def cuts():
    p, at = at_port()
    s = socket.create_connection(at, 30)
    time.sleep(0.3)
    try:
        socket.create_connection(at, 5).close()
        check("a second editor is refused", False)
    except ConnectionRefusedError:
        check("a second editor is refused", True)
    s.sendall(b"Content-Length: 100\r\n\r\n{")
    s.close()
    said = p.communicate(timeout=30)[1].decode()
    check("half a message is one line", p.returncode == 2 and said.count("\n") == 1 and "middle of a message" in said,
          p.returncode, said)
    p, at = at_port()
    s = socket.create_connection(at, 30)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    time.sleep(0.3)
    s.close()
    said = p.communicate(timeout=30)[1].decode()
    check("a connection that is cut is one line", p.returncode == 2 and said.count("\n") == 1 and "was cut" in said,
          p.returncode, said)
    p, at = at_port()
    s = socket.create_connection(at, 30)
    body = b'{"seq":1,"type":"request","command":"%s"}' % (b"x" * 5000000)
    s.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    answer = b""
    while not answer.endswith(b"}") or len(answer) < 5000000:
        answer += s.recv(1 << 20)
    check("a message of megabytes is answered", b"not supported" in answer[-200:], answer[-200:])
    s.close()
    said = p.communicate(timeout=30)[1].decode()
    check("an editor that ends in order needs no line", p.returncode == 0 and not said, p.returncode, said)


def port():
    p = subprocess.Popen([PTXLOOM, "dap", "--port", "0"], stderr=subprocess.PIPE)
    at = re.search(rb":(\d+)", p.stderr.readline())
    with socket.create_connection(("127.0.0.1", int(at.group(1))), 30) as s:
        body = b'{"seq":1,"type":"request","command":"initialize","arguments":{}}'
        s.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        # What is not read when it closes would be a connection that is reset.
        answer = b""
        while b'"initialized"' not in answer:
            part = s.recv(65536)
            if not part:
                break
            answer += part
        check("an editor may come by TCP", b"supportsStepBack" in answer, answer)
    check("and ends with it", p.wait(30) == 0)
    p.stderr.close()


for session in (breakpoints, fault, changes, deadlock, reasons, points, code, patience, frames, targets, jumps, attach, ptx, refusals, killed, cuts, port):
    if WANTED and session.__name__ not in WANTED:
        continue
    try:
        session()
    except Exception as e:  # the other sessions are still of interest
        check("session %s: %s: %s" % (session.__name__, type(e).__name__, e), False)
print("1..%d" % count)
sys.exit(failed != 0)
