import { END, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

const State = new StateSchema({
  topic: z.string(),
  summary: z.string().default(""),
});

const graph = new StateGraph(State)
  .addNode("collect", (state, config) => {
    for (const progress of [25, 50, 75]) {
      config.writer?.({ progress, note: `reading about ${state.topic}` });
    }
    return { summary: `notes on ${state.topic}` };
  })
  .addNode("finish", (state) => ({ summary: state.summary.toUpperCase() }))
  .addEdge(START, "collect")
  .addEdge("collect", "finish")
  .addEdge("finish", END)
  .compile();

const stream = await graph.stream({ topic: "moss" }, { streamMode: ["updates", "custom"] });
for await (const [mode, chunk] of stream) {
  if (mode === "custom") console.log("progress", chunk);
  else console.log("update", chunk);
}
