"""Functions that are given to a call with a text are named by both; corpora do not have them."""

import pytest

from data_prep.languages.registry import language
from data_prep.records import SourceFile
from search.files.languages import read_file

JAVASCRIPT = """const router = require("express").Router();

// Gets one order.
router.get("/orders/:id", auth, async (req, res) => {
  res.json(await find(req.params.id));
});
app.use(function (err, req, res, next) { res.end(); });
router.route("/books").get(function (req, res) { list(); }).post((req, res) => { add(); });
app.put("/wrapped", asyncHandler(async (req, res) => {
  update();
}));
fastify.route({ method: "POST", url: "/fast", handler: async (request) => { return 1; } });
emitter.on("close", function () {
  done();
});
describe("calculator", () => {
  it("adds two numbers", () => {
    expect(add(1, 2)).toBe(3);
  });
});
"a".replace("a", () => {
  return 1;
});
items.map((item) => {
  return item;
});
"""
GO = """package a

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) {
		write(w)
	})
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) { get(w) })
	r.GET("/orders/:id", auth, func(c *gin.Context) {
		c.JSON(200, find(c))
	})
	r.Route("/articles", func(r chi.Router) {
		r.Get("/{id}", func(w http.ResponseWriter, r *http.Request) {
			show(w)
		})
	})
}
"""
JAVA = """class App {
  static void main(String[] args) {
    get("/orders/:id", (req, res) -> {
      return find(req.params("id"));
    });
    app.post("/orders", ctx -> ctx.json(save(ctx.body())));
    path("/users", () -> {
      delete("/{id}", ctx -> remove(ctx));
    });
    list.forEach(each -> { print(each); });
  }
}
"""
SCRIPTS = {
    "GET /orders/:id": (4, 6),
    "GET /books": (8, 8),
    "POST /books": (8, 8),
    "PUT /wrapped": (9, 11),
    "POST /fast": (12, 12),
    "on close": (13, 15),
}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("routes/a.js", JAVASCRIPT, SCRIPTS),
        ("routes/a.ts", JAVASCRIPT, SCRIPTS),
        ("a.go", GO, {
            "HandleFunc /hello": (4, 6), "GET /items/{id}": (7, 7), "GET /orders/:id": (8, 10),
            "Route /articles": (11, 15), "GET /articles/{id}": (12, 14),
        }),
        ("A.java", JAVA, {
            "GET /orders/:id": (3, 5), "POST /orders": (6, 6), "path /users": (7, 9), "DELETE /users/{id}": (8, 8),
        }),
    ],
)  # fmt: skip
def test_handlers_are_units_with_their_routes_and_lines(path, text, expected):
    units = [unit.pair.method for unit in read_file(SourceFile("", path, text.encode())).units]
    found = {each.name: (each.start_line, each.end_line) for each in units if " " in each.name}
    assert found == expected
    lines = text.split("\n")
    for each in units:
        if " " in each.name:
            assert each.source in "\n".join(lines[each.start_line - 1 : each.end_line])


def test_a_handler_has_the_words_of_its_route_and_of_its_file():
    text = 'router.get("/:id", async (req, res) => {\n  res.json(await db.find(req.params.id));\n});\n'
    (unit,) = (each for each in read_file(SourceFile("", "routes/orders.js", text.encode())).units[1:])
    assert unit.pair.method.name == "GET /:id"
    assert unit.pair.words("name") == ("get", "id", "orders")
    assert {"db", "find", "params"} <= set(unit.pair.words("tokens"))


def test_the_comment_before_a_route_is_its_own():
    units = {unit.pair.method.name: unit.pair for unit in read_file(SourceFile("", "a.js", JAVASCRIPT.encode())).units}
    assert units["GET /orders/:id"].query_text == "Gets one order."


def test_the_functions_of_corpora_stay_as_they_were():
    names = [each.name for each in language("javascript").parse(JAVASCRIPT.encode(), "a.js").functions]
    assert set(names) == {"", "handler"}
    assert [each.name for each in language("go").parse(GO.encode(), "a.go").functions] == ["main"]


def test_handlers_in_a_module_of_tests_are_found_by_the_whole_file():
    text = (
        'fn app() -> Router {\n    Router::new().route("/otters", get(|| async { list() }))\n}\n'
        "mod tests {\n    #[tokio::test]\n    async fn works() {\n"
        '        let app = Router::new().route("/", post(|x: Newt| async { x }));\n    }\n}\n'
    )
    names = [unit.pair.method.name for unit in read_file(SourceFile("", "src/app.rs", text.encode())).units]
    assert "GET /otters" in names
    assert "works" in names
    assert "POST /" not in names


def test_in_tests_of_go_what_is_inside_of_functions_is_found_by_these():
    names = [unit.pair.method.name for unit in read_file(SourceFile("", "a_test.go", GO.encode())).units]
    assert names == ["a_test", "main"]


@pytest.mark.parametrize("path", ["a.js", "a.ts"])
def test_what_a_constant_is_given_is_found_by_the_constant_but_for_routes(path):
    call = '("Shape", (each) => {\n  fill(each);\n});\n'
    text = f"""export const Shape = /* pure */ core.create{call}const Other = await create{call}create{call}
function inside() {{ const own = watch{call} }}
const route = app.get("/orders", (req, res) => {{ list(res); }});
"""
    names = [unit.pair.method.name for unit in read_file(SourceFile("", path, text.encode())).units[1:]]
    assert names == ["Shape", "Other", "create Shape", "inside", "watch Shape", "route", "GET /orders"]


