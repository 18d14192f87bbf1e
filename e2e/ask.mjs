// A client that others wrote, the official TypeScript SDK, puts questions to a
// server:
//
//	node ask.mjs SDK CALLS http URL
//	node ask.mjs SDK CALLS stdio COMMAND ARGUMENT…
//
// SDK is the folder of the package, CALLS a JSON array of {name, arguments}.
// The results go to standard output as one JSON array.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [sdk, calls, transport, target, ...args] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(sdk, "dist", "esm", "client", file)).href);
const { Client } = await load("index.js");

async function connection() {
  if (transport === "stdio") {
    const { StdioClientTransport } = await load("stdio.js");
    return new StdioClientTransport({ command: target, args, env: process.env, stderr: "inherit" });
  }
  const { StreamableHTTPClientTransport } = await load("streamableHttp.js");
  return new StreamableHTTPClientTransport(new URL(target));
}

const client = new Client({ name: "e2e", version: "1.0.0" });
await client.connect(await connection());
await client.listTools(); // after this, the SDK checks results against output schemas
const results = [];
for (const call of JSON.parse(calls)) results.push(await client.callTool(call));
await client.close();
process.stdout.write(JSON.stringify(results));
