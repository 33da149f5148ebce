/**
 * The protocols that streams of a pod are spoken in, by name, and which one is taken when a client
 * offers several. Versions of remote commands: 1 to 3 tell a failure as text (3 knows the terminal's
 * size), 4 tells it as a Status, 5 can end standard input alone.
 * Source: the interface's clients, which ask for these names.
 */
import { dialect } from '@orch/component';

export type CommandVersion = 1 | 2 | 3 | 4 | 5;

export interface CommandProtocol {
  /** As negotiated; empty where the client asked for none. */
  readonly name: string;
  readonly version: CommandVersion;
  /** Bytes travel as base64 text, for clients that have only text. */
  readonly base64: boolean;
}

/** What tunnelled connections of port-forward are called: the framing, then its protocol. */
const tunnelPrefix = 'SPDY/3.1+';

function named(head: string, version: CommandVersion, base64: boolean): CommandProtocol {
  return { name: dialect().streamProtocol(head), version, base64 };
}

/** Remote commands over WebSocket, the best first. */
export function webSocketCommandProtocols(): CommandProtocol[] {
  return [
    named('v5.channel', 5, false),
    named('v4.channel', 4, false),
    named('v4.base64.channel', 4, true),
    named('channel', 1, false),
    named('base64.channel', 1, true),
  ];
}

/** Port-forward over WebSocket with two channels a port, the best first. */
export function webSocketForwardProtocols(): CommandProtocol[] {
  return webSocketCommandProtocols().filter(({ version }) => version < 5);
}

/** A log over WebSocket: its bytes alone, in one direction. */
export function webSocketLogProtocols(): CommandProtocol[] {
  return [named('binary', 1, false), named('base64.binary', 1, true)];
}

/** Remote commands over SPDY/3.1, the best first. */
export function spdyCommandProtocols(): CommandProtocol[] {
  return [
    named('v4.channel', 4, false),
    named('v3.channel', 3, false),
    named('v2.channel', 2, false),
    named('channel', 1, false),
  ];
}

/** Port-forward over SPDY/3.1. */
export function spdyForwardProtocol(): string {
  return dialect().streamProtocol('portforward');
}

/** The same inside the messages of a WebSocket. */
export function tunnelForwardProtocol(): string {
  return tunnelPrefix + spdyForwardProtocol();
}

/** Spoken where a client asks for nothing in particular. */
export const unnamedProtocol: CommandProtocol = { name: '', version: 1, base64: false };

/** The first of `known` that is among `offered`; the unnamed one for no offer, else undefined. */
export function chooseProtocol(
  offered: readonly string[],
  known: readonly CommandProtocol[],
): CommandProtocol | undefined {
  if (offered.length === 0) return unnamedProtocol;
  return known.find(({ name }) => offered.includes(name));
}

/** The values of a header that may be sent several times or hold a list. */
export function listedValues(header: string | readonly string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
