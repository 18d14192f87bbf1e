from deepagents import CompiledSubAgent, create_deep_agent
from langgraph.graph import START, MessagesState, StateGraph


def count(state: MessagesState) -> dict:
    words = len(state["messages"][-1].text.split())
    return {"messages": [{"role": "ai", "content": f"{words} words"}]}


word_counter = StateGraph(MessagesState).add_node("count", count).add_edge(START, "count").compile()

editor = create_deep_agent(
    model="anthropic:claude-sonnet-4-6",
    system_prompt="Have the text shortened by the editor and counted by the word-counter.",
    subagents=[
        CompiledSubAgent(
            name="word-counter",
            description="Counts the words of the text it is given",
            runnable=word_counter,
        ),
        {
            "name": "editor",
            "description": "Shortens the text it is given and returns only the new text",
            "system_prompt": "Shorten the text to at most 100 words. Return nothing else.",
        },
    ],
)

result = editor.invoke({"messages": [{"role": "user", "content": "Shorten: tea is a drink ..."}]})
print(result["messages"][-1].text)
