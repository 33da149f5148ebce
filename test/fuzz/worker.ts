/**
 * Runs targets in a thread with bounded memory, which the main thread can end if an input hangs.
 * The number of started inputs is in shared memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { selectDialect } from '@orch/component';
import fc from 'fast-check';

/** Longest text of a failing input or its error. */
const shownLengthMax = 4_000;

export interface Order {
  readonly target: string;
  readonly runs: number;
  readonly seed: number;
  /** Repeats this input, drawn or found by shrinking. */
  readonly path?: string;
}

/** `failure` is undefined if every input passed. */
export interface Outcome {
  readonly failure?: {
    readonly path: string;
    readonly input: string;
    readonly error: string;
    readonly shrinkCount: number;
  };
}

const { begun } = workerData as { begun: Int32Array };

async function run({ target: name, runs, seed, path }: Order): Promise<Outcome> {
  const target = targets.find((each) => each.name === name);
  if (!target) throw new RangeError(`no target ${name}`);
  const close = await target.open?.();
  try {
    const details = await fc.check(counted(target.property), {
      numRuns: runs,
      seed,
      ...(path !== undefined && { path }),
    });
    if (!details.failed) return {};
    const error = details.errorInstance;
    return {
      failure: {
        path: details.counterexamplePath ?? '',
        input: fc.stringify(details.counterexample).slice(0, shownLengthMax),
        error: (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(
          0,
          shownLengthMax,
        ),
        shrinkCount: details.numShrinks,
      },
    };
  } finally {
    await close?.();
  }
}

/** The same property, which counts each input before it runs. */
function counted(property: fc.IRawProperty<unknown>): fc.IRawProperty<unknown> {
  const original = property.run.bind(property);
  property.run = ((input: unknown) => {
    Atomics.add(begun, 0, 1);
    return original(input);
  }) as typeof property.run;
  return property;
}

// Targets read the names of the dialect when they are created.
selectDialect('orch');
const { targets } = await import('./targets.js');
parentPort!.on('message', (order: Order) => {
  // A rejection ends the thread, and the main thread reports that.
  void run(order).then((outcome) => parentPort!.postMessage(outcome));
});
