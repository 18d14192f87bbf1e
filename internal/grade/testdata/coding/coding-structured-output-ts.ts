import { createAgent, toolStrategy } from "langchain";
import * as z from "zod";

const Question = z.object({
  kind: z.literal("question"),
  topic: z.string().describe("What the customer asks about"),
});
const Complaint = z.object({
  kind: z.literal("complaint"),
  severity: z.enum(["low", "high"]).describe("How much harm was done"),
  orderId: z.string().nullable().describe("Order number, null when not stated"),
});

const agent = createAgent({
  model: "openai:gpt-5.5",
  tools: [],
  systemPrompt: "Classify the customer's message.",
  responseFormat: toolStrategy([Question, Complaint], {
    handleError: (error) => `Fix the fields and answer again: ${error.message}`,
  }),
});

const { structuredResponse } = await agent.invoke({ messages: "Parcel A-1 arrived broken!" });
if (structuredResponse.kind === "complaint") {
  console.log("complaint", structuredResponse.severity, structuredResponse.orderId);
} else {
  console.log("question", structuredResponse.topic);
}
