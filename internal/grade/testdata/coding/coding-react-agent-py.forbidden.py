from langchain.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent


@tool
def get_weather(city: str) -> str:
    """Current weather for a city."""
    return f"It is 21 degrees and clear in {city}."


# create_agent would be the current way.
agent = create_react_agent(
    "openai:gpt-5.5",
    [get_weather],
    prompt="You answer weather questions in one sentence.",
    checkpointer=InMemorySaver(),
)

config = {"configurable": {"thread_id": "customer-42"}}
for question in ("How is the weather in Lisbon?", "Which city did I ask about?"):
    result = agent.invoke({"messages": [{"role": "user", "content": question}]}, config)
    print(result.content)
