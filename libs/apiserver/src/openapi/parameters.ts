/** The parameters of requests in their path and query, with their descriptions. */

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
  'All: the request passes every step, but nothing is stored.',
);
const fieldManager = query(
  'fieldManager',
  'string',
  'Name of the manager of this change, for field ownership. At most 128 printable characters.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'How unknown fields are handled: Ignore drops them, Warn also warns, Strict rejects the request.',
);
const resourceVersion = query(
  'resourceVersion',
  'string',
  'Version of the data to read. Unset: the newest. 0: any version of this server.',
);

export const inNamespace = path('namespace', 'Namespace of the object.');

export function named(kind: string): Parameter {
  return path('name', `Name of the ${kind}.`);
}

export const getParameters: readonly Parameter[] = [resourceVersion];

export const listParameters: readonly Parameter[] = [
  query(
    'allowWatchBookmarks',
    'boolean',
    'A watch also receives bookmark events, which only carry the version.',
  ),
  query('continue', 'string', 'Continue token of the previous page.'),
  query('fieldSelector', 'string', 'Only objects whose fields have these values.'),
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('limit', 'integer', 'Maximum number of returned objects; continue returns the rest.'),
  resourceVersion,
  query('resourceVersionMatch', 'string', 'How resourceVersion is matched: NotOlderThan or Exact.'),
  query('timeoutSeconds', 'integer', 'Time limit of the request.'),
  query('watch', 'boolean', 'Stream changes instead of listing.'),
];

/** The parameters of writes that do not validate unknown fields. */
export const actionParameters: readonly Parameter[] = [dryRun, fieldManager];
export const writeParameters: readonly Parameter[] = [...actionParameters, fieldValidation];

const force = query(
  'force',
  'boolean',
  'Only for apply: take ownership of conflicting fields of other managers.',
);

/** The parameters of a patch, with `force`. */
export function patchParameters(parameters: readonly Parameter[]): readonly Parameter[] {
  return [...parameters, force];
}

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds that the object has to terminate; 0: immediate.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query(
    'propagationPolicy',
    'string',
    'How dependents of the object are deleted: Orphan, Background or Foreground.',
  ),
];

export const logParameters: readonly Parameter[] = [
  query('container', 'string', 'Name of the container; optional if the pod has only one.'),
  query('follow', 'boolean', 'Stream further output.'),
  query('limitBytes', 'integer', 'Maximum number of returned bytes.'),
  query('previous', 'boolean', 'The previous instance of the container.'),
  query('sinceSeconds', 'integer', 'Only output of the last seconds.'),
  query('sinceTime', 'string', 'Only output since this time.'),
  query('tailLines', 'integer', 'Number of lines from the end.'),
  query('timestamps', 'boolean', 'Prefix each line with its time.'),
];
