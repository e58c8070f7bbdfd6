# 2 examples of Python: read lines
# with the text above the query, in 42 ms

# Example 1 of 2

def lines(path):
    return open(path).readlines()

# Source URL: https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/src/Lines.py#L8-L9
# License: MIT
# Score: 0.67110825

#------------
# Example 2 of 2

class Lines:
    def count(self) -> int:
        return 1

# Source: src/lines.py:8-11
# License: not known
# Score: not known, since the index has no vectors

#------------