@pytest.mark.parametrize("path", ["tests/a.js", "benchmarks/a.ts", "a.test.js"])
def test_tests_and_benchmarks_have_no_handlers(path):
    text = 'suite.add("valid", () => {\n  parse(1);\n});\napp.get("/a", (req, res) => { res.end(); });\n'
    names = [unit.pair.method.name for unit in read_file(SourceFile("", path, text.encode())).units[1:]]
    assert names == []


ROUTES = {
    "a.rb": (
        'get "/turtles/:id" do\n  find(1)\nend\nget("/eels") { |c| list }\nget "/seen", params: { a: 1 }\n',
        {"GET /turtles/:id": (1, 3), "GET /eels": (4, 4)},
    ),
    "a.php": (
        "<?php\nRoute::get('/crabs/{id}', [Crabs::class, 'claws']);\nRoute::post('/crabs', function ($r) {\n"
        "    return add($r);\n});\n$app->get('/eels', fn($r) => all($r))->setName('eels');\n",
        {"POST /crabs": (3, 5), "GET /eels": (6, 6)},
    ),
    "a.cs": (
        'app.MapGet("/wolves/{id}", (int id, Db db) => db.Find(id));\napp.MapPost("/wolves", async (Wolf w) =>\n{\n'
        '    await save(w);\n});\napp.MapGet("/named", Named);\n',
        {"GET /wolves/{id}": (1, 1), "POST /wolves": (2, 5)},
    ),
    "a.kt": (
        'fun Application.module() {\n    get("/geckos/{id}") {\n        call.respond(1)\n    }\n'
        '    cache.get("gecko") { make() }\n}\n',
        {"GET /geckos/{id}": (2, 4)},
    ),
    "a.swift": (
        'app.get("squids", ":id") { req in\n    find(req)\n}\ncache.get("squid") { make() }\n',
        {"GET /squids/:id": (1, 3)},
    ),
    "a.ex": (
        'defmodule Zoo do\n  get "/krill/:id" do\n    send_resp(conn, 200, id)\n  end\n  get "/x", Krill, :show\nend\n',
        {"GET /krill/:id": (2, 4)},
    ),
    "a.lua": ('app:get("/hares", function(self)\n  return 1\nend)\n', {"GET /hares": (1, 3)}),
    "axum.rs": (
        'fn app() -> Router {\n    Router::new()\n        .route("/otters", get(|| async { list() }))\n'
        '        .route("/otters/:id", get(one).post(|Path(id): Path<u32>| async move {\n            add(id)\n'
        '        }).delete(|| async { gone() }))\n        .route("/named", get(named))\n'
        '        .nest("/api", Router::new().route("/seals", put(|| async {\n            seal()\n        })))\n}\n',
        {"GET /otters": (3, 3), "POST /otters/:id": (4, 6), "DELETE /otters/:id": (6, 6), "PUT /api/seals": (8, 10)},
    ),
    "actix.rs": (
        'fn config(c: &mut Config) {\n    c.service(web::scope("/api").service(web::resource("/newts")\n'
        "        .route(web::get().to(|| async { list() }))\n        .route(web::post().to(|n: Newt| async move {\n"
        '            add(n)\n        }))));\n    app.at("/tide/:id").get(|r: Request<()>| async move { Ok("") });\n'
        '    let dir = Path::new("/etc").map(|x| { x });\n}\n',
        {"GET /api/newts": (3, 3), "POST /api/newts": (4, 6), "GET /tide/:id": (7, 7)},
    ),
    "crow.cpp": (
        'int main() {\n    CROW_ROUTE(app, "/rooks")([]() {\n        return all();\n    });\n'
        '    CROW_ROUTE(app, "/rooks/<int>").methods("POST"_method)([](const request& r, int id) {\n'
        '        return add(id);\n    });\n    CROW_WEBSOCKET_ROUTE(app, "/ws").onopen([&](connection& c) {\n'
        '        join(c);\n    });\n    CROW_BP_ROUTE(bp, "/jays").methods(HTTPMethod::Delete)([] { return 1; });\n'
        '    s.Get("/hi", [](const Request&, Response& r) {\n        r.set("hi");\n    });\n}\n',
        {
            "GET /rooks": (2, 4),
            "POST /rooks/<int>": (5, 7),
            "onopen /ws": (8, 10),
            "DELETE /jays": (11, 11),
            "GET /hi": (12, 14),
        },
    ),
    "a.py": ('def f(client):\n    client.get("/x", headers={"a": 1})\n', {}),
}


@pytest.mark.parametrize("path", ROUTES)
def test_routes_of_other_languages(path):
    text, expected = ROUTES[path]

    def found(path):
        units = [unit.pair.method for unit in read_file(SourceFile("", path, text.encode())).units]
        return {each.name: (each.start_line, each.end_line) for each in units if " /" in each.name}

    assert found(path) == expected
    assert not found(f"tests/test_{path}")
