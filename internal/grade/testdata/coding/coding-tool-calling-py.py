from langchain.chat_models import init_chat_model
from langchain.messages import HumanMessage, ToolMessage
from langchain.tools import tool


@tool
def get_weather(city: str) -> str:
    """Current weather for a city."""
    return f"18 degrees in {city}"


@tool
def get_time(city: str) -> str:
    """Local time of a city."""
    return f"12:00 in {city}"


by_name = {t.name: t for t in (get_weather, get_time)}
model = init_chat_model("openai:gpt-5.5").bind_tools([get_weather, get_time])
messages = [HumanMessage("What are weather and time in Oslo?")]

request = model.invoke(messages)
messages.append(request)
for call in request.tool_calls:
    found = by_name.get(call["name"])
    if found is None:
        messages.append(
            ToolMessage(
                content=f"There is no tool named {call['name']}.",
                tool_call_id=call["id"],
                status="error",
            )
        )
    else:
        messages.append(found.invoke(call))

print(model.invoke(messages).text)
