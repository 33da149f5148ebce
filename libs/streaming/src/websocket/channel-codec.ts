/**
 * Encodes and decodes WebSocket messages of several channels: the channel, followed by data. Pure.
 */

/** Channels of remote commands. */
export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** Since version 5: closes the channel in the next byte. */
export const closeChannel = 255;

export interface ChannelMessage {
  readonly channel: number;
  readonly data: Buffer;
}

export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

const digitZero = 0x30;
const base64Text = /^[A-Za-z0-9+/]*={0,2}$/;

/** Encodes a message. In base64 protocols it is text and the channel is a digit. */
export function encodeMessage(channel: number, data: Uint8Array, base64: boolean): Buffer | string {
  if (base64) return `${channel}${Buffer.from(data).toString('base64')}`;
  const message = Buffer.allocUnsafe(data.length + 1);
  message[0] = channel;
  message.set(data, 1);
  return message;
}

/**
 * Decodes a message; returns undefined for an empty one. Throws ChannelError for invalid base64.
 */
export function decodeMessage(message: Buffer, base64: boolean): ChannelMessage | undefined {
  const first = message[0];
  if (first === undefined) return undefined;
  if (!base64) return { channel: first, data: message.subarray(1) };
  const text = message.toString('latin1', 1);
  if (first < digitZero || first > digitZero + 9 || !base64Text.test(text)) {
    throw new ChannelError('a message is not a channel digit followed by base64');
  }
  return { channel: first - digitZero, data: Buffer.from(text, 'base64') };
}
