/** The input and output of a command: the streams of the process, or buffers in tests. */
import pico from 'picocolors';

type Colours = ReturnType<typeof pico.createColors>;

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** All of standard input; for `-f -`. */
  readInput(): Promise<string>;
  /** The streams, for commands that connect them to a container. Absent in tests. */
  readonly streams?: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
}

/** Bytes that are read from standard input. Manifests are far smaller. */
const inputBytesMax = 64 * 1024 * 1024;

export function processIo(): Io {
  // A reader that closes the pipe (`orchctl get pods | head -1`) is not an error.
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

/** Whether the stream is a terminal that supports colours and the user has not disabled them. */
function showsColours(stream: { readonly isTTY?: boolean }): boolean {
  const refused = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== '';
  return stream.isTTY === true && !refused && process.env.TERM !== 'dumb';
}

/** Colours the prefix of an error or a warning. */
function withColours(text: string, colours: Colours): string {
  return text
    .replace(/^(?:error|Error from server[^:]*|Unable to connect to the server):/, colours.red)
    .replace(/^Warning:/, colours.yellow);
}
