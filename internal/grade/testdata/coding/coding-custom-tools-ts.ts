import { Command } from "@langchain/langgraph";
import { createAgent, tool, ToolMessage, type ToolRuntime } from "langchain";
import * as z from "zod";

const contextSchema = z.object({ userId: z.string() });
const stateSchema = z.object({ city: z.string().default("") });

const searchOrders = tool(
  async ({ status, limit }, runtime: ToolRuntime<unknown, typeof contextSchema>) => {
    const rows = [{ id: "A-1", customer: runtime.context.userId, status }];
    return JSON.stringify(rows.slice(0, limit));
  },
  {
    name: "search_orders",
    description: "Find the signed-in customer's orders. Use before answering any question about an order.",
    schema: z.object({
      status: z.enum(["open", "shipped", "returned"]).describe("Order status"),
      limit: z.number().int().min(1).max(20).default(5).describe("Most rows to return"),
    }),
  },
);

const rememberCity = tool(
  async ({ city }, runtime: ToolRuntime) =>
    new Command({
      update: {
        city,
        messages: [new ToolMessage({ content: `Saved ${city}.`, tool_call_id: runtime.toolCallId })],
      },
    }),
  {
    name: "remember_city",
    description: "Remember the user's home city.",
    schema: z.object({ city: z.string().describe("Name of the city") }),
  },
);

const agent = createAgent({
  model: "openai:gpt-5.5",
  tools: [searchOrders, rememberCity],
  contextSchema,
  stateSchema,
});

const result = await agent.invoke(
  { messages: "I live in Braga. Which of my orders are open?" },
  { context: { userId: "u-7" } },
);
console.log(result.city, result.messages.at(-1)?.text);
