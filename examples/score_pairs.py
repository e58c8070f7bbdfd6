"""Score pairs of a query and a Java method, and rank a pool of methods for questions; no data is needed.

python examples/score_pairs.py [QUESTION ...]

The pool is parsed once and ranked for any number of questions. ``load_model("runs/NAME")`` takes the model of a run in
the place of the shipped one.
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

model = load_model()
queries = ["read all lines of a file", "read all lines of a file", "close the connection", "close the connection"]
codes = [*POOL[:2], *POOL[:2]]
for query, code, score in zip(queries, codes, model.score_pairs(queries, codes), strict=True):
    print(f"{score:8.3f}  {query:<25} {code.split('(')[0].split()[-1]}")

pool = model.pool(POOL)
for question in sys.argv[1:] or ["position of the first matching character", "hash of some bytes"]:
    indices, scores = pool.rank(question, top=3)
    print(question)
    for rank, (index, score) in enumerate(zip(indices, scores, strict=True), start=1):
        print(f"  {rank}  {score:8.3f}  {POOL[index].splitlines()[0][:80]}")
