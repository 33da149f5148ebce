/**
 * An aggregated API server in plain Fastify, which uses nothing of this project: wares in memory,
 * with lists, watches and OpenAPI. It accepts users only from holders of a front-proxy certificate.
 * Environment: `CERTIFICATE`, `KEY`, `FRONT_PROXY_CA` (files) and `HOST`. Prints its port.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const { CERTIFICATE, KEY, FRONT_PROXY_CA, HOST } = process.env;
const apiVersion = 'wares.example.com/v1';
const wares = new Map();
const watchers = new Set();
let revision = 1;

const app = fastify({
  https: {
    cert: readFileSync(CERTIFICATE),
    key: readFileSync(KEY),
    ca: readFileSync(FRONT_PROXY_CA),
    requestCert: true,
    rejectUnauthorized: false,
  },
  forceCloseConnections: true,
});

app.addHook('onRequest', async (request, reply) => {
  const isProxy = request.raw.socket.authorized;
  if (!isProxy || !request.headers['x-remote-user']) {
    return reply.code(401).send({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 401 });
  }
});

function notify(type, object) {
  for (const { namespace, stream } of watchers) {
    if (!namespace || object.metadata.namespace === namespace) {
      stream.write(`${JSON.stringify({ type, object })}\n`);
    }
  }
}

function listed(namespace) {
  return [...wares.values()].filter((ware) => !namespace || ware.metadata.namespace === namespace);
}

function list(request, reply) {
  const { namespace } = request.params;
  const { watch, resourceVersion } = request.query;
  if (!watch || watch === 'false') {
    const metadata = { resourceVersion: String(revision) };
    return reply.send({ kind: 'WareList', apiVersion, metadata, items: listed(namespace) });
  }
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'application/json' });
  reply.raw.flushHeaders();
  const watcher = { namespace, stream: reply.raw };
  watchers.add(watcher);
  request.raw.socket.once('close', () => watchers.delete(watcher));
  if (!resourceVersion || resourceVersion === '0') {
    for (const ware of listed(namespace)) notify('ADDED', ware);
  }
}

app.get(`/apis/${apiVersion}`, async () => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: apiVersion,
  resources: [
    {
      name: 'wares',
      singularName: 'ware',
      namespaced: true,
      kind: 'Ware',
      shortNames: ['wr'],
      verbs: ['create', 'delete', 'get', 'list', 'watch'],
    },
  ],
}));

app.get(`/apis/${apiVersion}/whoami`, async ({ headers }) => ({
  user: headers['x-remote-user'],
  groups: headers['x-remote-group'],
  token: headers.authorization ?? null,
}));

app.get(`/apis/${apiVersion}/wares`, list);
app.get(`/apis/${apiVersion}/namespaces/:namespace/wares`, list);

app.post(`/apis/${apiVersion}/namespaces/:namespace/wares`, async (request, reply) => {
  const { namespace } = request.params;
  revision += 1;
  const ware = { ...request.body, kind: 'Ware', apiVersion };
  ware.metadata = {
    ...request.body.metadata,
    namespace,
    uid: randomUUID(),
    resourceVersion: String(revision),
    creationTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
  };
  wares.set(`${namespace}/${ware.metadata.name}`, ware);
  notify('ADDED', ware);
  return reply.code(201).send(ware);
});

function missing(reply, name) {
  const message = `wares.wares.example.com "${name}" not found`;
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, message };
  return reply.code(404).send({ ...status, reason: 'NotFound' });
}

app.get(`/apis/${apiVersion}/namespaces/:namespace/wares/:name`, async (request, reply) => {
  const { namespace, name } = request.params;
  return wares.get(`${namespace}/${name}`) ?? missing(reply, name);
});

app.delete(`/apis/${apiVersion}/namespaces/:namespace/wares/:name`, async (request, reply) => {
  const { namespace, name } = request.params;
  const ware = wares.get(`${namespace}/${name}`);
  if (!ware) return missing(reply, name);
  wares.delete(`${namespace}/${name}`);
  notify('DELETED', ware);
  return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
});

app.get('/openapi/v2', async () => ({
  swagger: '2.0',
  info: { title: 'wares', version: 'v1' },
  paths: {
    [`/apis/${apiVersion}/namespaces/{namespace}/wares`]: {
      post: {
        operationId: 'createWare',
        consumes: ['application/json'],
        produces: ['application/json'],
        parameters: [{ name: 'body', in: 'body', schema: { $ref: '#/definitions/Ware' } }],
        responses: { 201: { description: 'Created', schema: { $ref: '#/definitions/Ware' } } },
        'x-kubernetes-action': 'post',
        'x-kubernetes-group-version-kind': {
          group: 'wares.example.com',
          version: 'v1',
          kind: 'Ware',
        },
      },
    },
  },
  definitions: {
    Ware: {
      type: 'object',
      description: 'Something for sale.',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: { $ref: '#/definitions/WareSpec' },
      },
      'x-kubernetes-group-version-kind': [
        { group: 'wares.example.com', version: 'v1', kind: 'Ware' },
      ],
    },
    WareSpec: {
      type: 'object',
      properties: { size: { type: 'integer', description: 'Size in inches.' } },
    },
  },
}));

await app.listen({ host: HOST, port: 0 });
console.log(app.server.address().port);
process.once('SIGTERM', () => app.close().then(() => process.exit(0)));
