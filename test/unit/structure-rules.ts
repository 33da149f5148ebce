/**
 * The structure of the code base, as `structure.spec.ts` checks it. Change a row here when a
 * library or folder is added, moved or renamed.
 */

import type { RuleName } from './structure/violation.js';

/**
 * The folders and files directly below `src`, from the top down: a file imports only entries below
 * its own. Names in one entry are peers, which do not import each other.
 */
export type Layers = readonly string[];

export interface Library {
  /** The other libraries that it may import, its tests included. */
  readonly imports: readonly string[];
  /** Missing: not ordered. */
  readonly layers?: Layers;
}

const clientLibraries = ['client', 'apimachinery', 'streaming', 'component'];

/** `libs/<name>`, from the bottom up. `apps`, `scripts` and `test` may import every library. */
export const libraries: Readonly<Record<string, Library>> = {
  component: {
    imports: [],
    layers: [
      ...['index.ts', 'kubeconfig serving', 'health', 'lifecycle', 'features', 'options'],
      'tls tokens',
      ...[
        'files logging metrics egress',
        'dialect',
        'errors',
        'limits.ts awaitable.ts clock.ts keys.ts version.ts',
      ],
    ],
  },
  streaming: {
    imports: ['component'],
    layers: [
      'index.ts',
      'spdy websocket',
      'forwarding.ts remote-command.ts',
      'protocols.ts',
      'limits.ts',
    ],
  },
  raft: {
    imports: ['component'],
    layers: [
      ...['index.ts', 'worker', 'replica', 'deadlines.ts', 'transport', 'storage'],
      ...['log-observer.ts', 'replicated-log.ts', 'limits.ts', 'core'],
    ],
  },
  store: {
    imports: ['raft', 'component'],
    layers: [
      ...['index.ts', 'backup', 'open-replicated-store.ts', 'etcd in-thread-store.ts'],
      ...['replicated-store.ts', 'lifecycle', 'maintenance', 'watching reading', 'snapshot'],
      ...['state proposing', 'store-dependencies.ts', 'core'],
      ...['ordered-map.ts revision-errors.ts store-options.ts store-observer.ts generated'],
      ...['versioned-store.ts', 'limits.ts'],
    ],
  },
  apimachinery: {
    imports: ['component'],
    layers: [
      ...[
        'index.ts',
        'apply jsonpath',
        'patch quota',
        'meta cron volumes',
        'schema',
        'intstr quantity selectors',
      ],
      ...['names status time yaml', 'descriptors', 'generated', 'limits.ts'],
    ],
  },
  api: {
    imports: ['apimachinery', 'component'],
    layers: [
      ...['index.ts', 'bootstrap.ts', 'definitions.ts'],
      [
        ...[
          'admissionregistration',
          'apiextensions',
          'apiregistration',
          'apiserverinternal',
          'apps',
        ],
        ...['authentication', 'authorization', 'autoscaling', 'batch', 'certificates'],
        ...['coordination', 'discovery', 'flowcontrol', 'metrics', 'networking', 'node', 'policy'],
        ...['rbac', 'scheduling', 'storage'],
      ].join(' '),
      ...['core', 'shared', 'definition.ts', 'schema'],
    ],
  },
  registry: {
    imports: ['api', 'store', 'apimachinery', 'component'],
    layers: [
      ...['index.ts', 'bootstrap', 'customresources', 'reconciling', 'store', 'admission'],
      ...['storage', 'objects', 'table', 'codec', 'write-context.ts', 'limits.ts'],
    ],
  },
  security: {
    imports: ['apimachinery', 'component'],
    layers: [
      ...['index.ts', 'authorization', 'authentication', 'tokens webhooks', 'encryption'],
      ...['generated', 'limits.ts'],
    ],
  },
  admission: { imports: ['registry', 'security', 'api', 'store', 'apimachinery', 'component'] },
  apiserver: {
    imports: [
      ...['registry', 'admission', 'security'],
      ...['api', 'store', 'apimachinery', 'raft', 'streaming', 'component'],
    ],
    layers: [
      ...[
        'index.ts',
        'server',
        'discovery',
        'openapi',
        'filters',
        'handlers',
        'aggregation',
        'watch',
        'proxy',
        'webhooks',
      ],
      ...[
        'flowcontrol policy',
        'audit encryption',
        'observability',
        'response',
        'request',
        'http',
        'limits.ts',
      ],
    ],
  },
  client: {
    imports: ['apimachinery', 'component'],
    layers: [
      'index.ts',
      'startup',
      'election events scheduling',
      'informer',
      'queue',
      'generated',
      'rest',
      'pod-routes.ts',
      'objects.ts',
      'limits.ts',
    ],
  },
  controllers: {
    imports: clientLibraries,
    // Each controller has its own folder.
    layers: ['index.ts', 'manager', '*', 'provider', 'common', 'limits.ts'],
  },
  scheduling: {
    imports: clientLibraries,
    layers: [
      'index.ts',
      'shell resolve-configuration.ts',
      'options.ts',
      'configuration',
      'plugins',
      'framework',
      'cache queue',
      'model',
      'limits.ts',
    ],
  },
  node: {
    imports: clientLibraries,
    layers: [
      ...['index.ts', 'node-agent.ts hollow', 'server'],
      ...['node-agent-options.ts certificate-options.ts', 'stats pods'],
      ...[
        'probes registration status certificates',
        'volumes',
        'environment',
        'runtimes',
        'logs',
        'limits.ts',
      ],
    ],
  },
  proxying: {
    imports: clientLibraries,
    layers: [
      ...[
        'index.ts',
        'service-proxy.ts',
        'addresses forwarding routes',
        'proxy-options.ts',
        'rules',
      ],
      ...['balancing commands', 'limits.ts'],
    ],
  },
  cli: {
    imports: ['client', 'api', 'store', 'apimachinery', 'streaming', 'component'],
    layers: [
      ...['index.ts', 'commands up'],
      ...['access cluster describe get kubeconfig rollout streams top', 'apply'],
      ...['resources', 'output', 'session', 'command-line'],
    ],
  },
};

