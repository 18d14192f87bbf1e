// Loaded before a server under test (node --import). Such a server listens on
// loopback only, on a port that the system chooses, which it announces on
// stderr; and it can call nobody but this machine, so that neither telemetry
// nor an online document changes what a test sees.
import dns from "node:dns";
import net from "node:net";
import { syncBuiltinESMExports } from "node:module";

const local = new Set(["localhost", "127.0.0.1", "::1"]);

// All ways to listen end here, at once where no host is named: some servers
// look at their address in the next line.
const listen = net.Server.prototype._listen2;
net.Server.prototype._listen2 = function (address, port, type, ...rest) {
  if (type !== 4 && type !== 6) return listen.call(this, address, port, type, ...rest); // a pipe
  this.once("listening", () => {
    process.stderr.write(`listening on ${this.address().port}\n`);
  });
  return listen.call(this, "127.0.0.1", 0, 4, ...rest);
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
