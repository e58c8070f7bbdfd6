// 2 examples of Go: read lines
// with the text above the query, in 42 ms

// Example 1 of 2

func first(lines []string) string {
	return lines[0]
}

// Source URL: https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/src/Lines.go#L8-L9
// License: MIT
// Score: 0.67110825

//------------
// Example 2 of 2

type Lines struct{}

// Source: src/lines.py:8-8
// License: not known
// Score: not known, since the index has no vectors

//------------
