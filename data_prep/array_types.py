"""The types of arrays and tensors with their axes in signatures, such as ``Float32[np.ndarray, "queries codes"]``.

They are jaxtyping's, which the tests check. Where that package is not installed, as for a search alone, the type is
that of the array.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float16, Float32, Int, Int8, Int32, Int64, Num, UInt, UInt8, UInt16
else:
    try:
        from jaxtyping import Bool, Float, Float16, Float32, Int, Int8, Int32, Int64, Num, UInt, UInt8, UInt16
    except ImportError:

        class _Array:
            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Bool = Float = Float16 = Float32 = Int = Int8 = Int32 = Int64 = Num = UInt = UInt8 = UInt16 = _Array

__all__ = ["Bool", "Float", "Float16", "Float32", "Int", "Int8", "Int32", "Int64", "Num", "UInt", "UInt8", "UInt16"]
