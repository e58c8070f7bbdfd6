"""The one kind of error that is told in one line: what a person asked for, or a file holds, cannot be used."""


class UserError(ValueError):
    """A mistake of the caller or in a file; its message says what was expected, what came and what to do.

    Every other exception is a fault of this program, or of a model that somebody wrote, and ends with its traceback.
    """
