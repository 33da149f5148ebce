/** Starts and kills a key management service that runs in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';

const program = resolve(import.meta.dirname, 'kms-plugin-process.mjs');
const protoFile = resolve(import.meta.dirname, '../../../../proto/orch/kms/v1beta1.proto');

interface KmsCalls {
  readonly Version: number;
  readonly Encrypt: number;
  readonly Decrypt: number;
}

export class KmsPluginProcess {
  private child: ChildProcess | undefined;

  constructor(
    readonly socket: string,
    private readonly keyHex: string,
  ) {}

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  /** Resolves when the socket accepts connections. */
  async start(): Promise<void> {
    // A killed process leaves its socket behind.
    rmSync(this.socket, { force: true });
    const child = fork(program, [this.socket, protoFile, this.keyHex], { execArgv: [] });
    this.child = child;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the key management service ended with ${code}`);
    });
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Delays each call from now on. */
  async delay(delayMs: number): Promise<void> {
    await this.send({ delayMs });
  }

  /** The calls since the start of the process. */
  async calls(): Promise<KmsCalls> {
    return this.send({});
  }

  private async send(order: object): Promise<KmsCalls> {
    const { child } = this;
    if (!child) throw new Error('the key management service does not run');
    child.send(order);
    const [{ counts }] = await once(child, 'message');
    return counts;
  }
}
