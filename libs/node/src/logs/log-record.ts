/** One record of a container log: `<time> <stream> <F or P> <text>`; P marks a line's first parts. */

export interface LogRecord {
  /** As written: RFC 3339 with nanoseconds. */
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  /** The text is a part of a line that goes on in the stream's next record. */
  readonly partial: boolean;
  readonly text: Buffer;
}

const space = 0x20;

/** Undefined if the line is not a record, as after a crash while one was written. */
export function parseLogRecord(line: Buffer): LogRecord | undefined {
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  const third = line.indexOf(space, second + 1);
  if (first < 0 || second < 0 || third < 0) return undefined;
  const time = line.toString('latin1', 0, first);
  const stream = line.toString('latin1', first + 1, second);
  const tag = line.toString('latin1', second + 1, third);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  if (Number.isNaN(Date.parse(time))) return undefined;
  return { time, stream, partial: tag === 'P', text: line.subarray(third + 1) };
}
