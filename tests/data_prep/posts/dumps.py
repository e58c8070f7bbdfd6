"""Small dumps for the tests, written as Stack Exchange writes them."""

from pathlib import Path
from xml.sax.saxutils import quoteattr

from data_prep.posts.sets import NOBODY, Post

TRACEBACK = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
    open(name)
FileNotFoundError: [Errno 2] No such file"""
POST = Post("s", 1, "t", (), "", "x" * 10, "", "", "", (), "", None, (), (), "", NOBODY, NOBODY)


def code(text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<pre><code>{escaped}\n</code></pre>"


def question(number, body="<p>why</p>", *, accepted=None, tags="<python>", title="A title", created="2015-06-01"):
    row = {"Id": number, "PostTypeId": 1, "AcceptedAnswerId": accepted, "CreationDate": f"{created}T10:00:00.000"}
    return row | {"Body": body, "OwnerUserId": 7, "Title": title, "Tags": tags}


def answer(number, parent, body="<p>because</p>"):
    created = "2015-06-02T10:00:00.000"
    return {"Id": number, "PostTypeId": 2, "ParentId": parent, "CreationDate": created, "Body": body}


def link(source, target, kind=3):
    return {"Id": source, "CreationDate": "2015-06-02T10:00:00.000", "PostId": source, "RelatedPostId": target,
            "LinkTypeId": kind}  # fmt: skip


def table(name, rows):
    attributes = (
        " ".join(
            f"{key}={quoteattr(str(value), {chr(10): '&#xA;'})}" for key, value in row.items() if value is not None
        )
        for row in rows
    )
    lines = "\n".join(f"  <row {each} />" for each in attributes)
    return f'\ufeff<?xml version="1.0" encoding="utf-8"?>\n<{name}>\n{lines}\n</{name}>'.encode()


def write_dump(folder: Path, posts, links=None, site="a.example") -> Path:
    path = folder / site
    path.mkdir(parents=True, exist_ok=True)
    (path / "Posts.xml").write_bytes(table("posts", posts))
    if links is not None:
        (path / "PostLinks.xml").write_bytes(table("postlinks", links))
    return path


def small_dump(folder: Path) -> Path:
    """Four answered questions, a duplicate of the first, a duplicate of one without an answer, a link."""
    posts = []
    for number in range(1, 5):
        body = f"<p>It fails.</p>{code(f'x{number} = open(name)')}{code(TRACEBACK.replace('name', f'name{number}'))}"
        posts += [question(number, body, accepted=100 + number, title=f"Title {number}")]
    posts += [question(5, code("y = open(name1)"), title="A duplicate"), question(6, code("z = 1"), title="Another")]
    posts += [question(7, "<p>No code, no answer.</p>"), question(8, code("w = 2"), title="A link")]
    posts += [answer(100 + number, number, f"<p>Check that name{number} exists.</p>") for number in range(1, 5)]
    return write_dump(folder, posts, [link(5, 1), link(5, 1, 1), link(6, 7), link(8, 2, 1), link(5, 99)])
