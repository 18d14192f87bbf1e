import operator
from typing import Annotated

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict


class Verdict(BaseModel):
    ok: bool
    note: str = ""


class Review(TypedDict):
    verdicts: Annotated[list[str], operator.add]


def legal(state: Review) -> dict:
    answer = interrupt("Opinion of legal?", response_schema=Verdict)
    return {"verdicts": [f"legal: {answer.ok}"]}


def finance(state: Review) -> dict:
    answer = interrupt("Opinion of finance?", response_schema=Verdict)
    return {"verdicts": [f"finance: {answer.ok}"]}


graph = (
    StateGraph(Review)
    .add_node("legal", legal)
    .add_node("finance", finance)
    .add_edge(START, "legal")
    .add_edge(START, "finance")
    .compile(checkpointer=InMemorySaver())
)

config = {"configurable": {"thread_id": "contract-3"}}
paused = graph.invoke({"verdicts": []}, config)
answers = {}
for pending in paused["__interrupt__"]:
    print(pending.value)
    answers[pending.id] = {"ok": True}
done = graph.invoke(Command(resume=answers), config)
print(done["verdicts"])
