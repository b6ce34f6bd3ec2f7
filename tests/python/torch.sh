# PyTorch's operators on the host: the package by itself, and PyTorch with it where that is installed.
. "${srcdir:-.}/tests/tap.sh"

cd "$scratch" || exit 1
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
: "${PYTHON:=python3}"
command -v "$PYTHON" >/dev/null 2>&1 || skip_rest "python3 is not installed"

cat >found.py <<'END'
import importlib.metadata as metadata, os, sys
groups = metadata.entry_points()
points = groups.select(group="torch.backends") if hasattr(groups, "select") else groups.get("torch.backends", ())
print(sorted({p.value for p in points if p.value.startswith("ptxloom")}))
import ptxloom_torch
ptxloom_torch.autoload() if sys.argv[1:] else None
print(os.path.basename(os.path.dirname(ptxloom_torch.__file__)), ptxloom_torch.enabled())
END
succeeds "run" "$bin/ptxloom" run "$PYTHON" found.py
says out "^\['ptxloom_torch:autoload'\]$" "PyTorch finds the package by itself"
says out '^ptxloom_torch False$' "which does nothing before"
PTXLOOM_TORCH=own
export PTXLOOM_TORCH
ends 1 "PTXLOOM_TORCH=own" "$bin/ptxloom" run "$PYTHON" found.py
says err "No module named 'ptxloom_torch'" "does without"
PTXLOOM_TORCH=gpu
ends 2 "PTXLOOM_TORCH=gpu" "$bin/ptxloom" run "$PYTHON" found.py
says err "PTXLOOM_TORCH takes auto, host or own, not 'gpu'" "is not known"
unset PTXLOOM_TORCH

"$PYTHON" -c 'import torch; assert torch.version.cuda' 2>/dev/null || skip_rest "PyTorch with CUDA is not installed"

PTXLOOM_DEVICE=2xa100
OMP_NUM_THREADS=1
export PTXLOOM_DEVICE OMP_NUM_THREADS
succeeds "operators as the CPU's" "$bin/ptxloom" run "$PYTHON" "$top/tests/python/torch_operators.py"
says err "^ptxloom: PyTorch's operators run on the host" "are announced"
for mode in --check=mem,init,race,sync --deterministic --stable --coverage=cov --fork=fresh "-d gb202"; do
	succeeds "operators, $mode" "$bin/ptxloom" run $mode "$PYTHON" "$top/tests/python/torch_operators.py"
done
succeeds "operators, profiled" "$bin/ptxloom" profile "$PYTHON" "$top/tests/python/torch_operators.py"
succeeds "training" "$bin/ptxloom" run "$PYTHON" "$top/samples/pytorch/train.py"
skipping || mv out device
succeeds "training on the CPU" "$PYTHON" "$top/samples/pytorch/train.py" --device cpu
same device out "has the same losses"
finish
