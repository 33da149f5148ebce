/** The protobuf fields around messages that are already encoded. */

export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

export function writeVarint(value: number, block: Buffer, at: number): number {
  let next = at;
  let rest = value;
  while (rest >= 0x80) {
    block[next++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  block[next++] = rest;
  return next;
}

/** The tag of a field that carries its length; field numbers up to 15. */
export const lengthDelimited = (field: number) => (field << 3) | 2;

/** A length-delimited field. */
export function protobufField(number: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(1 + varintBytes(bytes.length));
  head[0] = lengthDelimited(number);
  writeVarint(bytes.length, head, 1);
  return Buffer.concat([head, bytes]);
}
