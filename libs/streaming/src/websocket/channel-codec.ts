/** Messages of a WebSocket that carries several channels: the channel first, then its bytes. Pure. */

/** Channels of remote commands. */
export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** From version 5 on: the channel named by the next byte has ended. */
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

/** A text in base64 protocols, where the channel is a digit. */
export function encodeMessage(channel: number, data: Uint8Array, base64: boolean): Buffer | string {
  if (base64) return `${channel}${Buffer.from(data).toString('base64')}`;
  const message = Buffer.allocUnsafe(data.length + 1);
  message[0] = channel;
  message.set(data, 1);
  return message;
}

/** Undefined for an empty message. Throws ChannelError for what is no base64. */
export function decodeMessage(message: Buffer, base64: boolean): ChannelMessage | undefined {
  const first = message[0];
  if (first === undefined) return undefined;
  if (!base64) return { channel: first, data: message.subarray(1) };
  const text = message.toString('latin1', 1);
  if (first < digitZero || first > digitZero + 9 || !base64Text.test(text)) {
    throw new ChannelError('a message is no channel digit followed by base64');
  }
  return { channel: first - digitZero, data: Buffer.from(text, 'base64') };
}
