// 2 examples of JavaScript: read lines
// with the text above the query, in 42 ms

// Example 1 of 2

const first = (lines) => lines[0];

// Source URL: https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/src/Lines.js#L8-L9
// License: MIT
// Score: 0.67110825

//------------
// Example 2 of 2

function last(lines) {
	return lines.at(-1);
}

// Source: src/lines.py:8-10
// License: not known
// Score: not known, since the index has no vectors

//------------
