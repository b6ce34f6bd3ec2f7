"""PyTorch's operators of CUDA tensors, each by the CPU's operator on the same memory."""

import contextlib
import warnings

import torch

from . import capture, generators, memory, special

# Allocation, views and sizes: PyTorch's own need no kernel.
_NATIVE = {
    "aten::empty.memory_format", "aten::empty_strided", "aten::resize_", "aten::_resize_output_",
    "aten::set_", "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor", "aten::is_set_to", "aten::record_stream", "aten::is_pinned",
    "aten::_pin_memory", "aten::_local_scalar_dense", "aten::_efficientzerotensor",
}  # fmt: skip

# Tensors of the host may stand beside those of a device.
_MIXED = {"aten::copy_", "aten::index.Tensor", "aten::_index_put_impl_", "aten::_foreach_copy_",
          "aten::_amp_foreach_non_finite_check_and_unscale_"}  # fmt: skip

# What only composite kernels have, but which chooses closed libraries for CUDA inside.
_ADDED = ("aten::copy_", "aten::convolution", "aten::mode.values")

# Parts of sparse tensors and how they are put together; their elements are dense tensors.
_SPARSE_NATIVE = {
    "aten::_sparse_coo_tensor_with_dims", "aten::_sparse_coo_tensor_with_dims_and_tensors",
    "aten::sparse_resize_", "aten::sparse_resize_and_clear_", "aten::resize_as_sparse_",
    "aten::_coalesced_", "aten::copy_sparse_to_sparse_", "aten::_indices", "aten::_values",
}  # fmt: skip

# Dispatch keys, and those of the host for the same layout.
_KEYS = {"CUDA": "CPU", "SparseCUDA": "SparseCPU", "SparseCsrCUDA": "SparseCsrCPU"}
_PREFIX = "aten::"
_HALVES = (torch.float16, torch.bfloat16)
_libraries = []  # registrations live as long as these


class _Call:
    """One call of an operator: its arguments for the host, and where results go."""

    def __init__(self, name):
        self.name = name
        self.device = None
        self.host = None
        self.views = {}

    def _device_of(self, tensor):
        if self.device is None:
            self.device = tensor.device
        elif self.device != tensor.device and self.name not in _MIXED:
            self._mismatch(self.device, tensor.device)
        if self.device.index != tensor.device.index:
            memory.synchronize(tensor.device.index)

    def _mismatch(self, one, other):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{one} and {other}! (when checking argument in {self.name})"
        )

    def view(self, tensor):
        if not tensor.is_cuda:
            if tensor.dim() and self.host is None:
                self.host = tensor.device
            return tensor
        self._device_of(tensor)
        known = self.views.get(id(tensor))
        if known is None:
            known = self.views[id(tensor)] = memory.host_view(tensor)
        return known

    def argument(self, value):
        if isinstance(value, torch.Tensor):
            return self.view(value)
        if isinstance(value, (list, tuple)):
            return [self.argument(v) for v in value]
        if isinstance(value, torch.device) and value.type == "cuda":
            if self.device is None:
                self.device = _indexed(value)
            return torch.device("cpu")
        return value

    def check(self):
        if self.host is not None and self.device is not None and self.name not in _MIXED:
            self._mismatch(self.device, self.host)


def _sized_later(out):
    """Outputs of the host in place of those of a device that get another size."""
    if isinstance(out, (list, tuple)):
        return [_sized_later(o) for o in out]
    return torch.empty(0, dtype=out.dtype)


def _fill(out, host):
    if isinstance(out, (list, tuple)):
        for o, h in zip(out, host):
            _fill(o, h)
    else:
        out.resize_(host.size())
        memory.host_view(out).copy_(host)


def _indexed(device):
    return device if device.index is not None else torch.device("cuda", torch.cuda.current_device())


def _on_device(result, device):
    if isinstance(result, torch.Tensor):
        return memory.to_device(result, device) if result.device.type == "cpu" else result
    if isinstance(result, (list, tuple)):
        return type(result)(_on_device(r, device) for r in result)
    return result


