import asyncio

from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool


@tool
def import_rows(count: int, runtime: ToolRuntime) -> str:
    """Import rows into the warehouse."""
    for done in range(10, count + 1, 10):
        runtime.stream_writer({"done": done, "count": count})
    return f"Imported {count} rows."


async def main() -> None:
    agent = create_agent("openai:gpt-5.5", tools=[import_rows])
    async for part in agent.astream(
        {"messages": [{"role": "user", "content": "Import 50 rows"}]},
        stream_mode=["messages", "custom"],
        version="v2",
    ):
        if part["type"] == "custom":
            print("\nprogress", part["data"])
            continue
        token, metadata = part["data"]
        if metadata["langgraph_node"] == "model":
            print(token.text, end="", flush=True)


asyncio.run(main())
