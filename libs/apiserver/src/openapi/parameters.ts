/** The parameters that requests take in their path and query, in the words of their documentation. */

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

function query(name: string, type: Parameter['type'], description: string): Parameter {
  return { name, in: 'query', type, description };
}

function path(name: string, description: string): Parameter {
  return { name, in: 'path', type: 'string', description };
}

export const pretty = query('pretty', 'string', "If 'true', JSON is indented.");
const dryRun = query(
  'dryRun',
  'string',
  'All: the request goes through every step, but nothing is kept.',
);
const fieldManager = query(
  'fieldManager',
  'string',
  'Who makes this change, for the record of field owners. At most 128 printable characters.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What becomes of fields that the type does not have: Ignore drops them, Warn also tells, Strict refuses.',
);
const resourceVersion = query(
  'resourceVersion',
  'string',
  'The version of the data to answer from. Unset: the newest. 0: whatever this server has.',
);

export const inNamespace = path('namespace', 'Namespace of the object.');

export function named(kind: string): Parameter {
  return path('name', `Name of the ${kind}.`);
}

export const getParameters: readonly Parameter[] = [resourceVersion];

export const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'A watch also gets events that only tell the version.'),
  query('continue', 'string', 'Where the page before ended, as that page said.'),
  query('fieldSelector', 'string', 'Only objects whose fields have these values.'),
  query('labelSelector', 'string', 'Only objects whose labels fit.'),
  query('limit', 'integer', 'How many objects to answer with at most; the rest by continue.'),
  resourceVersion,
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: NotOlderThan or Exact.'),
  query('timeoutSeconds', 'integer', 'How long the request may take.'),
  query('watch', 'boolean', 'Answer with a stream of changes.'),
];

/** Of writes that take no look at unknown fields. */
export const actionParameters: readonly Parameter[] = [dryRun, fieldManager];
export const writeParameters: readonly Parameter[] = [...actionParameters, fieldValidation];

const force = query(
  'force',
  'boolean',
  'Only for apply: take over fields that others own and that the configuration changes.',
);

/** Of patches with these parameters. */
export function patchParameters(parameters: readonly Parameter[]): readonly Parameter[] {
  return [...parameters, force];
}

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds the object gets to end by itself; 0 is at once.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query(
    'propagationPolicy',
    'string',
    'What becomes of objects that this one owns: Orphan, Background or Foreground.',
  ),
];

export const logParameters: readonly Parameter[] = [
  query('container', 'string', 'The container; may be left out when the pod has one.'),
  query('follow', 'boolean', 'Go on with what is written from now on.'),
  query('limitBytes', 'integer', 'How many bytes to answer with at most.'),
  query('previous', 'boolean', 'The run of the container before this one.'),
  query('sinceSeconds', 'integer', 'Only what was written in these last seconds.'),
  query('sinceTime', 'string', 'Only what was written since then.'),
  query('tailLines', 'integer', 'Only so many of the last lines.'),
  query('timestamps', 'boolean', 'Begin each line with its time.'),
];
