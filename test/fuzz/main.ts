/**
 * Feeds random input to decoders: `--runs N` inputs for each target (slow targets get a share),
 * `--seed S`, `--only NAME,...`, `--path P` to repeat one input, `--list` to print the names. Exit
 * codes: 0 no fault, 1 a fault, 2 a wrong command line. docs/fuzzing.md has the details.
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

/** An input that runs for longer counts as a hang. */
const stallTimeoutMs = 60_000;
const watchIntervalMs = 500;
/** Heap of the decoding thread. Higher: inputs that grow without end run for longer. */
const heapMegabytesMax = 768;

function print(text: string): void {
  writeSync(1, `${text}\n`);
}

function usage(text: string): never {
  print(text);
  process.exit(2);
}

function positiveInteger(option: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  return usage(`--${option}: expected a positive integer, got ${text}`);
}

function selectedTargets(): readonly Target[] {
  if (values.only === undefined) return targets;
  return values.only.split(',').map((name) => {
    const names = targets.map((target) => target.name);
    const target = targets[names.indexOf(name)];
    return target ?? usage(`--only: unknown target ${name}; use ${names.join(', ')}`);
  });
}

interface Fault {
  readonly text: string;
  readonly path: string;
  readonly endsThread?: boolean;
}

interface Result {
  readonly startedCount: number;
  readonly tookMs: number;
  readonly fault: Fault | undefined;
}

/** The decoding thread, which is replaced after a fault that ends or blocks it. */
class Decoder {
  private readonly begun = new Int32Array(new SharedArrayBuffer(4));
  private worker: Worker | undefined;

  /** Runs the order until it ends or exceeds a limit of time or memory. */
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
        resolve({ startedCount: begun[0]!, tookMs: performance.now() - startMs, fault });
      };
      const endAtInput = (text: string) =>
        end({ text, path: String(Math.max(0, begun[0]! - 1)), endsThread: true });
      const watch = setInterval(() => {
        if (begun[0] !== lastCount) {
          lastCount = begun[0]!;
          lastMs = performance.now();
        } else if (performance.now() - lastMs > stallTimeoutMs) {
          endAtInput('an input does not end');
          void worker.terminate();
        }
      }, watchIntervalMs);
      const onMessage = ({ failure }: Outcome) => {
        if (!failure) return end(undefined);
        const { input, error, shrinkCount, path } = failure;
        end({ text: `${error}\n  input, shrunk ${shrinkCount} times: ${input}`, path });
      };
      // Out of memory, and uncaught errors.
      const onError = (error: Error) => endAtInput(error.stack ?? error.message);
      const onExit = (code: number) => endAtInput(`the thread ended with ${code}`);
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
      // Libraries warn about malformed input, which most inputs are.
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    return this.worker;
  }
}

if (values.list) {
  for (const { name } of targets) print(name);
  process.exit(0);
}
const runs = positiveInteger('runs', values.runs);
const seed = positiveInteger('seed', values.seed);
let total = 0;
let failed = 0;
const all = selectedTargets();
const decoder = new Decoder();
for (const { name, share } of all) {
  const order: Order = {
    target: name,
    runs: Math.max(1, Math.ceil(runs * share)),
    seed,
    ...(values.path !== undefined && { path: values.path }),
  };
  const { startedCount, tookMs, fault } = await decoder.run(order);
  total += startedCount;
  print(
    `${name.padEnd(18)} ${String(startedCount).padStart(8)} inputs in ${(tookMs / 1000).toFixed(1)} s`,
  );
  if (!fault) continue;
  failed += 1;
  print(`  FAILED: ${fault.text}`);
  print(`  repeat: npm run fuzz -- --only ${name} --seed ${seed} --path ${fault.path}`);
}
await decoder.close();
print(
  `fuzz: ${total} inputs, ${all.length - failed} targets passed, ${failed} failed, seed ${seed}`,
);
if (values.summary) {
  writeFileSync(values.summary, JSON.stringify({ passed: all.length - failed, failed }));
}
process.exit(failed === 0 ? 0 : 1);
