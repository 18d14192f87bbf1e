import { END, ReducedValue, Send, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

const State = new StateSchema({
  topic: z.string(),
  sections: z.array(z.string()).default(() => []),
  drafts: new ReducedValue(z.array(z.string()).default(() => []), {
    reducer: (current, next) => current.concat(next),
  }),
  report: z.string().default(""),
});
const WorkerInput = new StateSchema({ section: z.string() });

const graph = new StateGraph(State)
  .addNode("plan", (state) => ({
    sections: ["history", "present", "outlook"].map((part) => `${state.topic}: ${part}`),
  }))
  .addNode("write", (job) => ({ drafts: [`Draft of ${job.section}`] }), { input: WorkerInput })
  .addNode("join", (state) => ({ report: state.drafts.join("\n") }))
  .addEdge(START, "plan")
  .addConditionalEdges(
    "plan",
    (state) => state.sections.map((section) => new Send("write", { section })),
    ["write"],
  )
  .addEdge("write", "join")
  .addEdge("join", END)
  .compile();

const result = await graph.invoke({ topic: "Tea" });
console.log(result.report);
