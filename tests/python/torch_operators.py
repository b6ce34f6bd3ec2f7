"""Operators of PyTorch on an emulated device, each compared with the CPU's: prints what differs."""

import io
import sys
import threading

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves, tree_map

failed = []


def moved(value, device):
    def move(v):
        if isinstance(v, torch.Tensor):
            return v.detach().to(device).requires_grad_(v.requires_grad)
        return v

    return tree_map(move, value)


def same(name, function, *args):
    """function(*args) on both; gradients, too, of arguments that need them."""

    def run(device):
        torch.manual_seed(7)
        given = moved(args, device)
        out = function(*given)
        wanted = [v for v in tree_leaves(given) if isinstance(v, torch.Tensor) and v.requires_grad]
        tensors = [v for v in tree_leaves(out) if isinstance(v, torch.Tensor)]
        if wanted:
            loss = sum(v.abs().sum() for v in tensors if v.requires_grad)
            tensors += torch.autograd.grad(loss, wanted)
        if any(v.device.type != device for v in tensors):
            raise AssertionError(f"a result is not on {device}")
        return [v.detach().cpu().to_dense() for v in tensors], given

    try:
        torch.testing.assert_close(run("cuda"), run("cpu"), rtol=1e-3, atol=1e-3, check_device=False)
    except Exception as error:
        failed.append(name)
        print(f"{name}: {type(error).__name__}: {str(error)[:300]}")


def rows(*shape, grad=False, dtype=torch.float32):
    return torch.randn(*shape).to(dtype).requires_grad_(grad)


def elementwise():
    x, y = rows(4, 5, grad=True), rows(5, grad=True)
    same("add", lambda a, b: a + 2 * b, x, y)
    same("wrapped numbers", lambda a: (a % 3, a // 2, 7 - a, a > 0, a**2), rows(6))
    same("promotion", lambda a: (a + 1, a + 1.5, a * True), torch.arange(5))
    same("strides", lambda a: a.t()[::2].exp() + a[0, 3], x)
    same("in place", lambda a: a.mul_(2).add_(1).clamp_(0), rows(3, 3))
    same("views", lambda a: a.view(-1)[2:7].fill_(5), rows(3, 3))
    same("mask", lambda a: a.masked_fill(a > 0, 9.0), x)
    for dtype in (torch.float16, torch.bfloat16):
        same(f"{dtype}", lambda a: (a @ a.t()).softmax(1, torch.float32), rows(4, 4, dtype=dtype))
    same("complex", lambda a: (a.conj() * a, a.conj().sum()), rows(4, dtype=torch.complex64))


def indexing():
    x, i = rows(6, 4, grad=True), torch.tensor([3, 1, 1])
    same("gather", lambda a, j: (a[j], a[j, j], a.index_select(1, j)), x, i)
    same("scatter", lambda a, j: a.index_add(0, j, torch.ones(3, 4, device=a.device)), rows(6, 4), i)
    same("assign", lambda a, j: a.__setitem__(j, 1.5), rows(6, 4), i)
    same("cpu index", lambda a: a[torch.tensor([0, 2])], rows(6))
    same("nonzero", lambda a: (a.nonzero(), a[a > 0]), rows(5, 5))
    same("sort", lambda a: (a.sort(1), a.topk(2), a.mode(0), a.unique()), torch.arange(8).view(2, 4) % 3)
    same("cat", lambda a: torch.cat((a, a.flip(0))).split(5), rows(6, 4))


def outputs():
    def into(a, size):
        out = torch.empty(size, device=a.device)
        torch.mul(a, 3, out=out)
        return out

    same("out=", into, rows(4), torch.Size([4]))
    same("out= without elements", into, rows(4), torch.Size([0]))
    same("several out=", lambda a: torch.sort(a, out=(torch.empty_like(a), torch.empty(0, dtype=torch.long, device=a.device))), rows(9))  # fmt: skip


def networks():
    same("conv", lambda x, w: F.conv2d(x, w, stride=2, padding=1), rows(2, 3, 8, 8, grad=True), rows(4, 3, 3, 3, grad=True))  # fmt: skip
    same("transposed", lambda x, w: F.conv_transpose2d(x, w), rows(2, 3, 5, 5), rows(3, 4, 3, 3))
    same("batch norm", lambda x: F.batch_norm(x, None, None, training=True), rows(8, 3, 4, grad=True))
    same("rms norm", lambda x, w: F.rms_norm(x, (6,), w), rows(4, 6, grad=True), rows(6, grad=True))
    same("pool", lambda x: (F.max_pool2d(x, 2), F.adaptive_avg_pool2d(x, 3)), rows(1, 2, 8, 8, grad=True))
    for causal in (False, True):
        same("attention", lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=causal), rows(2, 4, 8, 16, grad=True), rows(2, 4, 8, 16, grad=True))  # fmt: skip
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        torch.manual_seed(3)
        state = kind(5, 7, 2, bidirectional=True).state_dict()

        def run(x, kind=kind, state=state):
            layer = kind(5, 7, 2, bidirectional=True).to(x.device)
            layer.load_state_dict(state)
            return layer(x)[0]

        same(kind.__name__, run, rows(9, 4, 5, grad=True))
    same("linear algebra", lambda a: (torch.linalg.solve(a, a), torch.linalg.svdvals(a)), rows(5, 5) + 5 * torch.eye(5))  # fmt: skip
    same("fft", lambda a: torch.fft.irfft2(torch.fft.rfft2(a)), rows(8, 8))
    same("ctc", lambda a: F.ctc_loss(a.log_softmax(2), torch.tensor([[1, 2], [3, 4]]).to(a.device), torch.tensor([9, 9]), torch.tensor([2, 2])), rows(9, 2, 5))  # fmt: skip


def sparse():
    place, x = torch.tensor([[0, 1, 1], [2, 0, 2]]), rows(3)
    same("sparse", lambda i, v: torch.sparse_coo_tensor(i, v, (2, 3)) @ torch.ones(3, 2, device=v.device), place, x)  # fmt: skip
    same("csr", lambda a: a.relu().to_sparse_csr() @ a.t(), rows(4, 4))


def generators():
    first = torch.rand(4, device="cuda")
    state = torch.cuda.get_rng_state()
    second = torch.rand(4, device="cuda")
    torch.cuda.set_rng_state(state)
    if torch.equal(first, second) or not torch.equal(second, torch.rand(4, device="cuda")):
        failed.append("states of generators")
    torch.manual_seed(5)
    on_device = torch.randn(6, device="cuda")
    torch.manual_seed(5)
    if not torch.equal(on_device.cpu(), torch.randn(6)):
        failed.append("seeds")
    kept = F.dropout(torch.ones(10000, device="cuda"), 0.25)
    if not 0.7 < (kept > 0).float().mean().item() < 0.8:
        failed.append("dropout")


def training():
    def steps(device, half):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
        x, y = torch.randn(32, 8), torch.arange(32) % 4
        model, x, y = model.to(device), x.to(device), y.to(device)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2, foreach=True)
        scaler = torch.amp.GradScaler(device, enabled=half)
        losses = []
        for _ in range(6):
            with torch.autocast(device, dtype=torch.float16, enabled=half):
                loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        return torch.tensor(losses)

    for half in (False, True):
        if not torch.allclose(steps("cuda", half), steps("cpu", half), atol=2e-2 if half else 1e-5):
            failed.append("training")


