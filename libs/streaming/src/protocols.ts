/**
 * The protocols of pod streams, and their negotiation. Versions of remote commands: 1 to 3 send a
 * failure as text (3 supports terminal sizes), 4 sends it as a Status, 5 can close standard input
 * separately.
 * Source: upstream clients, which offer these names.
 */
import { dialect } from '@orch/component';

export type CommandVersion = 1 | 2 | 3 | 4 | 5;

export interface CommandProtocol {
  /** The negotiated name; empty if the client offered none. */
  readonly name: string;
  readonly version: CommandVersion;
  /** Whether data is sent as base64 text, for clients that support only text. */
  readonly base64: boolean;
}

/** The prefix of protocols of tunnelled port-forward connections. */
const tunnelPrefix = 'SPDY/3.1+';

function named(head: string, version: CommandVersion, base64: boolean): CommandProtocol {
  return { name: dialect().streamProtocol(head), version, base64 };
}

/** Returns the protocols of remote commands over WebSocket, in order of preference. */
export function webSocketCommandProtocols(): CommandProtocol[] {
  return [
    named('v5.channel', 5, false),
    named('v4.channel', 4, false),
    named('v4.base64.channel', 4, true),
    named('channel', 1, false),
    named('base64.channel', 1, true),
  ];
}

/**
 * Returns the protocols of port-forward over WebSocket with two channels per port, in order of
 * preference.
 */
export function webSocketForwardProtocols(): CommandProtocol[] {
  return webSocketCommandProtocols().filter(({ version }) => version < 5);
}

/** Returns the protocols of a log over WebSocket, which sends only bytes in one direction. */
export function webSocketLogProtocols(): CommandProtocol[] {
  return [named('binary', 1, false), named('base64.binary', 1, true)];
}

/** Returns the protocols of remote commands over SPDY/3.1, in order of preference. */
export function spdyCommandProtocols(): CommandProtocol[] {
  return [
    named('v4.channel', 4, false),
    named('v3.channel', 3, false),
    named('v2.channel', 2, false),
    named('channel', 1, false),
  ];
}

/** Returns the protocol of port-forward over SPDY/3.1. */
export function spdyForwardProtocol(): string {
  return dialect().streamProtocol('portforward');
}

/** Returns the protocol of port-forward over SPDY/3.1 that is tunnelled through a WebSocket. */
export function tunnelForwardProtocol(): string {
  return tunnelPrefix + spdyForwardProtocol();
}

/** The protocol of clients that offer none. */
export const unnamedProtocol: CommandProtocol = { name: '', version: 1, base64: false };

/**
 * Returns the first protocol of `supported` that is offered, the unnamed protocol without an offer,
 * and undefined if there is no common protocol.
 */
export function chooseProtocol(
  offered: readonly string[],
  supported: readonly CommandProtocol[],
): CommandProtocol | undefined {
  if (offered.length === 0) return unnamedProtocol;
  return supported.find(({ name }) => offered.includes(name));
}

/** Returns the values of a header that may be repeated or contain a list. */
export function listedValues(header: string | readonly string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
