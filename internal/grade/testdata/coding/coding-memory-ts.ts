import {
  END,
  InMemoryStore,
  MemorySaver,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { z } from "zod";

const State = new StateSchema({ messages: MessagesValue });
const Context = z.object({ userId: z.string() });

const graph = new StateGraph(State, Context)
  .addNode("chat", async (state, runtime) => {
    const namespace = [runtime.context?.userId ?? "anonymous", "facts"];
    const text = state.messages.at(-1)?.text ?? "";
    if (text.startsWith("remember ")) {
      await runtime.store?.put(namespace, crypto.randomUUID(), { text: text.slice(9) });
    }
    const facts = (await runtime.store?.search(namespace, { limit: 50 })) ?? [];
    const known = facts.map((item) => item.value.text).join("; ");
    return { messages: [{ role: "ai", content: `Known: ${known || "nothing"}` }] };
  })
  .addEdge(START, "chat")
  .addEdge("chat", END)
  .compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() });

async function say(userId: string, thread: string, content: string) {
  const result = await graph.invoke(
    { messages: [{ role: "user", content }] },
    { configurable: { thread_id: thread }, context: { userId } },
  );
  console.log(userId, thread, result.messages.at(-1)?.text);
}

await say("ada", "monday", "remember tea, not coffee");
await say("ada", "tuesday", "hello");
await say("bob", "wednesday", "hello");
