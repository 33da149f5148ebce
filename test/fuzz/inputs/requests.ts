/** Targets and headers of requests: mostly valid, with malformed pieces. */
import { dialect } from '@orch/component';
import fc from 'fast-check';
import { table } from './objects.js';
import { hostileText, sentence } from './text.js';

const values: Readonly<Record<string, readonly string[]>> = {
  resourceVersion: ['', '0', '1', '2', '99999999', '9007199254740993', '-1', '1.5', 'a'],
  resourceVersionMatch: ['', 'Exact', 'NotOlderThan', 'exact'],
  limit: ['', '0', '1', '500', '-1', '9223372036854775807', '9223372036854775808', '1e3'],
  continue: ['', 'e30', 'eyJ2IjoibWV0YS52MSIsInJ2IjotMSwic3RhcnQiOiJhIn0', '%%%'],
  timeoutSeconds: ['', '0', '1', '-5', '99999999999', '0x1'],
  labelSelector: ['', 'a=b', 'a in (b', '!a', 'app', 'a>1', ',,'],
  fieldSelector: ['', 'metadata.name=a', 'status.phase=Running', '=', 'a', 'metadata.namespace!=a'],
  fieldManager: ['', 'm', 'm\0', 'x'.repeat(129)],
  fieldValidation: ['', 'Strict', 'Warn', 'Ignore', 'strict'],
  dryRun: ['', 'All', 'None', 'all'],
  force: ['', 'true', 'false', '1'],
  propagationPolicy: ['', 'Orphan', 'Background', 'Foreground', 'orphan'],
  orphanDependents: ['', 'true', 'false', 'x'],
  gracePeriodSeconds: ['', '0', '30', '-1', '9223372036854775807', 'x'],
  pretty: ['', 'true', '1', 'x'],
  watch: ['', 'true', '0', 'x'],
  allowWatchBookmarks: ['', 'true', 'x'],
  includeObject: ['', 'Object', 'None', 'x'],
  container: ['', 'main'],
  input: ['', '1'],
  output: ['1', ''],
  tty: ['', 'true'],
  port: ['80', '0', '65536', '80,81', 'x'],
  __proto__x: ['1'],
};

const parameter = fc
  .oneof({ weight: 9, arbitrary: fc.constantFrom(...Object.keys(values)) }, hostileText)
  .chain((name) => {
    const known = Object.hasOwn(values, name) ? values[name]! : [''];
    const value = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...known) }, hostileText);
    return fc.tuple(fc.constant(name), value, fc.nat(9));
  });

/** A query with most values escaped. */
export const queryText: fc.Arbitrary<string> = fc.array(parameter, { maxLength: 5 }).map((all) =>
  all
    .map(([name, value, spelling]) => {
      if (spelling === 0) return `${name}=${value}`;
      if (spelling === 1) return name;
      return `${escaped(name)}=${escaped(value)}`;
    })
    .join('&'),
);

/** Escapes a value for a query; lone surrogates, which have no escape, are replaced. */
export function escaped(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

const mediaTypes = [
  ...[
    'application/json',
    'application/yaml',
    '*/*',
    'application/*',
    'text/html',
    'application/cbor',
  ],
  ...[
    'application/apply-patch+yaml',
    'application/merge-patch+json',
    'application/json-patch+json',
  ],
  ...[
    'application/strategic-merge-patch+json',
    dialect().protobufMediaType,
    'APPLICATION/JSON',
    '/',
  ],
];

export const acceptHeader: fc.Arbitrary<string> = sentence([
  ...mediaTypes,
  ...mediaTypes,
  ...[',', ', ', ';', ';q=0.5', ';q=2', ';q=-1', ';q=1e999', ';as=Table', ';v=v1', ';v=v1beta1'],
  ...[`;g=${dialect().metaGroup}`, ';as=PartialObjectMetadata', ';as=PartialObjectMetadataList'],
  ...[';stream=watch', ';pretty=1', '=', '"', '\t', ';charset=utf-8'],
]);

export const contentTypeHeader: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...mediaTypes) },
  sentence([...mediaTypes, ';', 'charset=utf-8', ' ', ',']),
);

const subresources = [
  'status',
  'scale',
  'finalize',
  'log',
  'exec',
  'proxy',
  'eviction',
  'binding',
  'token',
];

/** The path of a collection. */
export const collectionPath: fc.Arbitrary<string> = fc.constantFrom(
  ...table.served.flatMap(({ group, version, definition: { plural, namespaced } }) => {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    return namespaced
      ? [`${root}/${plural}`, `${root}/namespaces/default/${plural}`]
      : [`${root}/${plural}`];
  }),
);

const segment = fc.oneof(
  fc.constantFrom('a', 'default', '', '.', '..', 'watch', 'namespaces', ...subresources),
  hostileText.map((text) => escaped(text.slice(0, 400))),
  fc.constantFrom('%', '%zz', '%ff', '%c3%28', '%2e%2e', '%2F', '%00', '%E2%80%AE'),
);

export const requestPath: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(collectionPath, fc.array(segment, { maxLength: 3 }))
    .map(([path, more]) => [path, ...more].join('/')),
  fc
    .tuple(
      fc.constantFrom('', '/api', '/apis', '/api/v1', '/openapi/v3', '/version', '/readyz'),
      fc.array(segment, { maxLength: 6 }),
    )
    .map(([path, more]) => [path, ...more].join('/') || '/'),
);
