"""The names of array types in annotations, such as ``Float32[np.ndarray, "rows dim"]``.

They are jaxtyping's for type checkers, and where it has been imported, as in tests, which check arrays by it. Elsewhere
they say only what the array is of: to import jaxtyping takes as long as numpy, and a question has no use for it.
"""

import sys
from types import GenericAlias
from typing import TYPE_CHECKING

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool as Bool
    from jaxtyping import Float as Float
    from jaxtyping import Float16 as Float16
    from jaxtyping import Float32 as Float32
    from jaxtyping import Int as Int
    from jaxtyping import Int8 as Int8
    from jaxtyping import Int32 as Int32
    from jaxtyping import Int64 as Int64
    from jaxtyping import Num as Num
    from jaxtyping import UInt8 as UInt8
    from jaxtyping import UInt16 as UInt16
    from jaxtyping import UInt64 as UInt64
else:

    class _Array:
        """An array of any type."""

        __class_getitem__ = classmethod(GenericAlias)

    Bool = Float = Float16 = Float32 = Int = Int8 = Int32 = Int64 = Num = UInt8 = UInt16 = UInt64 = _Array
