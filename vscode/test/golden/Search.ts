// 1 example of TypeScript: read lines
// with the text above the query, in 42 ms

// Example 1 of 1

export function first(lines: string[]): string {
  return lines[0]!;
}

// Source URL: https://github.com/owner/name/blob/0123456789abcdef0123456789abcdef01234567/src/Lines.ts#L8-L9
// License: MIT
// Score: 0.67110825

//------------
