"""A client on the official Python SDK 2.x that speaks only 2026-07-28: `modern_client.py URL`."""

import asyncio
import json
import sys

from mcp import Client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent


async def elicit(_context, _params) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ada"})


async def sample(_context, params) -> CreateMessageResult:
    text = f"sampled {params.messages[0].content.text}"
    return CreateMessageResult(
        role="assistant", model="test-model", content=TextContent(type="text", text=text)
    )


async def list_roots(_context) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri="file:///tmp/one")])


async def main(url: str) -> None:
    steps: list[float] = []

    async def step(progress: float, _total: float | None, _message: str | None) -> None:
        steps.append(progress)

    async with Client(
        url,
        mode="2026-07-28",
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=list_roots,
    ) as client:

        async def text(name: str, **arguments: str) -> str:
            result = await client.call_tool(name, arguments)
            return result.content[0].text

        await client.call_tool("progress", {}, progress_callback=step)
        report = {
            "tools": sorted(tool.name for tool in (await client.list_tools()).tools),
            "echo": await text("echo", message="héllo"),
            "ask": await text("ask"),
            "sample": await text("sample", question="why?"),
            "roots": await text("roots"),
            "steps": steps,
            "note": (await client.read_resource("note:///one")).contents[0].text,
        }
    print(json.dumps(report))


asyncio.run(main(sys.argv[1]))
