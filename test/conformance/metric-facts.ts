/** Compares the metrics that a process serves with the recorded ones of the interface. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Fact {
  readonly type: string;
  readonly labels: readonly string[];
  readonly stability: string | null;
  readonly buckets?: readonly string[];
}

export interface ServedMetric {
  readonly type: string;
  readonly stability: string | undefined;
  /** The labels of all samples, sorted; undefined if there are no samples. */
  readonly labels: readonly string[] | undefined;
  /** The bounds as they are spelt. */
  readonly buckets: readonly string[];
}

const { families, onlyWhenItHappens } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'facts/metrics.json'), 'utf8'),
) as Record<'families' | 'onlyWhenItHappens', Record<string, Fact>>;

export const metricFacts: Readonly<Record<string, Fact>> = { ...families, ...onlyWhenItHappens };

/** Parses the text of `/metrics` into metrics by name. */
export function parseMetrics(text: string): Map<string, ServedMetric> {
  const served = new Map<string, ServedMetric>();
  for (const block of text.split(/^# HELP /m).slice(1)) {
    const [help = '', type = '', ...samples] = block.trimEnd().split('\n');
    const labels = new Set<string>();
    const buckets = new Set<string>();
    for (const [, label, value] of samples.join('\n').matchAll(/[{,]([a-z_]+)="([^"]*)"/g)) {
      if (label === 'le') buckets.add(value!);
      else if (label !== 'quantile') labels.add(label!);
    }
    served.set(help.slice(0, help.indexOf(' ')), {
      type: type.split(' ').at(-1)!,
      stability: / \[(ALPHA|STABLE)\] /.exec(help)?.[1],
      labels: samples.some((line) => line !== '') ? [...labels].sort() : undefined,
      buckets: [...buckets],
    });
  }
  return served;
}

/**
 * Returns the served metrics that differ from the recorded ones, in both forms. Labels and
 * buckets are compared only if there are samples, and buckets only if they were recorded.
 */
export function differingMetrics(served: ReadonlyMap<string, ServedMetric>) {
  const differing: Record<string, { found: ServedMetric; wanted: ServedMetric }> = {};
  for (const [name, fact] of Object.entries(metricFacts)) {
    const found = served.get(name);
    if (!found) continue;
    const wanted: ServedMetric = {
      type: fact.type,
      stability: fact.stability ?? undefined,
      labels: found.labels && [...fact.labels].sort(),
      buckets: found.labels ? (fact.buckets ?? found.buckets) : [],
    };
    if (JSON.stringify(found) !== JSON.stringify(wanted)) differing[name] = { found, wanted };
  }
  return differing;
}
