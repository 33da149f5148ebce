/** Where a command reads and writes: the process's streams, or buffers in tests. */
import pico from 'picocolors';

type Colours = ReturnType<typeof pico.createColors>;

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** All of standard input; for `-f -`. */
  readInput(): Promise<string>;
  /** The streams themselves, for commands that join them to others; absent in tests. */
  readonly streams?: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
}

/** Text from standard input may be this long; manifests are far smaller. */
const inputBytesMax = 64 * 1024 * 1024;

export function processIo(): Io {
  // A reader that has gone away (`orchctl get pods | head -1`) is not an error of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const colours = pico.createColors(showsColours(process.stderr));
  return {
    streams: process,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(withColours(text, colours)),
    readInput: async () => {
      const chunks: Buffer[] = [];
      let byteCount = 0;
      for await (const chunk of process.stdin) {
        chunks.push(chunk);
        byteCount += chunk.length;
        if (byteCount > inputBytesMax) {
          throw new Error(`standard input is longer than ${inputBytesMax} bytes`);
        }
      }
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

/** Only a terminal gets colours, and not when the user or the terminal wants none. */
function showsColours(stream: { readonly isTTY?: boolean }): boolean {
  const refused = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== '';
  return stream.isTTY === true && !refused && process.env.TERM !== 'dumb';
}

/** The words that say what kind of line it is stand out. */
function withColours(text: string, colours: Colours): string {
  return text
    .replace(/^(?:error|Error from server[^:]*|Unable to connect to the server):/, colours.red)
    .replace(/^Warning:/, colours.yellow);
}
