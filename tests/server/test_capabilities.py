"""Resources and prompts beside the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from marchwarden.observations import content_hash
from marchwarden.server.call_ids import CALL_META
from marchwarden.server.mcp import build
from marchwarden.settings import Settings
from marchwarden.sharing.object_store import ObjectStore
from marchwarden.sharing.publication import publish_all
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Fetched, Finished
from marchwarden.trace.writer import TraceWriter
from tests.standins import a_result

pytestmark = pytest.mark.anyio


def a_trace(settings: Settings, **fetched: Any) -> str:
    trace_id = str(uuid4())
    with TraceWriter(settings.traces, trace_id) as writer:
        if fetched:
            url = "https://garden.example/tomatoes"
            answered = {"status": 200, "content_type": "text/html", "content_length": 9, "duration_sec": 0.1}
            writer.record(Fetched(decision="read", url=url, final_url=url, **answered, **fetched))
        writer.record(Finished(decision="done", result=a_result(trace_id)))
    return trace_id


async def test_every_trace_is_listed_page_by_page(tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path / "traces")
    ids = {a_trace(settings) for _ in range(120)}
    async with Client(build(settings)) as client:
        seen, cursor, pages = [], None, 0
        while pages == 0 or cursor:
            listed = await client.list_resources(cursor=cursor)
            seen += [each.name for each in listed.resources]
            cursor, pages = listed.next_cursor, pages + 1
        assert (len(seen), set(seen), pages) == (120, ids, 3)


async def test_a_cursor_that_was_not_given_out_is_a_protocol_error(tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path / "traces")
    a_trace(settings)
    async with Client(build(settings)) as client:
        for listing in (
            client.list_resources,
            client.list_tools,
            client.list_prompts,
            client.list_resource_templates,
        ):
            with pytest.raises(MCPError) as caught:
                await listing(cursor="made up")
            assert caught.value.code == -32602


async def test_the_text_of_a_cited_page_is_a_resource_under_its_hash(tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path / "traces")
    page, text = b"<p>Tomatoes ripen in July.</p>", "Tomatoes ripen in July."
    text_hash = Store(settings.store_folder).put(text.encode())
    a_trace(settings, content_hash=content_hash(page), text_hash=text_hash)
    foreign = Store(settings.store_folder).put(b"nobody read this")
    async with Client(build(settings)) as client:
        for name in (content_hash(page), text_hash, text_hash.removeprefix("sha256:")):
            (read,) = (await client.read_resource(f"page://{name}")).contents
            assert (read.text, read.mime_type) == (text, "text/plain")  # type: ignore[union-attr]
        for name in (foreign, "sha256:" + "0" * 64, "../../etc/passwd", ""):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"page://{name}")
            assert caught.value.code == -32602


async def test_prompts_are_filled_in(tmp_path: Path) -> None:
    async with Client(build(Settings(trace_dir=tmp_path / "traces"))) as client:
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["research", "fact-check", "compare"]
        given = {"first": "peas {second}", "second": "beans", "aspect": "yield", "more": "?"}
        (filled,) = (await client.get_prompt("compare", given)).messages
        assert "First: peas {second}\nSecond: beans\nAspect: yield" in filled.content.text  # type: ignore[union-attr]
        for name, arguments in (("compare", {"first": "peas"}), ("research", {"question": " "}), ("summarise", {})):
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments)
            assert caught.value.code == -32602


async def test_the_tool_says_which_sources_this_server_has(tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path / "traces", source="snapshot,corpus:notes")
    async with Client(build(settings)) as client:
        (tool,) = (await client.list_tools()).tools
    assert "notes" in (tool.description or "")


async def test_what_another_server_answered_is_read_from_the_store_that_they_share(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    here, there = (
        Settings(trace_dir=tmp_path / name, store=f"file:{tmp_path / 'shared'}") for name in ("here", "there")
    )
    page, text = b"<p>Tomatoes ripen in July.</p>", "Tomatoes ripen in July."
    stored = Store(here.store_folder)
    trace_id = a_trace(here, content_hash=stored.put(page), text_hash=stored.put(text.encode()))
    async with Client(build(there)) as client:
        with pytest.raises(MCPError, match="there is no trace"):
            await client.read_resource(f"trace://{trace_id}")
        publish_all(here.traces, ObjectStore(here.store or ""))
        for uri in (f"page://{content_hash(page)}", f"content://{content_hash(page)}", f"trace://{trace_id}"):
            assert (await client.read_resource(uri)).contents
        assert [each.name for each in (await client.list_resources()).resources] == [trace_id]
    (there.traces / f"{trace_id}.jsonl").unlink()
    async with Client(build(there)) as client:
        again = await client.call_tool(
            "research",
            {"question": "Why?"},
            meta={CALL_META: trace_id},  # it is not run again
        )
        assert again.structured_content
        assert again.structured_content["trace_id"] == trace_id
