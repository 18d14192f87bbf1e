import asyncio
import os

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, MessagesState, StateGraph


def reply(state: MessagesState) -> dict:
    return {"messages": [{"role": "ai", "content": f"{len(state['messages'])} so far"}]}


async def main() -> None:
    builder = StateGraph(MessagesState).add_node("reply", reply).add_edge(START, "reply")
    config = {"configurable": {"thread_id": "user-42"}}
    async with AsyncPostgresSaver.from_conn_string(os.environ["DATABASE_URL"]) as saver:
        await saver.setup()  # creates the tables; once for a database
        graph = builder.compile(checkpointer=saver)
        for text in ("hi", "still there?"):
            result = await graph.ainvoke(
                {"messages": [{"role": "user", "content": text}]}, config, durability="sync"
            )
            print(result["messages"][-1].text)


asyncio.run(main())
