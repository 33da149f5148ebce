/** A record of a container log: `<time> <stream> <F or P> <text>`; P marks a partial line. */

export interface LogRecord {
  /** RFC 3339 with nanoseconds, as written. */
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  /** Whether the line continues in the next record of the stream. */
  readonly partial: boolean;
  readonly text: Buffer;
}

const space = 0x20;

/** Parses a line; returns undefined if it is not a record, as after a crash during a write. */
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