def _written(schema):
    """Positions of arguments that are written, by their alias set."""
    found = {}
    for position, argument in enumerate(schema.arguments):
        info = argument.alias_info
        if info and info.is_write:
            for name in info.before_set:
                found[name] = position
    return found


def _returned(schema):
    """For each result the position of the argument that it is, None: a new tensor."""
    written = _written(schema)
    sets = [r.alias_info.before_set if r.alias_info else () for r in schema.returns]
    return [next((written[name] for name in s if name in written), None) for s in sets]


def is_view(schema):
    """Whether a result is a view of an argument that is not written."""
    return any(
        r.alias_info and not r.alias_info.is_write and r.alias_info.before_set
        for r in schema.returns
    )


def _is_sparse(value):
    return isinstance(value, torch.Tensor) and value.layout != torch.strided


def _gives_tensors(schema):
    return any("Tensor" in str(r.type) for r in schema.returns)


class HostOperator:
    """Kernel of one overload."""

    def __init__(self, op, name, compute=None):
        schema = op._schema
        self.compute = compute or op
        self.any_overload = compute or op.overloadpacket
        self.name = name
        self.tensors = [isinstance(a.type, torch.TensorType) for a in schema.arguments]
        self.names = [a.name for a in schema.arguments]
        self.outputs = [a.name for a in schema.arguments if a.is_out]
        self.returned = _returned(schema)
        self.draws = torch.Tag.nondeterministic_seeded in op.tags
        self.generator = "generator" if "generator" in self.names else None
        self.writes_first = 0 in _written(schema).values()

    def __call__(self, *args, **kwargs):
        call = _Call(self.name)
        host_args = [call.argument(a) for a in args]
        host_kwargs = {k: call.argument(v) for k, v in kwargs.items()}
        call.check()
        if self.writes_first and args and _is_sparse(args[0]):
            raise NotImplementedError(f"ptxloom: {self.name} does not change sparse tensors in place")
        if call.device is None:
            call.device = _indexed(torch.device("cuda"))
        if capture.is_capturing():
            return self._capture(args, kwargs, host_args, host_kwargs, call.device)
        memory.synchronize(call.device.index)
        resized = self._unsized(kwargs, host_kwargs)
        generator = self._generator(args, kwargs)
        result = self._host(generator, host_args, host_kwargs, resized, call.device.index)
        for name, host in resized.items():
            _fill(kwargs[name], host)
        return self._results(result, args, kwargs, call.device)

    def _host(self, generator, args, kwargs, resized, index):
        if not self.draws:
            return self._run(args, kwargs, resized)
        with self._randomness(generator, args, kwargs, index):
            return self._run(args, kwargs, resized)

    def _capture(self, args, kwargs, host_args, host_kwargs, device):
        """The graph computes it each time that it runs; results are allocated now."""
        made = None
        if None in self.returned:
            made = capture.shapes(self._chosen(args), self.name, args, kwargs)
            made = capture.placed(made, device)
        generator, into = self._generator(args, kwargs), capture.views(made)

        def piece():
            resized = {}
            given = list(host_args), dict(host_kwargs)
            result = self._host(generator, *given, resized, device.index)
            if resized:
                raise RuntimeError(f"ptxloom: an output of {self.name} has another size")
            capture.fill(into, result)

        capture.issue(self.name, device.index, piece)
        return self._results(made, args, kwargs, device)

    def _unsized(self, kwargs, host_kwargs):
        """Outputs without elements get a size from the operator, others keep theirs."""
        fresh = {}
        for name in self.outputs:
            out = kwargs.get(name)
            outs = out if isinstance(out, (list, tuple)) else [out]
            if any(o is not None and o.is_cuda and not o.numel() for o in outs):
                fresh[name] = host_kwargs[name] = _sized_later(out)
        return fresh

    def _chosen(self, args):
        """PyTorch hands out tensors that it made of numbers as numbers again."""
        numbers = any(t and isinstance(a, (int, float, complex)) for t, a in zip(self.tensors, args))
        return self.any_overload if numbers else self.compute

    def _run(self, args, kwargs, resized):
        compute = self._chosen(args)
        try:
            return _compute(compute, args, kwargs)
        except RuntimeError as error:
            if "not resizable" not in str(error):
                raise
        for name in self.outputs:
            resized[name] = kwargs[name] = _sized_later(kwargs[name])
        return _compute(compute, args, kwargs)

    def _generator(self, args, kwargs):
        if self.generator is None:
            return None
        return self._argument(self.names.index(self.generator), args, kwargs)

    @contextlib.contextmanager
    def _randomness(self, generator, args, kwargs, index):
        if self.generator is None:
            with generators.default_generator(index):
                yield
            return
        drawn = generators.host_generator(generator, index)
        position = self.names.index(self.generator)
        if position < len(args):
            args[position] = drawn
        else:
            kwargs[self.generator] = drawn
        yield

    def _argument(self, position, args, kwargs):
        return args[position] if position < len(args) else kwargs.get(self.names[position])

    def _results(self, result, args, kwargs, device):
        if not self.returned:
            return None
        if len(self.returned) == 1:
            position = self.returned[0]
            if position is not None:
                return self._argument(position, args, kwargs)
            return _on_device(result, device)
        return tuple(
            _on_device(r, device) if position is None else self._argument(position, args, kwargs)
            for r, position in zip(result, self.returned)
        )


