/**
 * The egress selector: through which proxy the server opens the connections to the cluster (nodes,
 * pods, services, webhooks of services, aggregated API servers) and to the other servers of the
 * control plane (review, audit and admission webhooks with a URL). Read once, at the start.
 */
import { isAbsolute, resolve } from 'node:path';
import {
  type CheckedMap,
  type ConfigurationDocument,
  checkedMap,
  checkedObject,
  readDocument,
} from '@orch/admission';
import {
  type Dial,
  type DialObserver,
  dialThroughHttpConnect,
  type Metrics,
  type ProxyTransport,
  systemClock,
  ValueError,
} from '@orch/component';
import { readPem } from '../options/pem-files.js';

/** Absent: connections are direct. */
export interface Egress {
  readonly cluster?: Dial;
  readonly controlPlane?: Dial;
}

const versions = [
  ['apiserver', 'v1beta1'],
  ['apiserver', 'v1alpha1'],
] as const;

type SelectionName = 'cluster' | 'controlPlane' | 'etcd';

const selectionNames: Readonly<Record<string, SelectionName>> = {
  cluster: 'cluster',
  controlplane: 'controlPlane',
  // The name of the older version.
  master: 'controlPlane',
  etcd: 'etcd',
};

/** An empty path: all connections are direct. Throws ValueError or FatalError. */
export function readEgress(path: string, metrics: Metrics): Egress {
  const observe = egressMetrics(metrics);
  if (path === '') return {};
  const document = readDocument(path);
  const { egressSelections = [] } = checkedObject(
    document,
    'EgressSelectorConfiguration',
    versions,
    {
      egressSelections: 'list',
    },
  );
  const dials = new Map<SelectionName, Dial | undefined>();
  for (const [index, selection] of (egressSelections as unknown[]).entries()) {
    const field = `egressSelections[${index}]`;
    const { name = '', connection } = checkedMap(document, selection, field, {
      name: 'string',
      connection: 'map',
    });
    const selected = Object.hasOwn(selectionNames, String(name)) && selectionNames[String(name)];
    if (!selected) {
      const names = Object.keys(selectionNames).join(', ');
      throw invalid(document, `${field}.name`, `${JSON.stringify(name)} is not one of ${names}`);
    }
    if (dials.has(selected)) {
      throw invalid(document, `${field}.name`, `${selected} is selected twice`);
    }
    const transport = transportOf(document, connection, `${field}.connection`);
    if (transport && selected === 'etcd') {
      throw invalid(document, `${field}.connection`, 'connections to etcd must be Direct');
    }
    dials.set(
      selected,
      transport &&
        dialThroughHttpConnect({
          transport,
          observer: observe(transport.kind),
          clock: systemClock,
        }),
    );
  }
  const [cluster, controlPlane] = [dials.get('cluster'), dials.get('controlPlane')];
  return { ...(cluster && { cluster }), ...(controlPlane && { controlPlane }) };
}

/** Undefined: direct. */
function transportOf(
  document: ConfigurationDocument,
  value: unknown,
  field: string,
): ProxyTransport | undefined {
  const { proxyProtocol = '', transport } = checkedMap(document, value, field, {
    proxyProtocol: 'string',
    transport: 'map',
  });
  if (proxyProtocol === 'Direct') {
    if (transport === undefined) return undefined;
    throw invalid(document, `${field}.transport`, 'must be absent for Direct');
  }
  if (proxyProtocol !== 'HTTPConnect') {
    const cause = `${JSON.stringify(proxyProtocol)} is not supported; use Direct or HTTPConnect`;
    throw invalid(document, `${field}.proxyProtocol`, cause);
  }
  const { tcp, uds } = checkedMap(document, transport, `${field}.transport`, {
    tcp: 'map',
    uds: 'map',
  });
  if ((tcp === undefined) === (uds === undefined)) {
    throw invalid(document, `${field}.transport`, 'one of tcp and uds is required');
  }
  return tcp === undefined
    ? udsTransport(document, uds, `${field}.transport.uds`)
    : tcpTransport(document, tcp, `${field}.transport.tcp`);
}

function udsTransport(
  document: ConfigurationDocument,
  value: unknown,
  field: string,
): ProxyTransport {
  const { udsName = '' } = checkedMap(document, value, field, { udsName: 'string' });
  if (!isAbsolute(String(udsName))) {
    throw invalid(document, `${field}.udsName`, 'must be the absolute path of a socket');
  }
  return { kind: 'uds', path: String(udsName) };
}

function tcpTransport(
  document: ConfigurationDocument,
  value: unknown,
  field: string,
): ProxyTransport {
  const { url = '', tlsConfig } = checkedMap(document, value, field, {
    url: 'string',
    tlsConfig: 'map',
  });
  const text = String(url);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const isTls = parsed?.protocol === 'https:';
  if (!parsed || (!isTls && parsed.protocol !== 'http:')) {
    throw invalid(document, `${field}.url`, `${JSON.stringify(url)} is no http or https URL`);
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const address = { kind: 'tcp', host, port: Number(parsed.port) || (isTls ? 443 : 80) } as const;
  if (isTls !== (tlsConfig !== undefined)) {
    const cause = isTls ? 'is required for https' : 'must be absent for http';
    throw invalid(document, `${field}.tlsConfig`, cause);
  }
  return isTls ? { ...address, tls: tlsOf(document, tlsConfig, `${field}.tlsConfig`) } : address;
}

function tlsOf(document: ConfigurationDocument, value: unknown, field: string) {
  const files: CheckedMap = checkedMap(document, value, field, {
    caBundle: 'string',
    clientCert: 'string',
    clientKey: 'string',
  });
  if ((files.clientCert === undefined) !== (files.clientKey === undefined)) {
    throw invalid(document, field, 'clientCert and clientKey must be set together');
  }
  const read = (name: string) =>
    files[name] === undefined
      ? undefined
      : readPem(resolve(document.directory, String(files[name])));
  const [ca, cert, key] = [read('caBundle'), read('clientCert'), read('clientKey')];
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

function invalid({ file }: ConfigurationDocument, field: string, cause: string): ValueError {
  return new ValueError(`${file}: ${field}: ${cause}`);
}

const dialSecondsBuckets = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

/** Returns the observer of the connections over a transport. */
function egressMetrics(metrics: Metrics): (transport: string) => DialObserver {
  const durations = metrics.histogram({
    name: 'apiserver_egress_dialer_dial_duration_seconds',
    help: 'Time to open a connection through a proxy, in seconds',
    labels: ['protocol', 'transport'],
    buckets: dialSecondsBuckets,
  });
  const failures = metrics.counter({
    name: 'apiserver_egress_dialer_dial_failure_count',
    help: 'Connections that could not be opened through a proxy',
    labels: ['protocol', 'stage', 'transport'],
  });
  const protocol = 'http_connect';
  return (transport) => ({
    opened: (seconds) => durations.labels({ protocol, transport }).observe(seconds),
    failed: (stage) => failures.inc({ protocol, stage, transport }),
  });
}
