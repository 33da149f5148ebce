/** Where a command reads and writes: the process's streams, or buffers in tests. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** All of standard input; for `-f -`. */
  readInput(): Promise<string>;
  /** Standard output is a terminal that shows colours. */
  readonly colours: boolean;
}

/** Text from standard input may be this long; manifests are far smaller. */
const inputBytesMax = 64 * 1024 * 1024;

export function processIo(): Io {
  // A reader that has gone away (`orchctl get pods | head -1`) is not an error of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const noColour = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== '';
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
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
    colours: process.stdout.isTTY === true && !noColour && process.env.TERM !== 'dumb',
  };
}
