// Package mcpclient is one client session with an MCP server that survives
// servers as they are found in the wild.
//
// The parts, from the outside in:
//
//   - [Client] (client.go) hands out the current link, retries what broke on
//     the way (retry.go) and replaces a link that died, once for all callers.
//   - A link (link.go) is one connection with its handshake done. The go-sdk
//     does the handshake: both protocol eras, version negotiation, answers to
//     requests of the server.
//   - A conn carries the messages: streamable HTTP (streamable.go), HTTP+SSE
//     (sse.go) or the pipes of a process (stdio.go). The conns are our own and
//     not the SDK's, for two reasons. One odd answer (a log line on stdout, a
//     plain-text 200, a bare 404) ends an SDK session together with every
//     call in flight; here it costs only the call it belongs to. And a call
//     through the SDK takes 2.7 times as long as a bare HTTP request, one
//     through these conns 1.1 times (BenchmarkCall).
//   - tools/list and tools/call travel beside the SDK as raw JSON and are read
//     leniently (result.go, tools.go), because the SDK's typed results lose a
//     whole answer over one part they do not know.
//   - An authorizer (authorize.go) gets access tokens where the Config has
//     [OAuth] and the server asks for one; the flows are the SDK's, as far as
//     it has them. [Elicit] (elicit.go) answers questions to the user.
//
// What goes wrong comes back as [*Error], which says where it broke and how;
// an answer of the server that is a JSON-RPC error is reachable as
// [*RPCError]. Neither ever shows a header's value, a URL's user and password
// or a token of its query.
package mcpclient
