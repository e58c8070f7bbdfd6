"""A route leads to what serves it; of an address the host, port, query and fragment are values, as numbers are."""

import pytest
from repositories import write
from serving import index_of

from search.engine.engine import Engine
from search.index.index_file import open_index
from search.models.packed import reranker_maker

FILES = {
    "site/urls.py": (
        "from django.urls import path, re_path\n\nfrom . import views\n\n"
        'urlpatterns = [\n    path("articles/<int:year>/", views.year_archive),\n'
        '    path("articles/<int:year>/<int:month>/", views.month_archive),\n'
        '    path("persons/<uuid:id>", views.shown),\n]\n'
    ),
    "site/views.py": (
        "def year_archive(request, year):\n    return render(request, year)\n\n\n"
        "def month_archive(request, year, month):\n    return render(request, month)\n\n\n"
        "def shown(request, id):\n    return render(request, id)\n"
    ),
    "api/app.py": (
        "@app.get('/health')\ndef health():\n    return 'ok'\n\n\n"
        "@app.get('/users/{user}/orders')\ndef orders_of(user):\n    return shop.orders(user)\n\n\n"
        "@app.post('/users')\ndef add_user():\n    return shop.add()\n"
    ),
    "api/client.py": "BASE = 'http://backend.example.com:90/status'\n\n\ndef status(client):\n    client.get(BASE)\n",
    "shop/web.php": (
        "<?php\n\nRoute::post('/tanks/{tank}/feed', function (Tank $tank) {\n    return $tank->feed();\n});\n"
        "Route::prefix('reef')->group(function () {\n"
        "    Route::delete('/coral/{id}', 'CoralController@destroy');\n});\n"
    ),
    "api/ferries.rb": "post '/ferries' do\n  201\nend\n\nget '/ferries/:fid' do\n  load(params)\nend\n",
    "api/crates.js": (
        "router.route('/crates')\n  .post((req, res) => res.send(201))\n"
        "  .delete(function (req, res) {\n    res.send(204);\n  });\n"
        "router.get('/canoes/:id', (req, res) => {\n  res.send(load(req));\n});\nrouter.post('/canoes', stored);\n"
        "\nfunction stored(req, res) {\n  res.send(201);\n}\n"
    ),
    "api/seals.rs": (
        'pub fn app() -> Router {\n    Router::new()\n        .route("/seals/:id", get(one))\n'
        '        .route("/seals", post(|Json(s): Json<Seal>| async move {\n            store(s)\n        }))\n}\n\n'
        "async fn one() {}\n"
    ),
    **{f"api/module_{n}.py": f"def run_{n}(value):\n    return value + {n}\n" for n in range(9)},
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("routes")
    return Engine(open_index(index_of(write(folder / "tree", FILES), folder / "index")), None)


@pytest.mark.parametrize(
    ("question", "path", "name"),
    [
        ("GET /health", "api/app.py", "health"),
        ("http://localhost:5000/health", "api/app.py", "health"),
        ("https://shop.example.com/health", "api/app.py", "health"),
        ("GET http://localhost:5000/health", "api/app.py", "health"),
        ("http://127.0.0.1:8000/health?verbose=7#top", "api/app.py", "health"),
        ("http://[::1]:8000/health", "api/app.py", "health"),
        ("localhost:5000/health", "api/app.py", "health"),
        ("/health?since=2020-01-01", "api/app.py", "health"),
        ("http://localhost:5000/users/42/orders", "api/app.py", "orders_of"),
        ("/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301/orders", "api/app.py", "orders_of"),
        ("POST /crates", "api/crates.js", "POST /crates"),
        ("DELETE /crates", "api/crates.js", "DELETE /crates"),
        ("POST /canoes", "api/crates.js", "stored"),
        ("/ferries/7", "api/ferries.rb", "GET /ferries/:fid"),
        ("/ferries", "api/ferries.rb", "POST /ferries"),
        ("POST /seals", "api/seals.rs", "POST /seals"),
        ("GET /canoes/7", "api/crates.js", "GET /canoes/:id"),
        ("ws://localhost:5000/users/42/orders", "api/app.py", "orders_of"),
        ("http://backend.example.com:90/status", "api/client.py", "status"),
        ("/articles/2020/", "site/urls.py", "urlpatterns"),
        ("articles/2020/", "site/urls.py", "urlpatterns"),
        ("GET /articles/2020/", "site/urls.py", "urlpatterns"),
        ("articles/<int:year>/", "site/urls.py", "urlpatterns"),
        ("/articles/2020/06/", "site/urls.py", "urlpatterns"),
        ("http://localhost:8000/articles/2020/", "site/urls.py", "urlpatterns"),
        ("/persons/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "site/urls.py", "urlpatterns"),
    ],
)
def test_a_route(engine, question, path, name):
    hits = engine.search(question)
    assert engine.index.file(hits[0].row).path == path
    assert engine.index.names[hits[0].row] in ("urls", name)
    said = engine.certainty(question, hits)
    assert said.level == "strong"
    assert "no file has" not in said.line


def test_a_route_that_is_not_there(engine):
    question = "http://localhost:5000/invoices/7"
    said = engine.certainty(question, engine.search(question))
    assert said.level == "none"
    assert [*said.absent] == ["invoices"]


@pytest.mark.parametrize("question", ["/reef/coral/3", "DELETE /coral/3", "reef", "coral controller"])
def test_a_route_beside_the_only_function_of_its_file_is_that_of_the_file(engine, question):
    engine = Engine(engine.index, reranker_maker("", for_many=False)(engine.index))
    hits = engine.search(question)
    assert engine.index.is_whole_file(hits[0].row)
    assert engine.index.file(hits[0].row).path == "shop/web.php"
    assert engine.certainty(question, hits).level == "strong"


def test_a_file_that_says_what_its_only_function_does_is_none_beside_it(engine):
    hits = engine.search("/tanks/3/feed")
    assert engine.index.names[hits[0].row] == "POST /tanks/{tank}/feed"
    assert not any(engine.index.is_whole_file(hit.row) and "shop" in engine.index.file(hit.row).path for hit in hits)
