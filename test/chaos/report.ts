/** The result of a run and its output. */
import type { Violation } from '../history/history.js';
import type { Run } from './run.js';
import type { Scenario, WorkGate } from './scenario.js';
import { quantile } from './support/quantiles.js';

/** `invalid`: no violation, but too little happened for a meaningful result. */
export type Verdict = 'passed' | 'failed' | 'invalid' | 'skipped';

export interface ScenarioReport {
  readonly scenario: Scenario;
  readonly verdict: Verdict;
  readonly seed: number;
  /** Why it is invalid or skipped. */
  readonly reason?: string;
  readonly figures?: Figures;
  readonly violations?: readonly Violation[];
  readonly directory?: string;
}

export interface Figures {
  readonly operations: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly unknown: number;
  readonly reads: number;
  readonly failedReads: number;
  readonly watchedEvents: number;
  readonly streams: number;
  readonly relists: number;
  readonly faults: number;
  readonly failovers: number;
  readonly writesBackMs: readonly number[];
  readonly tookMs: number;
}

export interface Outcome {
  readonly seed: number;
  readonly times: number;
  readonly violations: readonly Violation[];
  readonly failovers: number;
  readonly eventCount: number;
  readonly tookMs: number;
  readonly directory: string;
}

export function reportOf(scenario: Scenario, run: Run, outcome: Outcome): ScenarioReport {
  const { seed, times, violations, failovers, tookMs, directory } = outcome;
  const { notes, watchers } = run.load;
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const figures: Figures = {
    operations: notes.writes.length + notes.reads.length + notes.failures.failedReads,
    acknowledged: notes.acknowledged,
    ...notes.failures,
    reads: notes.reads.length,
    watchedEvents: sum(watchers.all.map(({ facts }) => facts.size)),
    streams: sum(watchers.all.map(({ streams }) => streams)),
    relists: sum(watchers.all.map(({ relists }) => relists)),
    faults: run.faultCount,
    failovers,
    writesBackMs: run.writesBackMs,
    tookMs,
  };
  const lacking = lackOf(gateFor(scenario.gate, times), figures);
  const common = { scenario, seed, figures, violations, directory };
  if (violations.length > 0) return { ...common, verdict: 'failed' };
  if (lacking !== undefined) return { ...common, verdict: 'invalid', reason: lacking };
  return { ...common, verdict: 'passed' };
}

function gateFor({ acknowledged, faults, failovers }: WorkGate, times: number): WorkGate {
  return { acknowledged, faults: faults * times, failovers: failovers * times };
}

export function lackOf(gate: WorkGate, figures: WorkGate): string | undefined {
  const lacking = (['acknowledged', 'faults', 'failovers'] as const)
    .filter((name) => figures[name] < gate[name])
    .map((name) => `${figures[name]} ${name}, at least ${gate[name]} needed`);
  return lacking.length > 0 ? lacking.join('; ') : undefined;
}

const violationsShown = 10;

export function textOfViolations(violations: readonly Violation[]): string {
  const lines = violations
    .slice(0, violationsShown)
    .map(({ rule, detail }) => `  VIOLATION ${rule}: ${detail}`);
  const more = violations.length - violationsShown;
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

const valuesShown = 8;

function backText(writesBackMs: readonly number[]): string {
  const whole = (ms: number) => Math.round(ms);
  if (writesBackMs.length === 0) return '-';
  if (writesBackMs.length <= valuesShown) return `${writesBackMs.map(whole).join(', ')} ms`;
  const [middle, most] = [0.5, 0.99].map((share) => whole(quantile(writesBackMs, share)));
  return `p50 ${middle} ms, p99 ${most} ms, ${writesBackMs.length} times`;
}

export function textOf(report: ScenarioReport): string {
  const { scenario, verdict, figures, violations = [], reason, seed, directory } = report;
  const lines = [
    `${verdict.padEnd(8)} ${scenario.number} ${scenario.name}${reason ? `: ${reason}` : ''}`,
  ];
  if (figures) {
    const back = backText(figures.writesBackMs);
    lines.push(
      `  ${figures.operations} operations: ${figures.acknowledged} writes acknowledged, ${figures.refused} refused, ${figures.unknown} unknown, ${figures.reads} reads, ${figures.failedReads} failed`,
      `  ${figures.faults} faults, ${figures.failovers} failovers, writes back after ${back}; ${figures.watchedEvents} events on ${figures.streams} streams, ${figures.relists} relists; ${(figures.tookMs / 1000).toFixed(0)} s`,
    );
  }
  if (violations.length > 0) lines.push(textOfViolations(violations));
  if (verdict === 'failed' || verdict === 'invalid') {
    lines.push(
      `  again: npm run chaos -- ${scenario.options ?? `--scenario ${scenario.name}`} --seed ${seed}    kept: ${directory}`,
    );
  }
  return lines.join('\n');
}
