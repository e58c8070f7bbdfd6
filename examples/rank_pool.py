"""Rank a pool of Java methods for questions. The pool is parsed once and ranked for any number of them.

python examples/rank_pool.py [QUESTION ...]
"""

import sys

from neural_code_search.scoring import load_model

POOL = [
    """static List<String> readLines(Path file) throws IOException { return Files.readAllLines(file); }""",
    """public void close() { if (socket != null) { socket.close(); } }""",
    """int indexOf(String text, char c) {
        for (int i = 0; i < text.length(); i++) if (text.charAt(i) == c) return i;
        return -1;
    }""",
    """static String join(List<String> words) {
        StringBuilder all = new StringBuilder();
        for (String word : words) all.append(word);
        return all.toString();
    }""",
    """byte[] digest(byte[] data) throws Exception { return MessageDigest.getInstance("SHA-256").digest(data); }""",
]

pool = load_model().pool(POOL)
for question in sys.argv[1:] or ["position of the first matching character", "hash of some bytes"]:
    indices, scores = pool.rank(question, top=3)
    print(question)
    for rank, (index, score) in enumerate(zip(indices, scores, strict=True), start=1):
        print(f"  {rank}  {score:8.3f}  {POOL[index].splitlines()[0][:80]}")
