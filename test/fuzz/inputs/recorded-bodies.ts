/** The bodies of recorded cases by kind and version: whole objects, most of them valid. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface RecordedBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: object;
}

interface Step {
  readonly id: string;
  readonly method?: string;
  readonly body?: Partial<RecordedBody>;
}

/** The compiled file is below `dist`. */
const root = resolve(import.meta.dirname, '../../..');
const cases = join(root.endsWith('dist') ? join(root, '..') : root, 'test/conformance/cases');

function isWhole(body: Step['body']): body is RecordedBody {
  return body?.apiVersion !== undefined && body.kind !== undefined;
}

const created = new Map<string, RecordedBody>();
const sent = new Map<string, RecordedBody[]>();
for (const path of readdirSync(cases, { recursive: true, encoding: 'utf8' }).sort()) {
  if (!path.endsWith('.json')) continue;
  const text = readFileSync(join(cases, path), 'utf8').replaceAll(/\$\{ns\}/g, 'default');
  const { steps = [] } = JSON.parse(text) as { readonly steps?: readonly Step[] };
  for (const { id, method, body } of steps) {
    if (!isWhole(body)) continue;
    const name = `${body.apiVersion} ${body.kind}`;
    if (id === 'create' && path.startsWith('crud')) created.set(name, body);
    if (method !== 'POST' && method !== 'PUT') continue;
    const known = sent.get(body.kind);
    if (known) known.push(body);
    else sent.set(body.kind, [body]);
  }
}

/** A recorded body of this version, or undefined if there is none. */
export function recordedBody(apiVersion: string, kind: string): RecordedBody | undefined {
  return created.get(`${apiVersion} ${kind}`);
}

/** All recorded bodies of a kind, in all its versions, valid or not. */
export function recordedBodies(kind: string): readonly RecordedBody[] {
  return sent.get(kind) ?? [];
}
