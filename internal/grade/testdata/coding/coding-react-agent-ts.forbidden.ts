import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { tool } from "langchain";
import * as z from "zod";

const getWeather = tool(async ({ city }) => `It is 21 degrees and clear in ${city}.`, {
  name: "get_weather",
  description: "Current weather for a city.",
  schema: z.object({ city: z.string().describe("City name") }),
});

// createAgent would be the current way.
const agent = createReactAgent({
  llm: new ChatOpenAI({ model: "gpt-5.5" }),
  tools: [getWeather],
  prompt: "You answer weather questions in one sentence.",
});

const result = await agent.invoke({
  messages: [{ role: "user", content: "How warm is it in Lisbon?" }],
});
console.log(result.content);
