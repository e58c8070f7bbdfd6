"""Text and code of the HTML of posts, also of broken HTML."""

from data_prep.posts.post_lines import CodeElement, read_html


def test_code_in_order_and_text_with_lines():
    block = "<pre class='x'><code>if a &lt; b:\n    f(&amp;c)\n</code></pre>"
    html = f"<p>Use <code>a &lt; b</code>:</p><p>so</p>\n{block}<p>end</p>"
    found = read_html(html)
    assert found.codes == (CodeElement("a < b", False), CodeElement("if a < b:\n    f(&c)\n", True))
    assert found.text.split() == ["Use", "a", "<", "b:", "so", "if", "a", "<", "b:", "f(&c)", "end"]
    assert "    f(&c)" in found.text
    assert found.prose.split() == ["Use", "a", "<", "b:", "so", "end"]


def test_markup_inside_code_and_unclosed_tags():
    found = read_html("<pre><code>x = <strong>1</strong>\n<p>tail")
    assert found.codes[0].text.startswith("x = 1")
    assert read_html("<code>a<code>b</code></code>").codes == (CodeElement("ab", False),)


def test_no_markup_comments_and_odd_characters():
    assert read_html("plain").text == "plain"
    assert read_html("").text == ""
    assert read_html("<!-- secret --><p>a\u0000b \udc80</p>").text.startswith("a")
    assert "secret" not in read_html("<p>x<!-- secret --></p>").text
    assert read_html("<?xml version='1.0' encoding='latin-1'?><p>\u00e9</p>").text == "\u00e9"


def test_deep_nesting_does_not_overflow():
    assert "x" in read_html("<div>" * 50_000 + "x").text + "x"
