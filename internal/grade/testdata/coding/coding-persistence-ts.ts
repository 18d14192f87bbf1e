import { END, MemorySaver, ReducedValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

const State = new StateSchema({
  topic: z.string().default(""),
  log: new ReducedValue(z.array(z.string()).default(() => []), {
    reducer: (current, next) => current.concat(next),
  }),
});

const graph = new StateGraph(State)
  .addNode("draft", (state) => ({ log: [`draft on ${state.topic}`] }))
  .addNode("polish", (state) => ({ log: [`polish ${state.topic}`] }))
  .addEdge(START, "draft")
  .addEdge("draft", "polish")
  .addEdge("polish", END)
  .compile({ checkpointer: new MemorySaver() });

const config = { configurable: { thread_id: "report-1" } };
await graph.invoke({ topic: "tides" }, config);

const current = await graph.getState(config);
console.log(current.values.log);

for await (const snapshot of graph.getStateHistory(config)) {
  if (snapshot.next[0] !== "polish") continue;
  const fork = await graph.updateState(snapshot.config, { topic: "waves" });
  const replayed = await graph.invoke(null, fork);
  console.log(replayed.log.at(-1));
  break;
}
