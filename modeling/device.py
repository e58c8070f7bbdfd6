"""The device that models run on."""


def best_device() -> str:
    """``cuda`` if torch finds a GPU, else ``cpu``."""
    import torch  # slow to import, and not needed to look up a model by name

    return "cuda" if torch.cuda.is_available() else "cpu"
