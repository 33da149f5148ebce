/**
 * Objects of a kind that fit its type and are often valid: the body of a recorded case, with some
 * fields changed to other values of their types.
 */
import type { ApiObject } from '@orch/api';
import { SchemaError } from '@orch/apimachinery';
import fc from 'fast-check';
import { changeObject } from '../../../libs/apimachinery/src/schema/testing/drawn-changes.js';
import type { DrawOptions } from '../../../libs/apimachinery/src/schema/testing/drawn-values.js';
import { Draws, drawNumbers } from '../../../libs/apimachinery/src/schema/testing/draws.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { decodedOrRefused } from '../target.js';
import { realisticObject } from './objects.js';
import { recordedBodies } from './recorded-bodies.js';

type Plain = Record<string, unknown>;

interface Known {
  /** Objects of this version; the first is the most common one. */
  readonly bases: readonly Plain[];
  readonly settings: DrawOptions;
}

const changeCountMax = 4;
const numbersPerChange = 30;
const levelsMax = 4;

const knownOf = new WeakMap<ServedResource, Known>();

function collect(value: unknown, field: string, into: Map<string, unknown[]>): void {
  if (field !== '') {
    const values = into.get(field);
    if (values) values.push(value);
    else into.set(field, [value]);
  }
  if (Array.isArray(value)) for (const one of value) collect(one, '', into);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) collect(member, name, into);
  }
}

/** Recorded bodies of another version are converted to this one. */
function inVersion(served: ServedResource, body: ApiObject): Plain | undefined {
  const from = served.resource.versions.get(body.apiVersion!);
  if (!from) return undefined;
  const decoded = decodedOrRefused(() => from.codec.fromJson(structuredClone(body)), SchemaError);
  const shown = decoded && served.fromStored(from.toStored(decoded));
  return shown && (JSON.parse(JSON.stringify(shown)) as Plain);
}

function known(served: ServedResource): Known {
  let result = knownOf.get(served);
  if (!result) {
    const recorded = recordedBodies(served.kind).map((body) =>
      inVersion(served, body as unknown as ApiObject),
    );
    const bases = [realisticObject(served), ...recorded.filter((body) => body !== undefined)];
    const values = new Map<string, unknown[]>();
    for (const base of bases) collect(base, '', values);
    const settings = { known: (name: string) => values.get(name) ?? [], depth: levelsMax };
    result = { bases, settings };
    knownOf.set(served, result);
  }
  return result;
}

/** May change any field that the server owns, except its identity and version. */
export function kindObject(served: ServedResource): fc.Arbitrary<Plain> {
  const changes = fc.array(drawNumbers(numbersPerChange), { maxLength: changeCountMax });
  return fc.tuple(fc.nat(0xffff), changes).map(([at, all]) => {
    const { bases, settings } = known(served);
    const object = structuredClone(bases[at % bases.length]!);
    for (const numbers of all) {
      changeObject(served.codec.name, object, new Draws(numbers), settings);
    }
    const metadata = (object.metadata ?? {}) as Plain;
    delete metadata.resourceVersion;
    return { ...object, kind: served.kind, apiVersion: served.apiVersion, metadata };
  });
}
