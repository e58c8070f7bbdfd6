"""Score pairs of a query and a Java method with the shipped model, or with that of a run; no data is needed.

python examples/score_pairs.py [RUN_DIR]
"""

import sys

from neural_code_search.scoring import load_model

READ_LINES = """
static List<String> readLines(Path file) throws IOException {
    return Files.readAllLines(file, StandardCharsets.UTF_8);
}
"""
CLOSE = """
public void close() {
    if (socket != null) {
        socket.close();
    }
}
"""

model = load_model(sys.argv[1] if len(sys.argv) > 1 else None)
queries = ["read all lines of a file", "read all lines of a file", "close the connection", "close the connection"]
codes = [READ_LINES, CLOSE, READ_LINES, CLOSE]
for query, code, score in zip(queries, codes, model.score_pairs(queries, codes), strict=True):
    print(f"{score:8.3f}  {query:<25} {code.split('(')[0].split()[-1]}")
