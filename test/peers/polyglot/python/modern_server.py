"""A server on the official Python SDK 2.x, which speaks 2026-07-28: `modern_server.py stdio|http`."""

import asyncio
import socket
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


server = MCPServer("python-modern", instructions="Ask for notes.")
cancelled = 0


class Person(BaseModel):
    name: str
    age: int = 30


class Weather(BaseModel):
    city: str
    degrees: float


@server.tool()
def echo(message: str) -> str:
    """Says the message again"""
    return f"echo: {message}"


@server.tool()
def revision(ctx: Context) -> str:
    """The revision of this very request"""
    return str(ctx.protocol_version)


@server.tool()
def weather(city: str) -> Weather:
    """Answers with structured content"""
    return Weather(city=city, degrees=-1.5)


def who() -> Elicit[Person]:
    return Elicit("Who are you?", Person)


@server.tool()
async def ask(person: Annotated[Person, Resolve(who)]) -> str:
    """Asks the user"""
    return f"accept {person.name}"


def question_of(question: str) -> Sample:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    return Sample(messages=[message], max_tokens=50)


@server.tool()
async def sample(
    question: str, answer: Annotated[CreateMessageResult, Resolve(question_of)]
) -> str:
    """Asks the client's model"""
    return f"{answer.role}: {answer.content.text}"


def which() -> ListRoots:
    return ListRoots()


@server.tool()
async def roots(listed: Annotated[ListRootsResult, Resolve(which)]) -> str:
    """Asks for the client's roots"""
    return ",".join(str(root.uri) for root in listed.roots)


@server.tool()
async def progress(ctx: Context) -> str:
    """Reports three steps"""
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3, f"step {step}")
        await asyncio.sleep(0.02)
    return "three steps"


@server.tool()
async def wait() -> str:
    """Waits until it is cancelled"""
    global cancelled
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        cancelled += 1
        raise
    return "nobody cancelled"


@server.tool(name="cancelled")
def cancelled_waits() -> str:
    """How many waits were cancelled"""
    return str(cancelled)


@server.tool()
def fail() -> str:
    """Fails as a tool"""
    raise ValueError("it broke")


@server.prompt()
def greet(name: str) -> str:
    """Greets somebody"""
    return f"hello {name}"


@server.resource("note:///one", mime_type="text/plain")
def one() -> str:
    """The first note"""
    return "one"


@server.resource("note:///by/{author}", mime_type="text/plain")
def by(author: str) -> str:
    """Notes by somebody"""
    return f"by {author}"


if sys.argv[1] == "http":
    port = free_port()
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    server.run("streamable-http", host="127.0.0.1", port=port)
else:
    server.run("stdio")
