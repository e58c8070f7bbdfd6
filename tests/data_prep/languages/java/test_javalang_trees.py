"""Statement trees by hand, and their counts over the 10,000 published test methods."""

from collections import Counter
from statistics import fmean, median

import pytest
from jcg_release import ROWS, parsed

from data_prep.languages.java.javalang_trees import parse_published, statement_trees


def trees(source: str) -> list[str]:
    return list(statement_trees(parse_published(source)))


def body(statements: str) -> list[str]:
    header, *rest = trees(f"void go() {{ {statements} }}")
    assert header == "MethodDeclaration(go)"
    return rest


CALL = "StatementExpression(MethodInvocation({}))"
ON = "(MemberReference(on))"


def test_first_published_method():
    assert trees("public String taskClassName ( ) { return taskClsName ; }") == [
        "MethodDeclaration(Modifier(public))(ReferenceType(String))(taskClassName)",
        "ReturnStatement(MemberReference(taskClsName))",
    ]


def test_counts_over_the_published_methods():
    found = [statement_trees(method) for method in parsed()]
    lengths = sorted(map(len, found))
    words = Counter(word for each in found for word in each)
    assert len(found) == ROWS
    assert (sum(lengths), len(words)) == (57_558, 36_657)
    assert fmean(lengths) == pytest.approx(5.7558)
    assert (median(lengths), lengths[ROWS * 95 // 100], lengths[-1]) == (3, 19, 46)
    assert Counter(words.values())[1] == 34_229  # 93 % of the words
    assert (words["End"], words["BlockStatement"]) == (7_359, 5_695)
    assert not any(set(" \t\n") & set(word) for word in words)


def test_a_header_holds_all_but_the_body_and_its_modifiers_sorted():
    expected = (
        "MethodDeclaration(Modifier(final)(public)(static))(TypeParameter(T)(ReferenceType(Base)))(ReferenceType(T))"
        "(pick)(FormalParameter(Modifier(final))(ReferenceType(List)(TypeArgument(ReferenceType(T))))(all))"
        "(FormalParameter(BasicType(int))(at)())(Odd)(a.Even)"
    )
    source = "<T extends Base> T pick(final List<T> all, int... at) throws Odd, a.Even"
    assert trees(f"static final public {source};") == [expected]
    assert trees(f"public static final {source} {{ }}") == [expected]


def test_constructor():
    assert trees("Route(int key) { this(key); }") == [
        "ConstructorDeclaration(Route)(FormalParameter(BasicType(int))(key))",
        "StatementExpression(ExplicitConstructorInvocation(MemberReference(key)))",
    ]


def test_branches_are_cut_at_each_part():
    assert body("if (on) one(); else { two(); three(); }") == [
        f"IfStatement{ON}",
        CALL.format("one"),
        "End",
        "BlockStatement",
        CALL.format("two"),
        CALL.format("three"),
        "End",
    ]
    assert body("if (on) one(); else if (on) two();") == [
        f"IfStatement{ON}",
        CALL.format("one"),
        "End",
        f"IfStatement{ON}",
        CALL.format("two"),
        "End",
        "End",
    ]


def test_nested_loops():
    assert body("for (int i = 0; i < 3; i++) { while (on) do one(); while (on); }") == [
        "ForStatement(ForControl(VariableDeclaration(BasicType(int))(VariableDeclarator(i)(MemberReference(NUM_))))"
        "(BinaryOperation(<)(MemberReference(i))(MemberReference(NUM_)))(MemberReference(++)(i)))",
        "BlockStatement",
        f"WhileStatement{ON}",
        f"DoStatement{ON}",
        CALL.format("one"),
        "End",
        "End",
        "End",
    ]


def test_a_case_is_one_tree_without_the_branches_in_it():
    assert body("switch (on) { case ONE: one(); if (on) two(); break; default: three(); }") == [
        f"SwitchStatement{ON}",
        f"SwitchStatementCase(ONE)({CALL.format('one')})(BreakStatement)",
        "End",
        f"SwitchStatementCase({CALL.format('three')})",
        "End",
    ]


def test_try_and_synchronized_are_opened_where_they_stand_in_the_body_and_whole_elsewhere():
    guarded = "try { one(); if (on) two(); } catch (Odd e) { three(); }"
    catch = f"CatchClause(CatchClauseParameter(Odd)(e))({CALL.format('three')})"
    assert body(guarded) == [
        "TryStatement",
        CALL.format("one"),
        f"IfStatement{ON}",
        CALL.format("two"),
        "End",
        catch,
    ]
    assert body(f"if (on) {{ {guarded} }}") == [
        f"IfStatement{ON}",
        "BlockStatement",
        f"TryStatement({CALL.format('one')})({catch})",
        "End",
    ]
    assert body("synchronized (on) { one(); }") == ["SynchronizedStatement", ON[1:-1], CALL.format("one")]
    assert body("{ one(); }") == [f"BlockStatement({CALL.format('one')})"]


def test_a_label_takes_the_place_of_the_condition():
    assert body("outer: while (on) break outer;") == [
        "WhileStatement(outer)",
        ON[1:-1],
        "End",
        "BreakStatement(outer)",
        "End",
    ]


def test_lambda_and_anonymous_class():
    assert body("run(() -> { one(); if (on) two(); });") == [
        f"StatementExpression(MethodInvocation(LambdaExpression({CALL.format('one')}))(run))"
    ]
    assert body("run(new Task() { public void go() { one(); } });") == [
        "StatementExpression(MethodInvocation(ClassCreator(ReferenceType(Task))(MethodDeclaration(Modifier(public))(go)))"
        "(run))"
    ]


def test_no_tree_holds_a_space_whatever_a_literal_holds():
    found = body("int größe = say(\"one ( two\", ' ', 1.5, null, true);")
    assert found == [
        "LocalVariableDeclaration(BasicType(int))(VariableDeclarator(größe)(MethodInvocation(MemberReference(STR_))"
        "(MemberReference(STR_))(MemberReference(NUM_))(Literal(null))(MemberReference(BOOL_))(say)))"
    ]


def test_deep_trees_and_long_chains_of_branches_cost_no_stack():
    (tree,) = body(f"return {' + '.join(['one'] * 5_000)};")
    assert tree.count("BinaryOperation(+)") == 4_999
    chain = body(" else ".join(["if (on) one();"] * 400))
    assert Counter(chain) == {f"IfStatement{ON}": 400, CALL.format("one"): 400, "End": 799}
