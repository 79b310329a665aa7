"""A legacy server on the official Python SDK 1.x: `legacy_server.py stdio|http`."""

import asyncio
import socket
import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


PORT = free_port()
server = FastMCP("python-legacy", instructions="Ask for notes.", host="127.0.0.1", port=PORT)
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
def weather(city: str) -> Weather:
    """Answers with structured content"""
    return Weather(city=city, degrees=-1.5)


@server.tool()
async def ask(ctx: Context) -> str:
    """Asks the user"""
    answer = await ctx.elicit("Who are you?", Person)
    return f"{answer.action} {answer.data.name}" if answer.action == "accept" else answer.action


@server.tool()
async def sample(question: str, ctx: Context) -> str:
    """Asks the client's model"""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    answer = await ctx.session.create_message(
        [message], max_tokens=50, related_request_id=ctx.request_id
    )
    return f"{answer.role}: {answer.content.text}"


@server.tool()
async def roots(ctx: Context) -> str:
    """Asks for the client's roots"""
    listed = await ctx.session.list_roots()
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
    print(f"http://127.0.0.1:{PORT}/mcp", flush=True)
    server.run("streamable-http")
else:
    server.run("stdio")
