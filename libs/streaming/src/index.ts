/** Streaming between clients, API server and node agents: remote commands and port forwarding. */
export { type Forward, type ForwardedConnection, parsePort } from './forwarding.js';
export {
  forwardedPortsMax,
  webSocketMessageBytesMax,
} from './limits.js';
export {
  type CommandProtocol,
  chooseProtocol,
  listedValues,
  spdyCommandProtocols,
  spdyForwardProtocol,
  tunnelForwardProtocol,
  webSocketCommandProtocols,
  webSocketForwardProtocols,
  webSocketLogProtocols,
} from './protocols.js';
export {
  type CommandRequest,
  type CommandStatus,
  type CommandStreams,
  commandFailed,
  commandSucceeded,
  exitStatus,
  type TerminalSize,
} from './remote-command.js';
export { commandStreams } from './spdy/command-session.js';
export { serveForwardSession } from './spdy/forward-session.js';
export { SpdySession } from './spdy/session.js';
export type { SpdyStream } from './spdy/stream.js';
export {
  acceptWebSocket,
  HandshakeError,
  type WebSocketRequest,
} from './websocket/accept-socket.js';
export { sendStream } from './websocket/byte-socket.js';
export { channels, closeChannel, decodeMessage, encodeMessage } from './websocket/channel-codec.js';
export { CommandSocket } from './websocket/command-socket.js';
export { serveForwardSocket } from './websocket/forward-socket.js';
export { keepAlive } from './websocket/keep-alive.js';
export { bytesOf, sendMessage } from './websocket/messages.js';
