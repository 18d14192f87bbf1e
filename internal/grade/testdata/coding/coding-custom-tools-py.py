import json
from dataclasses import dataclass
from typing import Literal

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.messages import ToolMessage
from langchain.tools import ToolRuntime, tool
from langgraph.types import Command


@dataclass
class Context:
    user_id: str


class CityState(AgentState):
    city: str


@tool
def search_orders(
    status: Literal["open", "shipped", "returned"], runtime: ToolRuntime[Context]
) -> str:
    """Find the signed-in customer's orders. Use before answering any question about an order."""
    return json.dumps([{"id": "A-1", "customer": runtime.context.user_id, "status": status}])


@tool
def remember_city(city: str, runtime: ToolRuntime) -> Command:
    """Remember the user's home city."""
    return Command(
        update={
            "city": city,
            "messages": [ToolMessage(f"Saved {city}.", tool_call_id=runtime.tool_call_id)],
        }
    )


@wrap_tool_call
def explain_timeouts(request, handler):
    """Tell the model about timeouts; let everything else propagate."""
    try:
        return handler(request)
    except TimeoutError:
        return ToolMessage(
            content=f"{request.tool_call['name']} timed out. Try later.",
            tool_call_id=request.tool_call["id"],
            status="error",
        )


agent = create_agent(
    "openai:gpt-5.5",
    tools=[search_orders, remember_city],
    context_schema=Context,
    state_schema=CityState,
    middleware=[explain_timeouts],
)
result = agent.invoke(
    {"messages": [{"role": "user", "content": "I live in Braga. Which of my orders are open?"}]},
    context=Context(user_id="u-7"),
)
print(result.get("city"), result["messages"][-1].text)
