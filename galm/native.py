"""The C kernels, called with tensors.

Without a C compiler, GALM uses its PyTorch implementation: the same results, several times slower.
"""

import ctypes
import functools

import torch
from torch import Tensor

from galm.kernel_library import LANES, kernels_for


def call(name: str, *arguments: ctypes.Structure | Tensor) -> None:
    """Run a kernel on structures and tensors, which are passed by address."""
    library = kernels()
    assert library is not None
    addresses = [each.data_ptr() if isinstance(each, Tensor) else ctypes.addressof(each) for each in arguments]
    library[name](*map(ctypes.c_void_p, addresses))


def address(tensor: Tensor | None) -> int | None:
    """The address of a contiguous tensor of 32-bit numbers."""
    assert tensor is None or (tensor.is_contiguous() and tensor.dtype in (torch.float32, torch.int32))
    return None if tensor is None else tensor.data_ptr()


def fits(tensor: Tensor, *widths: int) -> bool:
    """Whether the kernels support such a tensor, with rows of these widths."""
    fitting = tensor.dtype == torch.float32 and tensor.device.type == "cpu"
    return fitting and all(width % LANES == 0 for width in widths) and kernels() is not None


@functools.cache
def kernels() -> ctypes.CDLL | None:
    """The compiled kernels; None without a C compiler, or if GALM_NATIVE=0 is set."""
    # Compiled for OpenMP, linked without it: when loaded, the calls resolve to torch's OpenMP library.
    return kernels_for(torch.__version__, ["-fopenmp"])
