/** The description of kinds that have no description of their own: every field by its name. */
import type { ApiObject } from '@orch/client';
import { controllerTitle, describeMetadata } from './common.js';
import { Description } from './description.js';

/** Describes an object of any kind, with a nested block for each object field. */
export function describeAny(object: ApiObject): Description {
  const description = new Description();
  describeMetadata(description, object);
  description.field('API Version', object.apiVersion).field('Kind', object.kind);
  const { metadata, apiVersion: _version, kind: _kind, ...fields } = object;
  description.field('Created', metadata?.creationTimestamp);
  description.field('Controlled By', controllerTitle(object));
  addFields(description, fields);
  return description;
}

function addFields(description: Description, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) {
    const label = titleCase(name);
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) addList(description, label, value);
    else if (mapsOfData.has(name)) description.pairs(label, textsOf(value));
    else if (typeof value === 'object') {
      description.block(label, (inner) => addFields(inner, { ...value }));
    } else description.field(label, String(value));
  }
}

/** Fields whose keys are data, which are printed unchanged. */
const mapsOfData: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'data',
]);

function textsOf(map: object): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]));
}

function addList(description: Description, label: string, list: readonly unknown[]): void {
  if (!list.some((item) => typeof item === 'object' && item !== null)) {
    description.field(label, list.map(String));
    return;
  }
  description.block(label, (inner) => {
    list.forEach((item, index) => {
      addFields(inner, { [`- ${index}`]: item });
    });
  });
}

/** `revisionHistoryLimit` -> `Revision History Limit`. Other names stay unchanged. */
function titleCase(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
