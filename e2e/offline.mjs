// Loaded before a server under test (node --import). Such a server listens on
// loopback only, on a port that the system chooses, which it announces on
// stderr; and it can call nobody but this machine, so that neither telemetry
// nor an online document changes what a test sees.
import dns from "node:dns";
import net from "node:net";
import { syncBuiltinESMExports } from "node:module";

const local = new Set(["localhost", "127.0.0.1", "::1"]);

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  const callback = args.find((a) => typeof a === "function");
  this.once("listening", () => {
    process.stderr.write(`listening on ${this.address().port}\n`);
  });
  return listen.call(this, { port: 0, host: "127.0.0.1" }, callback);
};

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof options === "object" ? options.host : args[1];
  if (typeof host === "string" && !local.has(host)) {
    process.nextTick(() => this.destroy(new Error(`offline: ${host} was not called`)));
    return this;
  }
  return connect.apply(this, args);
};

for (const api of [dns, dns.promises]) {
  const lookup = api.lookup;
  api.lookup = (host, ...rest) => lookup.call(api, local.has(host) ? host : "offline.invalid", ...rest);
}
syncBuiltinESMExports();
