// 2 examples of Java: read lines
// with the text above the query, in 42 ms

// Example 1 of 2

public int count() {
    return 1; // one
}

// Source URL: https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/src/Lines.java#L8-L9
// License: MIT
// Score: 0.67110825

//------------
// Example 2 of 2

void close() {
}

// Source: src/lines.py:8-11
// License: not known
// Score: not known, since the index has no vectors

//------------
