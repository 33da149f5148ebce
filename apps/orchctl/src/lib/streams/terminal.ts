/** The user's own terminal while a remote one is shown in it. */
import type { ReadStream, WriteStream } from 'node:tty';
import { UsageError } from '../errors.js';
import type { Io } from '../io.js';
import type { LocalEnds } from './command-client.js';

export interface WantedStreams {
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** Every key goes to the other side; returns a function that gives the terminal back. */
function makeRaw(stdin: ReadStream): () => void {
  stdin.setRawMode(true);
  const restore = () => void stdin.setRawMode(false);
  process.once('exit', restore);
  return () => {
    process.off('exit', restore);
    restore();
  };
}

/** The streams of this process as ends of a remote command, until `release` is called. */
export function localEnds(
  { streams, err }: Io,
  wanted: WantedStreams,
): { ends: LocalEnds; release: () => void } {
  if (!streams) throw new UsageError('there are no streams to join');
  const { stdin, stdout, stderr } = streams;
  const isTerminal = stdin.isTTY === true;
  if (wanted.tty && !wanted.stdin) throw new UsageError('-t needs -i');
  const tty = wanted.tty && isTerminal;
  if (wanted.tty && !tty) {
    err('Unable to use a terminal: input is none or the right kind of file\n');
  }
  const release = tty ? makeRaw(stdin as ReadStream) : () => undefined;
  const ends: LocalEnds = {
    ...(wanted.stdin && { stdin }),
    stdout,
    ...(!tty && { stderr }),
    tty,
    ...(tty && { onSizes: (tell) => tellSizes(stdout as WriteStream, tell) }),
  };
  return { ends, release };
}

function tellSizes(stdout: WriteStream, tell: (columns: number, rows: number) => void): () => void {
  const now = () => {
    if (stdout.columns > 0 && stdout.rows > 0) tell(stdout.columns, stdout.rows);
  };
  now();
  stdout.on('resize', now);
  return () => stdout.off('resize', now);
}
