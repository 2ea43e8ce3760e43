"""The service of "Validate at a boundary", as it stands on the page, given good and bad posts."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pages
import pytest
from example_files import examples
from fastapi.testclient import TestClient

PAGE = pages.ROOT / "docs" / "validate-at-a-boundary.md"
TURN = {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}}


@pytest.fixture(scope="module")
def service() -> TestClient:
    (block,) = (b for b in pages.blocks(PAGE) if "FastAPI()" in b.text)
    names: dict[str, Any] = {"__name__": "service"}
    exec(compile(block.text, PAGE, "exec"), names)
    return TestClient(names["app"])


def post(service: TestClient, where: str, body: bytes) -> tuple[int, Any]:
    answer = service.post(where, content=body)
    return answer.status_code, answer.json()


def test_good_posts(service: TestClient) -> None:
    assert post(service, "/events", json.dumps(TURN).encode()) == (
        200,
        {"type": "turn/start", "seq": 0},
    )
    request = next(e for e in examples() if "/recorded-" in e.place and "messages" in e.place)
    code, said = post(service, "/requests", json.dumps(request.value).encode())
    assert (code, said["messages"]) == (200, len(request.value["messages"]))


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (b"", ["json/syntax"]),
        (b"{", ["json/syntax"]),
        (b'"\xff"', ["json/encoding"]),
        (b"[" * 5000, ["json/depth"]),
        (b'{"type":"turn/start","seq":0,"time":1e400,"data":{"turn":1}}', ["json/finite"]),
        (b"[]", ["schema/payload"]),
        (b'{"type":"turn/start","seq":0,"time":1,"data":{"turn":0,"x":1}}', ["schema/payload"] * 2),
        (b'{"type":"no/such","seq":0,"time":1,"data":{}}', ["schema/payload"]),
    ],
)
def test_bad_posts_are_answered_with_all_findings(
    service: TestClient, body: bytes, rules: list[str]
) -> None:
    code, said = post(service, "/events", body)
    assert code == 422
    assert [finding["rule"] for finding in said["findings"]] == rules
    for finding in said["findings"]:
        assert finding["message"]
        assert finding["fix"]


def test_a_finding_is_what_check_prints(service: TestClient) -> None:
    _, said = post(service, "/events", json.dumps({**TURN, "seq": 7, "data": {"turn": 0}}).encode())
    (finding,) = said["findings"]
    assert finding.keys() == {
        *("rule", "severity", "seq", "line", "path", "message", "fix", "because"),
    }
    assert (finding["seq"], finding["path"]) == (7, "/data/turn")


def test_a_bad_request(service: TestClient) -> None:
    code, said = post(service, "/requests", b'{"model":"m"}')
    assert code == 422
    assert {finding["path"] for finding in said["findings"]} == {""}


def test_too_much_is_not_read(service: TestClient) -> None:
    code, said = post(service, "/events", b" " * 1_000_001)
    assert code == 413
    assert "1000000" in said["detail"]


def test_posts_at_the_same_time(service: TestClient) -> None:
    chosen = [e for e in examples() if e.schema == "session/v4/event"][::40]

    def answer(index: int) -> int:
        example = chosen[index % len(chosen)]
        code, _ = post(service, "/events", json.dumps(example.value).encode())
        return code == (200 if example.valid else 422)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(answer, range(2 * len(chosen))))
