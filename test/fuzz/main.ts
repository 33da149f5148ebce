/**
 * Feeds decoders random input: `--runs N` inputs for each target (targets that cost much get a share of
 * them), `--seed S`, `--only NAME,...`, `--path P` one input again, `--list` the names. Exit codes: 0
 * nothing found, 1 a fault, 2 wrong command line. docs/fuzzing.md says more.
 */
import { writeFileSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Target } from './target.js';
import { targets } from './targets.js';
import type { Order, Outcome } from './worker.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
    path: { type: 'string' },
    list: { type: 'boolean', default: false },
    summary: { type: 'string' },
  },
});

/** No further input begun for so long: one is taken to never end. */
const stallTimeoutMs = 60_000;
const watchIntervalMs = 500;
/** Of the thread that decodes. Higher lets inputs that grow without end go on for longer. */
const heapMegabytesMax = 768;

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

function usage(text: string): never {
  say(text);
  process.exit(2);
}

function whole(option: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  return usage(`--${option}: want a whole number above 0, got ${text}`);
}

function chosen(): readonly Target[] {
  if (values.only === undefined) return targets;
  return values.only.split(',').map((name) => {
    const target = targets.find((one) => one.name === name);
    return (
      target ?? usage(`--only: no ${name}; there are ${targets.map((one) => one.name).join(', ')}`)
    );
  });
}

interface Fault {
  readonly text: string;
  readonly path: string;
  readonly endsThread?: boolean;
}

interface Result {
  readonly begunCount: number;
  readonly tookMs: number;
  readonly fault: Fault | undefined;
}

/** The thread that decodes; another one after a fault that it cannot be used after. */
class Decoder {
  private readonly begun = new Int32Array(new SharedArrayBuffer(4));
  private worker: Worker | undefined;

  /** Runs it to its end, or until it has used too much of something. */
  run(order: Order): Promise<Result> {
    const { begun } = this;
    begun[0] = 0;
    const worker = this.thread();
    const startMs = performance.now();
    let lastCount = 0;
    let lastMs = startMs;
    return new Promise((resolve) => {
      const end = (fault: Fault | undefined) => {
        clearInterval(watch);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        if (fault?.endsThread) this.worker = undefined;
        resolve({ begunCount: begun[0]!, tookMs: performance.now() - startMs, fault });
      };
      const endHere = (text: string) =>
        end({ text, path: String(Math.max(0, begun[0]! - 1)), endsThread: true });
      const watch = setInterval(() => {
        if (begun[0] !== lastCount) {
          lastCount = begun[0]!;
          lastMs = performance.now();
        } else if (performance.now() - lastMs > stallTimeoutMs) {
          endHere('an input never ends');
          void worker.terminate();
        }
      }, watchIntervalMs);
      const onMessage = ({ failure }: Outcome) => {
        if (!failure) return end(undefined);
        const { input, error, shrinkCount, path } = failure;
        end({ text: `${error}\n  input, shrunk ${shrinkCount} times: ${input}`, path });
      };
      // Out of memory, and errors that nobody took.
      const onError = (error: Error) => endHere(error.stack ?? error.message);
      const onExit = (code: number) => endHere(`the thread ended with ${code}`);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(order);
    });
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
  }

  private thread(): Worker {
    this.worker ??= new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { begun: this.begun },
      // Libraries warn of odd input, of which there is much here.
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    return this.worker;
  }
}

if (values.list) {
  for (const { name } of targets) say(name);
  process.exit(0);
}
const runs = whole('runs', values.runs);
const seed = whole('seed', values.seed);
let total = 0;
let failed = 0;
const all = chosen();
const decoder = new Decoder();
for (const { name, share } of all) {
  const order: Order = {
    target: name,
    runs: Math.max(1, Math.ceil(runs * share)),
    seed,
    ...(values.path !== undefined && { path: values.path }),
  };
  const { begunCount, tookMs, fault } = await decoder.run(order);
  total += begunCount;
  say(
    `${name.padEnd(18)} ${String(begunCount).padStart(8)} inputs in ${(tookMs / 1000).toFixed(1)} s`,
  );
  if (!fault) continue;
  failed += 1;
  say(`  FAILED: ${fault.text}`);
  say(`  again: npm run fuzz -- --only ${name} --seed ${seed} --path ${fault.path}`);
}
await decoder.close();
say(`fuzz: ${total} inputs, ${all.length - failed} targets passed, ${failed} failed, seed ${seed}`);
if (values.summary) {
  writeFileSync(values.summary, JSON.stringify({ passed: all.length - failed, failed }));
}
process.exit(failed === 0 ? 0 : 1);
