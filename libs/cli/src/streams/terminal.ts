/** The local terminal as the terminal of a remote command. */
import type { ReadStream, WriteStream } from 'node:tty';
import { UsageError } from '../command-line/errors.js';
import type { Io } from '../command-line/io.js';
import type { LocalEnds } from './command-client.js';

export interface WantedStreams {
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** Switches the terminal to raw mode. Returns a function that restores it. */
function makeRaw(stdin: ReadStream): () => void {
  stdin.setRawMode(true);
  const restore = () => void stdin.setRawMode(false);
  process.once('exit', restore);
  return () => {
    process.off('exit', restore);
    restore();
  };
}

/** The streams of this process for a remote command, until `release` is called. */
export function localEnds(
  { streams, err }: Io,
  requested: WantedStreams,
): { ends: LocalEnds; release: () => void } {
  if (!streams) throw new UsageError('this command needs the streams of a process');
  const { stdin, stdout, stderr } = streams;
  const isTerminal = stdin.isTTY === true;
  if (requested.tty && !requested.stdin) throw new UsageError('-t needs -i');
  const tty = requested.tty && isTerminal;
  if (requested.tty && !tty) {
    err('Unable to use a terminal: standard input is not a terminal\n');
  }
  const release = tty ? makeRaw(stdin as ReadStream) : () => undefined;
  const ends: LocalEnds = {
    ...(requested.stdin && { stdin }),
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