def whole():
    def refused(name, function, words):
        try:
            function()
        except (RuntimeError, NotImplementedError) as error:
            if words in str(error) or words in str(error.__context__):
                return
            print(name, error)
        failed.append(name)

    a = torch.ones(4, device="cuda")
    refused("two devices", lambda: a + torch.ones(4), "Expected all tensors to be on the same device")
    if torch.cuda.device_count() > 1:
        b = torch.ones(4, device="cuda:1")
        refused("two GPUs", lambda: a + b, "cuda:0 and cuda:1")
        if (b * 2).device.index != 1 or (a.to("cuda:1") + b).sum().item() != 8:
            failed.append("the second device")

    file = io.BytesIO()
    torch.save(a, file)
    file.seek(0)
    if torch.load(file).device != a.device:
        failed.append("load")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        sums = torch.arange(1000.0, device="cuda").cumsum(0)
    torch.cuda.current_stream().wait_stream(side)
    if sums[-1].item() != 499500:
        failed.append("streams")
    results = [None] * 4

    def work(k):
        results[k] = torch.full((50, 50), float(k), device="cuda").matmul(torch.eye(50, device="cuda")).sum().item()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    if results != [2500.0 * k for k in range(4)]:
        failed.append("threads")


def graphs():
    x, w = torch.randn(8, 8, device="cuda"), torch.zeros(8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x @ x.t()).relu().sum(1)
        w += y
        noise = F.dropout(torch.ones_like(x))
    for replay in range(3):
        x.normal_()
        w.zero_()
        graph.replay()
        if not torch.allclose(y, (x @ x.t()).relu().sum(1)) or not torch.equal(w, y):
            failed.append(f"replay {replay}")
        if replay and torch.equal(noise, before):
            failed.append("the same random numbers again")
        before = noise.clone()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            x.nonzero()
        failed.append("a shape that depends on values")
    except RuntimeError as error:
        if "depend on values" not in str(error):
            failed.append(str(error))


for part in (elementwise, indexing, outputs, networks, sparse, generators, training, whole, graphs):
    before = len(failed)
    part()
    print(part.__name__, "differs" if len(failed) > before else "ok", *failed[before:])
sys.exit(bool(failed))
