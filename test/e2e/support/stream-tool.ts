/** A command with open streams: callers wait for its output and send input. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Cluster } from './cluster.js';
import { stockTool } from './kubectl.js';
import { type Outcome, repositoryRoot } from './process.js';
import { eventually } from './wait.js';

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export class Background {
  output = '';
  /** Exit code. */
  readonly ended: Promise<number>;

  constructor(private readonly child: ChildProcess) {
    const take = (chunk: Buffer) => {
      this.output += chunk;
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.stdin?.on('error', () => undefined);
    this.ended = new Promise((done) => {
      child.once('close', (code) => done(code ?? 1));
    });
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  said(what: string | RegExp): Promise<RegExpMatchArray> {
    const matching = () => {
      if (typeof what !== 'string') return this.output.match(what) ?? undefined;
      return this.output.includes(what) ? ([what] as RegExpMatchArray) : undefined;
    };
    return eventually(`"${what}" to be said`, () => {
      const match = matching();
      if (!match && this.child.exitCode !== null) throw new Error(`ended: ${this.output}`);
      return match;
    });
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
  }
}

export class StreamTool {
  private constructor(
    private readonly program: string,
    private readonly firstArgs: readonly string[],
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  static orchctl(cluster: Cluster): StreamTool {
    const main = `${repositoryRoot}/dist/apps/orchctl/src/main.js`;
    return new StreamTool(process.execPath, [main], { KUBECONFIG: cluster.kubeconfig });
  }

  static kubectl(cluster: Cluster, overWebSocket: boolean): StreamTool {
    return new StreamTool(stockTool('kubectl'), [], {
      KUBECONFIG: cluster.kubeconfig,
      KUBECTL_REMOTE_COMMAND_WEBSOCKETS: String(overWebSocket),
      KUBECTL_PORT_FORWARD_WEBSOCKETS: String(overWebSocket),
    });
  }

  start(args: readonly string[]): Background {
    return new Background(this.spawn(this.program, [...this.firstArgs, ...args]));
  }

  run(args: readonly string[], input: string | Buffer = ''): Promise<Outcome> {
    return outcome(this.spawn(this.program, [...this.firstArgs, ...args]), input);
  }

  async must(args: readonly string[], input: string | Buffer = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** Runs the command in a terminal of this size. */
  inTerminal(args: readonly string[], size: TerminalSize): Promise<Outcome> {
    return outcome(this.spawnInTerminal(args, size), undefined);
  }

  startInTerminal(args: readonly string[], size: TerminalSize): Background {
    return new Background(this.spawnInTerminal(args, size));
  }

  private spawnInTerminal(args: readonly string[], { rows, columns }: TerminalSize): ChildProcess {
    const words = [this.program, ...this.firstArgs, ...args].map(
      (word) => `'${word.replaceAll("'", "'\\''")}'`,
    );
    const script = `stty rows ${rows} cols ${columns}; exec ${words.join(' ')}`;
    return this.spawn('script', ['-qefc', script, '/dev/null']);
  }

  private spawn(program: string, args: readonly string[]): ChildProcess {
    return spawn(program, args, {
      cwd: repositoryRoot,
      env: { ...process.env, NO_COLOR: '1', SHELL: '/bin/bash', ...this.environment },
    });
  }
}

/** If `input` is undefined, standard input stays open. */
function outcome(child: ChildProcess, input: string | Buffer | undefined): Promise<Outcome> {
  return new Promise((done, fail) => {
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', fail);
    child.once('close', (code) => done({ code: code ?? 1, stdout, stderr }));
    child.stdin?.on('error', () => undefined);
    if (input !== undefined) child.stdin?.end(input);
  });
}
