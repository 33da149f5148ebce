/**
 * The text exposition format of metrics whose samples carry the time of their measurement, or whose
 * series change with the containers of the node. Pure.
 */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly Sample[];
}

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the exposition. `atMs`: wall time of the measurement; absent: the time of the scrape. */
export function exposition(families: readonly Family[], atMs?: number): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => familyText(family, atMs))
    .join('');
}

function familyText({ name, help, type, samples }: Family, atMs: number | undefined): string {
  const time = atMs === undefined ? '' : ` ${Math.round(atMs)}`;
  const lines = samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}${time}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
