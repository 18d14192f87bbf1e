import { createAgent, tool } from "langchain";

const getWeather = tool(
  async ({ city }) => `It is 21 degrees and clear in ${city}.`,
  {
    name: "get_weather",
    description: "Current weather for a city.",
    schema: z.object({ city: z.string().describe("City name") }),
  },
);

const toFahrenheit = tool(async ({ celsius }) => String((celsius * 9) / 5 + 32), {
  name: "to_fahrenheit",
  description: "Convert degrees Celsius to Fahrenheit.",
  schema: z.object({ celsius: z.number().describe("Degrees Celsius") }),
});

const agent = createAgent({
  model: "openai:gpt-5.5",
  tools: [getWeather, toFahrenheit],
  systemPrompt: "You answer weather questions in one sentence.",
});

const result = await agent.invoke({
  messages: [{ role: "user", content: "How warm is it in Lisbon, in Fahrenheit?" }],
});
console.log(result.messages.at(-1)?.text);
