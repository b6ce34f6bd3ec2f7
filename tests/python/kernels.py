"""The package without pytest: prints lines that the test looks at."""

import array
import sys

import ptxloom

device = ptxloom.Device("h100", checks="race")
print(device.name, device.number("sms"))
module = device.load(sys.argv[1])
print(module.kernels())
saxpy = module.kernel("saxpy")
print([p[:2] for p in saxpy.parameters])
x, y = array.array("f", [1] * 8), array.array("f", range(8))
saxpy.launch(1, 32, 8, 2.0, x, y)
print(list(y))


def refused(what, *arguments, **options):
    try:
        what(*arguments, **options)
    except Exception as error:
        print(type(error).__name__, getattr(error, "name", ""), error)


refused(saxpy.launch, 1, 32, 8, 2.0, x)
refused(saxpy.launch, 1, 32, 8, 2.0, x, b"1234")
refused(saxpy.launch, 1, 4096, 8, 2.0, x, y)
refused(saxpy.launch, 0, 32, 8, 2.0, x, y)
refused(saxpy.launch, 1, 32, 1 << 40, 2.0, x, y)
refused(saxpy.launch, 1, 32, 8, 2.0, x, memoryview(bytes(y)))
refused(module.kernel, "saxpi")
templates = device.load_text("".join(
    [".version 8.0\n.target sm_80\n.address_size 64\n"] +
    [".visible .entry %s() { ret; }\n" % n for n in ("_Z1fIiEvPT_i", "_Z1fIfEvPT_i", "_Z5scalePfi")]))
print([templates.kernel(n).name for n in ("f<float>", "f<int>(int*, int)", "scale", "scale(float*, int)")])
refused(templates.kernel, "f")
refused(device.load, "nowhere.ptx")
refused(device.load_text, ".version 8.0 nothing")
refused(ptxloom.Device, "h1000")
try:
    saxpy.launch(1, 32, 16, 2.0, x, y)
except ptxloom.Fault as fault:
    print("fault", fault.name, fault.kind, fault.ptx[1], fault.thread, fault.block)

race = device.load(sys.argv[2]).kernel("race_no_barrier")
race.launch(1, 64, array.array("I", [0] * 64))
print([(f.check, f.is_warning, f.places[0].line) for f in device.findings()])
device.clear_findings()
print(device.findings())
device.close()
refused(device.load, sys.argv[1])

device = ptxloom.Device("h100", counters="exact")
saxpy = device.load(sys.argv[1]).kernel("saxpy")
for n in (8, 32):
    x, y = array.array("f", [1] * n), array.array("f", [1] * n)
    saxpy.launch(1, 32, n, 2.0, x, y)
print(device.metric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "saxpy"))
(kernel,) = device.counters()
print(kernel.name, [launch.metrics["smsp__inst_executed_op_global_st.sum"] for launch in kernel.launches])
print([(line.ptx_line, line.counts["global_requests"]) for line in kernel.lines
       if "global_requests" in line.counts])
device.expect_metric("bank_conflicts == 0")
device.expect_metric("bank_conflicts == 0 at saxpy.ptx:34")
refused(device.expect_metric, "global_ld_sectors == 3 at saxpy.ptx:34")
refused(device.expect_metric, "global_ld_sectors == 3")
refused(device.expect_metric, "nothing")
refused(device.metric, "dram__sectors_read.sum")
refused(device.metric, "bank_conflicts", "saxpi")
refused(device.metric, "l1tex__t_request.sum")
refused(ptxloom.metric, "bank_conflicts")
refused(ptxloom.Device, counters="all")
device.reset()
print(device.counters(), ptxloom.counters())
refused(device.metric, "bank_conflicts")