def _compute(operator, args, kwargs):
    """The CPU's result; types of 16 bits that it lacks are computed in float."""
    try:
        return operator(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as error:
        if not any(f"not implemented for '{t}'" in str(error) for t in ("Half", "BFloat16")):
            raise
    return _in_float(operator, args, kwargs)


def _in_float(operator, args, kwargs):
    half, widened = [None], []

    def widen(value):
        if isinstance(value, torch.Tensor) and value.dtype in _HALVES:
            half[0] = value.dtype
            widened.append((value, value.float()))
            return widened[-1][1]
        return [widen(v) for v in value] if isinstance(value, list) else value

    def narrow(value):
        if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
            return value.to(half[0])
        return type(value)(map(narrow, value)) if isinstance(value, (list, tuple)) else value

    wide_args = [widen(a) for a in args]
    versions = [w._version for _, w in widened]
    result = operator(*wide_args, **{k: widen(v) for k, v in kwargs.items()})
    for (value, wide), version in zip(widened, versions):
        if wide._version != version:
            value.copy_(wide)
    return narrow(result)


def _overload(name):
    namespace, rest = name.split("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    except (AttributeError, RuntimeError):
        return None  # an operator of TorchScript alone


def _has_host_kernel(name, key):
    keys = (_KEYS[key], "CompositeExplicitAutograd", "CompositeImplicitAutograd")
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, k) for k in keys)


def _missing(name):
    def kernel(*args, **kwargs):
        raise NotImplementedError(
            f"ptxloom: {name} is machine code of the GPU, and PyTorch has none of it for the host"
        )

    return kernel


def _kernel(name, key):
    """The kernel to register for an operator; None: PyTorch's own works."""
    op = _overload(name)
    if op is None or name in _NATIVE or is_view(op._schema):
        return None
    if key != "CUDA" and (name in _SPARSE_NATIVE or not _gives_tensors(op._schema)):
        return None
    if name in special.VALUES:
        return special.VALUES[name]
    if name in special.COMPUTED:
        return HostOperator(op, name, special.COMPUTED[name])
    if not _has_host_kernel(name, key):
        return _missing(name) if key == "CUDA" else None
    return HostOperator(op, name)


def register():
    """Registers kernels for all of PyTorch's operators on CUDA tensors."""
    torch.backends.cudnn.enabled = False  # its composite operators then choose what the host has
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key in _KEYS:
            library = torch.library.Library("aten", "IMPL", key)
            _libraries.append(library)
            names = torch._C._dispatch_get_registrations_for_dispatch_key(key)
            for name in (*names, *(_ADDED if key == "CUDA" else ())):
                kernel = _kernel(name, key) if name.startswith(_PREFIX) else None
                if kernel is not None:
                    library.impl(name[len(_PREFIX) :], kernel, key)
