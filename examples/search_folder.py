"""Index a folder of Java code and search it. The index is in the user's cache folder; only changed files are reread.

python examples/search_folder.py FOLDER [QUESTION ...]
"""

import sys

from neural_code_search.folder_index import index_folder

if len(sys.argv) < 2:
    sys.exit("usage: python examples/search_folder.py FOLDER [QUESTION ...]")
try:
    index = index_folder(sys.argv[1])
    print(f"{len(index):,} functions, types and files of {len(index.files):,} files in {index.path}")
    for question in sys.argv[2:] or ["read all lines of a file"]:
        print(question)
        for hit in index.search(question, top=5):
            place = f"{hit.path!r} lines {hit.start_line}-{hit.end_line}"
            print(f"  {hit.rank}  {hit.score:6.2f}  {hit.name}  {place}  {hit.url}")
except ValueError as error:  # one line that says what was expected
    sys.exit(f"search_folder: {error}")
