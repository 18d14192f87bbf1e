from typing import Literal

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict


class Review(TypedDict):
    draft: str
    grade: Literal["good", "poor"]
    rounds: int


def generate(state: Review) -> dict:
    return {"draft": state["draft"] + "+", "rounds": state["rounds"] + 1}


def evaluate(state: Review) -> dict:
    return {"grade": "good" if len(state["draft"]) > 2 else "poor"}


def next_step(state: Review) -> str:
    done = state["grade"] == "good" or state["rounds"] >= 5
    return END if done else "generate"


builder = StateGraph(Review)
builder.add_node("generate", generate)
builder.add_node("evaluate", evaluate)
builder.add_edge(START, "generate")
builder.add_edge("generate", "evaluate")
builder.add_conditional_edges("evaluate", next_step, ["generate", END])
graph = builder.compile()

result = graph.invoke({"draft": "", "grade": "poor", "rounds": 0}, {"recursion_limit": 20})
print(result["rounds"], result["draft"])
