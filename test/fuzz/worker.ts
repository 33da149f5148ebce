/**
 * Runs targets in a thread of its own, whose memory is bounded and which can be ended when an input never
 * ends. How many inputs it has begun is in memory that both sides see.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { selectDialect } from '@orch/component';
import fc from 'fast-check';

/** Shown of an input that fails. */
const shownLengthMax = 4_000;

export interface Order {
  readonly target: string;
  readonly runs: number;
  readonly seed: number;
  /** Replays one input, or one found by shrinking. */
  readonly path?: string;
}

/** Undefined: nothing was found. */
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
  const target = targets.find((one) => one.name === name);
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

/** The same property, telling of each input before it is tried. */
function counted(property: fc.IRawProperty<unknown>): fc.IRawProperty<unknown> {
  const original = property.run.bind(property);
  property.run = ((input: unknown) => {
    Atomics.add(begun, 0, 1);
    return original(input);
  }) as typeof property.run;
  return property;
}

// Names of the dialect are in the targets from their making on.
selectDialect('orch');
const { targets } = await import('./targets.js');
parentPort!.on('message', (order: Order) => {
  // A rejection ends the thread, which the other side tells of.
  void run(order).then((outcome) => parentPort!.postMessage(outcome));
});
