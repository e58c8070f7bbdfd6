"""Words of scripts without blanks, other scripts, and letters with marks: a question's terms are those of the code."""

from types import SimpleNamespace

import pytest

from search.engine.engine import Engine
from search.engine.question import read_by_models
from search.files.words import folded, pieces, stems
from search.index.build import refresh
from search.index.index_file import open_index

CODE = {
    "orders.py": '''
def cancel_order(order):
    """取消订单并退款给客户。"""
def approve_order(order):
    """采购订单自动审批流程。"""
def 寻路服务(地图):
    """计算两点之间的最短路径。"""
def посчитать_скидку(цена):
    """Считает скидку для постоянного клиента."""
def check_balance(a):
    """ตรวจสอบยอดเงินคงเหลือของลูกค้า"""
def close_account(a):
    """ยกเลิกบัญชี"""
def μεταφορά_χρημάτων(a):
    """Μεταφέρει χρήματα."""
def pay_bill(a):
    """बिल का भुगतान करता है"""
def größe_berechnen(breite):
    """Berechnet."""
def résumé_upload(a):
    return a
''',
    "tax.ts": "/** 消費税を計算する */\nexport function calcTax(price: number) { return price * 1.1 }\n"
    "export function ユーザー検索(名前: string) { return 名前 }\n",
    "stock.go": "package kr\n\n// 재고를 확인한다\nfunc 재고확인(수량 int) bool { return 수량 > 0 }\n"
    "\n// 주문을 취소한다\nfunc cancelOrder() {}\n",
    "Bill.java": "class Bill {\n  /** 发票金额合计 */\n  int totalAmount() { return 1; }\n  int other() {}\n}",
    "tests/other.js": "function unrelated() { return 1 }\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    for path, text in CODE.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    place = tmp_path_factory.mktemp("made") / "index"
    refresh(folder, place, processes=0, tell=lambda *_: None)
    return Engine(open_index(place), None)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("取消订单", "cancel_order"),
        ("审批流程", "approve_order"),
        ("最短路径", "寻路服务"),
        ("消費税", "calcTax"),
        ("検索", "ユーザー検索"),
        ("재고", "재고확인"),
        ("주문 취소", "cancelOrder"),
        ("скидка клиента", "посчитать_скидку"),
        ("ยอดเงิน", "check_balance"),
        ("χρήμα μεταφορά", "μεταφορά_χρημάτων"),
        ("भुगतान", "pay_bill"),
        ("große", "größe_berechnen"),
        ("resume", "résumé_upload"),
        ("金额合计", "Bill.totalAmount"),
        ("ｃａｎｃｅｌ ｏｒｄｅｒ 取消", "cancel_order"),
    ],
)
def test_the_function_with_the_words_is_first(engine, query, expected):
    assert engine.index.names[engine.search(query)[0].row] == expected


def test_unbroken_runs_are_cut_into_pairs_and_nothing_else_is():
    assert pieces("取消订单") == ("取消", "消订", "订单")
    assert pieces("calc消費税2") == ("calc", "消費", "費税", "2")
    assert pieces("税") == ("税",)
    assert pieces("größe") == ("grosse",)
    assert stems("reading") == ("read",)
    assert stems("скидку") == stems("скидка")
    assert all(pieces(piece) == (piece,) for piece in pieces("ตรวจสอบ재고消費税"))


def test_letters_are_composed_and_lose_their_marks():
    assert folded("ＡＢＣ ｶﾞ が résumé Ёлка") == "ABC ガ が resume Елка"
    assert folded("plain") == "plain"
    assert folded("\u1100\u1161") == "가"


def test_models_have_a_say_by_the_words_that_they_may_know():
    assert read_by_models(("read", "line"), None) == 1
    assert read_by_models(("取消订单",), None) == 0
    assert read_by_models(("cancel", "订单"), None) == 0.5


def test_a_model_has_less_of_a_say_where_it_knows_few_of_the_words():
    model = SimpleNamespace(knows={"read", "line"}.__contains__)
    assert read_by_models(("read", "line", "zanzibar"), model) == 1
    assert read_by_models(("read", "pelican", "zanzibar"), model) == pytest.approx(1 / 3)
    assert read_by_models(("read", "pelican", "zanzibar", "quorum"), model) == 0
