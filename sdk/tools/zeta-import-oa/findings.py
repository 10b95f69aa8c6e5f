"""What is wrong with an input, with file and line."""


class Refused(Exception):
    """Something in the input cannot be imported."""

    def __init__(self, path, line, text):
        super().__init__(f"{path}:{line}: {text}" if line else f"{path}: {text}")
