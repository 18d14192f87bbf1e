import { Command, MemorySaver } from "@langchain/langgraph";
import {
  createAgent,
  humanInTheLoopMiddleware,
  tool,
  type HITLRequest,
  type HITLResponse,
} from "langchain";
import * as z from "zod";

const readOrder = tool(async ({ id }) => `Order ${id}: 40 EUR`, {
  name: "read_order",
  description: "Read an order.",
  schema: z.object({ id: z.string() }),
});
const refund = tool(async ({ id, amount }) => `Refunded ${amount} EUR on ${id}`, {
  name: "refund",
  description: "Pay money back.",
  schema: z.object({ id: z.string(), amount: z.number() }),
});

const agent = createAgent({
  model: "openai:gpt-5.5",
  tools: [readOrder, refund],
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: {
        read_order: false,
        refund: { allowedDecisions: ["approve", "edit", "reject"] },
      },
    }),
  ],
  checkpointer: new MemorySaver(),
});

const config = { configurable: { thread_id: "case-17" } };
const paused = await agent.invoke({ messages: "Refund order A-1 in full" }, config);

const request = paused.__interrupt__?.[0]?.value as HITLRequest | undefined;
if (request) {
  const decisions: HITLResponse["decisions"] = request.actionRequests.map((action) => {
    console.log(action.name, action.args);
    return Number(action.args.amount) <= 50
      ? { type: "approve" }
      : { type: "reject", message: "Above the limit. Offer a voucher instead." };
  });
  const done = await agent.invoke(new Command({ resume: { decisions } }), config);
  console.log(done.messages.at(-1)?.text);
}
