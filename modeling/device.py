"""Where models compute."""


def best_device() -> str:
    """A GPU where torch finds one, else the processor."""
    import torch  # slow to import, and not needed to tell a model from a name

    return "cuda" if torch.cuda.is_available() else "cpu"