/** Apps with folders. The others are a few files each. */
const apps: Readonly<Record<string, Layers>> = {
  apiserver: [
    ...['main.ts', 'start-api-server.ts', 'http', 'controllers', 'registry', 'security', 'store'],
    ...['cluster', 'context', 'options'],
  ],
};

/** The layers of each source folder that has some. */
export const layersOfSources: Readonly<Record<string, Layers>> = Object.fromEntries([
  ...Object.entries(libraries).flatMap(([name, { layers }]) =>
    layers === undefined ? [] : [[`libs/${name}/src/`, layers] as const],
  ),
  ...Object.entries(apps).map(([name, layers]) => [`apps/${name}/src/`, layers] as const),
]);

export interface PureCode {
  /** A folder, or a pattern of files. */
  readonly files: RegExp;
  /** Whether it may import files outside its folder. */
  readonly importsOutside: boolean;
}

/** Decides from state and input: no I/O, clock, timer, randomness, promise or log. */
export const pureCode: readonly PureCode[] = [
  { files: /^libs\/raft\/src\/core\//, importsOutside: false },
  { files: /^libs\/store\/src\/core\//, importsOutside: true },
  {
    files: /^libs\/scheduling\/src\/(?:cache|framework|model|plugins|queue)\//,
    importsOutside: true,
  },
  {
    files:
      /^libs\/controllers\/src\/(?:[^/]+\/)*(?:[\w-]+-plan|aggregated-rules|owner-graph|pods-to-collect|deletion-decision|deletion-order|zones|eviction-queue|cidr-set|node-ranges|address-pool|service-changes)\.ts$/,
    importsOutside: true,
  },
];

export interface Exception {
  readonly rule: RuleName;
  readonly files: RegExp;
  readonly reason: string;
}

/** Where a rule does not apply, for good. */
export const exceptions: readonly Exception[] = [
  {
    rule: 'function length',
    files: /^libs\/api\/src\/rbac\/system\/[\w-]+-roles\.ts$/,
    reason: 'tables of rules, without a branch',
  },
  {
    rule: 'bag name',
    files:
      /^libs\/(?:apimachinery\/src\/status\/status-error|component\/src\/metrics\/family)\.ts$/,
    reason:
      'the parameter is a value of its own, not a bag: a failure, the description of a family',
  },
];

export const limits = { fileLineCount: 400, functionLineCount: 70, columnCount: 100 };

export const naming = {
  /** Endings of interfaces that carry the collaborators or settings of a constructor. */
  bagEndings: /(?:Dependencies|Options)$/,
  /** Endings that no type has. */
  bannedEndings: /(?:Parts|Settings|Deps|Params|Args|Opts|Bag)$/,
  screamingCase: /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[A-Z]{3,}[A-Z0-9]*$/,
};

/** The only folder whose files hold identifiers with the brand in them. */
export const dialectFolder = 'libs/component/src/dialect/';
