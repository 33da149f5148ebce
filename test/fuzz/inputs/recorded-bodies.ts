/** What recorded cases create of each kind and version: whole objects that are right by all rules. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

interface Step {
  readonly id: string;
  readonly body?: { readonly apiVersion?: string; readonly kind?: string };
}

/** Compiled, this file is below `dist`. */
const folder = resolve(import.meta.dirname, '../../../../test/conformance/cases/crud');

function createdBy(file: string): Step['body'] {
  const text = readFileSync(join(folder, file), 'utf8').replaceAll(/\$\{ns\}/g, 'default');
  const { steps } = JSON.parse(text) as { readonly steps: readonly Step[] };
  return steps.find(({ id }) => id === 'create')?.body;
}

const bodies = new Map<string, object>();
for (const file of readdirSync(folder)) {
  const body = createdBy(file);
  if (body) bodies.set(`${body.apiVersion} ${body.kind}`, body);
}

/** Undefined where nothing was recorded of this version. */
export function recordedBody(apiVersion: string, kind: string): object | undefined {
  return bodies.get(`${apiVersion} ${kind}`);
}
