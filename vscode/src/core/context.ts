// The text above a query, as it is sent with it.

/** Bytes of a context, at most. */
export const LARGEST_CONTEXT = 64 * 1024;

/**
 * The end of `above`, from the beginning of a line, of at most `largest` bytes of UTF-8. Halves of characters, which
 * UTF-8 cannot express, become U+FFFD.
 */
export function contextOf(above: string, largest: number = LARGEST_CONTEXT): string {
  if (largest <= 0) return "";
  const bytes = Buffer.from(above.slice(-largest - 1), "utf8"); // a character is one byte or more
  if (bytes.length <= largest) return bytes.toString("utf8");
  const line = bytes.indexOf("\n", bytes.length - largest - 1); // a line may begin just where the cut is
  return line < 0 ? "" : bytes.subarray(line + 1).toString("utf8");
}
