# NVML as nvidia-ml-py calls it, where that is installed.
. "${srcdir:-.}/tests/tap.sh"
: "${PYTHON:=python3}"
"$PYTHON" -c 'import pynvml; pynvml.nvmlDeviceGetMemoryInfo' 2>/dev/null || skip_rest "pynvml is not installed"

cat >"$scratch/ask.py" <<'END'
import pynvml as n
n.nvmlInit()
h = n.nvmlDeviceGetHandleByIndex(1)
print(n.nvmlDeviceGetCount(), n.nvmlDeviceGetName(h), n.nvmlDeviceGetPciInfo(h).busId)
print(n.nvmlDeviceGetMemoryInfo(h, version=n.nvmlMemory_v2).total >> 20)
print(n.nvmlDeviceGetCudaComputeCapability(h), n.nvmlDeviceGetComputeRunningProcesses(h))
try:
    n.nvmlDeviceGetTemperature(h, n.NVML_TEMPERATURE_GPU)
except n.NVMLError_NotSupported as e:
    print("temperature:", e)
n.nvmlShutdown()
END
succeeds "pynvml" ptxloom run -d 2xt4 "$PYTHON" "$scratch/ask.py"
says out '^2 Tesla T4 00000000:02:00.0$' "devices"
says out '^15360$' "memory"
says out '^[(]7, 5[)]' "compute capability"
says out '^temperature: Not Supported$' "what is not known"
finish
