import {
  Command,
  END,
  interrupt,
  INTERRUPT,
  isInterrupted,
  MemorySaver,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { z } from "zod";

type Answer = { approved: boolean; note: string };

const State = new StateSchema({
  amount: z.number(),
  status: z.string().default("pending"),
});

const graph = new StateGraph(State)
  .addNode(
    "approval",
    (state) => {
      const answer = interrupt<{ question: string; amount: number }, Answer>({
        question: "Transfer?",
        amount: state.amount,
      });
      return new Command({ goto: answer.approved ? "transfer" : "cancel" });
    },
    { ends: ["transfer", "cancel"] },
  )
  .addNode("transfer", () => ({ status: "sent" }))
  .addNode("cancel", () => ({ status: "cancelled" }))
  .addEdge(START, "approval")
  .addEdge("transfer", END)
  .addEdge("cancel", END)
  .compile({ checkpointer: new MemorySaver() });

const answers: Answer[] = [
  { approved: true, note: "checked the invoice" },
  { approved: false, note: "wrong account" },
];
for (const [i, answer] of answers.entries()) {
  const config = { configurable: { thread_id: `transfer-${i}` } };
  const paused = await graph.invoke({ amount: 500 }, config);
  if (isInterrupted(paused)) {
    console.log(paused[INTERRUPT][0]?.value);
  }
  const done = await graph.invoke(new Command({ resume: answer }), config);
  console.log(done.status);
}
