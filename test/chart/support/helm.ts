/** Runs the stock helm on the chart of this repository and parses the rendered objects. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { stockTool } from '../../e2e/support/kubectl.js';
import { type Outcome, run } from '../../e2e/support/process.js';

export const repository = resolve(import.meta.dirname, '../../..');
export const chart = join(repository, 'charts/orch');

export type Values = Readonly<Record<string, unknown>>;

export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export function helm(args: readonly string[]): Promise<Outcome> {
  return run(stockTool('helm'), args, { timeoutMs: 120_000 });
}

export interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  /** Kubernetes version of the host. Default: that of helm. */
  readonly kubeVersion?: string;
  /** Additional APIs of the host. */
  readonly apiVersions?: readonly string[];
  readonly isUpgrade?: boolean;
  readonly extraArgs?: readonly string[];
}

/** The result of `helm template` for these values. */
export async function template(values: Values, options: RenderOptions = {}): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-chart-'));
  try {
    const file = join(directory, 'values.yaml');
    writeFileSync(file, stringify(values));
    const { release = 'orch', namespace = 'control', kubeVersion, apiVersions = [] } = options;
    return await helm([
      ...['template', release, chart, '--namespace', namespace, '--values', file],
      ...(kubeVersion ? ['--kube-version', kubeVersion] : []),
      ...apiVersions.flatMap((version) => ['--api-versions', version]),
      ...(options.isUpgrade ? ['--is-upgrade'] : []),
      ...(options.extraArgs ?? []),
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The rendered objects. Throws an error with helm's output. */
export async function render(values: Values, options?: RenderOptions): Promise<Rendered[]> {
  const { code, stdout, stderr } = await template(values, options);
  if (code !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}

export function objectsOf(text: string): Rendered[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = [...('errors' in document ? document.errors : [])];
    if (problem) throw problem;
    const object: unknown = 'toJS' in document ? document.toJS() : undefined;
    return object ? [object as Rendered] : [];
  });
}

/** The one object of this kind and name. */
export function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects ${kind}/${name}`);
  return found[0]!;
}
