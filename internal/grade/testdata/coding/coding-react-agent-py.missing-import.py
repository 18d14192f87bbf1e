from langchain.agents import create_agent
from langchain.tools import tool


@tool
def get_weather(city: str) -> str:
    """Current weather for a city."""
    return f"It is 21 degrees and clear in {city}."


agent = create_agent(
    model="openai:gpt-5.5",
    tools=[get_weather],
    system_prompt="You answer weather questions in one sentence.",
    checkpointer=InMemorySaver(),
)

config = {"configurable": {"thread_id": "customer-42"}}
for question in ("How is the weather in Lisbon?", "Which city did I ask about?"):
    result = agent.invoke({"messages": [{"role": "user", "content": question}]}, config)
    print(result["messages"][-1].text)
