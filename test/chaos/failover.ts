/**
 * Measures how long writes are unavailable: after a kill of the leader and during a planned leader
 * transfer. Meanwhile it reads at revision 0 from the remaining servers.
 */
import { defaultLoad } from './load/load.js';
import { Run } from './run.js';
import { ChaosCluster, type Member } from './support/chaos-cluster.js';
import { quantile, worstGapMs } from './support/quantiles.js';
import { Random } from './support/random.js';
import { SteadyReader } from './support/steady-reader.js';

export interface FailoverFigures {
  readonly kills: number;
  readonly writesBackMs: readonly number[];
  readonly readsAtZero: number;
  readonly failedReadsAtZero: readonly string[];
  readonly longestReadAtZeroMs: number;
  readonly transfers: number;
  /**
   * The longest time without an acknowledgement within a second after the start of each transfer.
   */
  readonly transferPausesMs: readonly number[];
  /** The same without a transfer, for comparison. */
  readonly ordinaryPausesMs: readonly number[];
  readonly failedInTransfers: readonly string[];
}

export interface FailoverOptions {
  readonly kills: number;
  readonly transfers: number;
  readonly seed: number;
  readonly directory: string;
}

const windowMs = 1_000;
const betweenMs = 1_000;

export async function measureFailover({
  kills,
  transfers,
  seed,
  directory,
}: FailoverOptions): Promise<FailoverFigures> {
  const random = new Random(seed);
  const cluster = await ChaosCluster.create(directory, { size: 3 }, () => random.next());
  const run = new Run(cluster, random.fork(), defaultLoad, (text) => console.log(text));
  const reader = new SteadyReader(cluster);
  try {
    await run.start();
    for (let kill = 1; kill <= kills; kill += 1) await killOnce(run, reader, kill);
    const ordinaryPausesMs: number[] = [];
    const transferPausesMs: number[] = [];
    const failedInTransfers: string[] = [];
    for (let transfer = 1; transfer <= transfers; transfer += 1) {
      await run.work(betweenMs);
      const quiet = run.load.notes.now();
      await run.work(windowMs);
      ordinaryPausesMs.push(worstGapMs(run.load.notes, quiet, windowMs));
      transferPausesMs.push(await transferOnce(run, failedInTransfers));
    }
    await run.load.settle();
    return {
      kills,
      writesBackMs: run.writesBackMs,
      readsAtZero: reader.answered,
      failedReadsAtZero: reader.failures,
      longestReadAtZeroMs: reader.longestMs,
      transfers,
      transferPausesMs,
      ordinaryPausesMs,
      failedInTransfers,
    };
  } finally {
    await run.load.stop();
    await cluster.destroy();
  }
}

async function killOnce(run: Run, reader: SteadyReader, kill: number): Promise<void> {
  const leader = await run.cluster.leader();
  const others = run.cluster.current().filter((member: Member) => member !== leader);
  reader.start(others);
  await run.work(betweenMs * (0.5 + run.random.next()));
  const since = run.fault(`kill ${kill}`);
  await run.kill(leader);
  await run.writesBack(since);
  await reader.stop();
  await run.restart(leader);
}

async function transferOnce(run: Run, failed: string[]): Promise<number> {
  const { notes } = run.load;
  const since = run.fault('transfer leadership');
  const readsBefore = notes.failures.failedReads;
  const writesBefore = notes.writes.length;
  await run.cluster.operator.request('POST', '/cluster/leader', {});
  await run.work(windowMs);
  if (notes.failures.failedReads > readsBefore) {
    failed.push(`${notes.failures.failedReads - readsBefore} reads`);
  }
  for (const { outcome, endedAt, startedAt } of notes.writes.slice(writesBefore)) {
    if (outcome.kind === 'refused' && !outcome.reason.startsWith('404'))
      failed.push(outcome.reason);
    // A write without an outcome may still be in flight.
    if (
      outcome.kind === 'unknown' &&
      endedAt === undefined &&
      notes.now() - startedAt > windowMs * 2
    ) {
      failed.push('a write without a response');
    }
  }
  return worstGapMs(notes, since, windowMs);
}

/** Formats the figures for a person. */
export function failoverText(figures: FailoverFigures): string {
  const spread = (numbers: readonly number[]) =>
    `p50 ${Math.round(quantile(numbers, 0.5))} ms, p99 ${Math.round(quantile(numbers, 0.99))} ms, longest ${Math.round(Math.max(0, ...numbers))} ms`;
  return [
    `${figures.kills} kills of the leader: writes back after ${spread(figures.writesBackMs)}`,
    `reads at 0 of the others meanwhile: ${figures.readsAtZero} answered, ${figures.failedReadsAtZero.length} failed, longest ${Math.round(figures.longestReadAtZeroMs)} ms`,
    ...figures.failedReadsAtZero.slice(0, 5).map((text) => `  ${text}`),
    `${figures.transfers} planned transfers: longest time without an acknowledged write ${spread(figures.transferPausesMs)}; without a transfer ${spread(figures.ordinaryPausesMs)}`,
    `failed requests in transfers: ${figures.failedInTransfers.length}`,
    ...figures.failedInTransfers.slice(0, 5).map((text) => `  ${text}`),
  ].join('\n');
}
