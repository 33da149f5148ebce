/** The metrics of the interface, and what a process serves, in one form. */
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
  /** Of all its samples, sorted; undefined without samples. */
  readonly labels: readonly string[] | undefined;
  /** As spelt. */
  readonly buckets: readonly string[];
}

const { families, onlyWhenItHappens } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'facts/metrics.json'), 'utf8'),
) as Record<'families' | 'onlyWhenItHappens', Record<string, Fact>>;

export const metricFacts: Readonly<Record<string, Fact>> = { ...families, ...onlyWhenItHappens };

/** What the text of `/metrics` holds, by name. */
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
 * Those served that are not as the interface has them, each as it is and as it should be. Labels and
 * buckets show in samples alone; buckets that the facts do not name may be any.
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
