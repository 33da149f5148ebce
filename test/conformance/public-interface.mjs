/**
 * A proxy in front of an API server that passes on only what every server of the interface has:
 * resources, verbs and subresources of the discovery documents, the paths of health and discovery,
 * known query parameters, media types and headers. A component that works behind it uses nothing
 * private. `refused` lists the refused requests.
 */
import { Agent, createServer, request as send } from 'node:https';

const nonResourcePath =
  /^\/(api|apis|api\/[^/]+|apis\/[^/]+|apis\/[^/]+\/[^/]+|version|openapi\/v2|(healthz|livez|readyz)(\/.*)?)$/;
const queryNames = new Set([
  ...['allowWatchBookmarks', 'continue', 'dryRun', 'fieldManager', 'fieldSelector', 'force'],
  ...['gracePeriodSeconds', 'labelSelector', 'limit', 'orphanDependents', 'pretty'],
  ...['propagationPolicy', 'resourceVersion', 'resourceVersionMatch', 'timeout', 'timeoutSeconds'],
  'watch',
]);
const mediaType =
  /^(\*\/\*|application\/(json|vnd\.(orch|kubernetes)\.protobuf|apply-patch\+yaml|(json|merge|strategic-merge)-patch\+json)(;as=(PartialObjectMetadata|PartialObjectMetadataList|Table);g=meta\.[a-z0-9.]+;v=v1)?)$/;
const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch' };
const subresourcesOfNamespaces = new Set(['status', 'finalize']);

/**
 * Returns the group version, resource and verb of a request; undefined if the path has no form of
 * the API.
 */
export function resourceRequest(method, { pathname, searchParams }) {
  const match = /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\/(.+)$/.exec(pathname);
  if (!match) return undefined;
  const [, groupVersion, rest] = match;
  let parts = rest.split('/');
  const isNamespaced =
    parts[0] === 'namespaces' && parts.length > 2 && !subresourcesOfNamespaces.has(parts[2]);
  if (isNamespaced) parts = parts.slice(2);
  const [plural, name, subresource] = parts;
  const isWatch = ['1', 'true'].includes(searchParams.get('watch') ?? '');
  const verbOfGet = name ? 'get' : isWatch ? 'watch' : 'list';
  const verbOfDelete = name ? 'delete' : 'deletecollection';
  const verb = { GET: verbOfGet, DELETE: verbOfDelete, ...verbs }[method] ?? method;
  return {
    groupVersion: `/${groupVersion}`,
    resource: subresource ? `${plural}/${subresource}` : plural,
    isNamespaced,
    verb,
  };
}

/** Returns what in the query and the headers no other server knows; undefined if nothing. */
export function privateDetail({ searchParams }, headers) {
  const query = [...searchParams.keys()].find((name) => !queryNames.has(name));
  if (query !== undefined) return `query parameter ${query}`;
  const types = [headers.accept, headers['content-type']].flatMap((text) => text?.split(',') ?? []);
  const type = types.find((one) => !mediaType.test(one.replaceAll(' ', '')));
  if (type !== undefined) return `media type ${type}`;
  const header = Object.keys(headers).find((name) => name.startsWith('x-'));
  return header && `header ${header}`;
}

/** Whether the discovery document of the group version lists the request. */
export function isListed(document, { resource, verb, isNamespaced }) {
  const entry = document?.resources?.find(({ name }) => name === resource);
  if (!entry?.verbs.includes(verb)) return false;
  const spansNamespaces = verb === 'list' || verb === 'watch';
  return isNamespaced ? entry.namespaced : !entry.namespaced || spansNamespaces;
}

export class PublicInterfaceProxy {
  /** Each refused request, with the reason. */
  refused = new Set();
  passedCount = 0;
  documents = new Map();
  agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  /** `token`: of a user who may read the discovery documents. */
  constructor({ url, token, pair }) {
    this.target = new URL(url);
    this.token = token;
    this.server = createServer({ cert: pair.certificatePem, key: pair.keyPem }, (...exchange) => {
      this.handle(...exchange).catch((error) => refuse(exchange[1], 502, error.message));
    });
  }

  async start() {
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.url = `https://127.0.0.1:${this.server.address().port}`;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
    this.agent.destroy();
  }

  async handle(request, response) {
    const url = new URL(request.url, this.target);
    const reason = await this.reasonToRefuse(request, url);
    if (reason === undefined) {
      this.passedCount += 1;
      await this.passOn(request, response);
      return;
    }
    this.refused.add(`${request.method} ${url.pathname}: ${reason}`);
    refuse(response, 404, reason);
  }

  /** Undefined: the request is passed on. */
  async reasonToRefuse({ method, headers }, url) {
    const detail = privateDetail(url, headers);
    if (detail) return detail;
    if (nonResourcePath.test(url.pathname)) {
      return method === 'GET' ? undefined : 'only GET is possible';
    }
    const wanted = resourceRequest(method, url);
    if (!wanted) return 'no path of the API';
    const { groupVersion } = wanted;
    if (isListed(this.documents.get(groupVersion), wanted)) return undefined;
    const document = await this.discover(groupVersion);
    // A definition that was deleted meanwhile: the server responds 404 itself.
    if (!document || isListed(document, wanted)) return undefined;
    if (wanted.verb === 'list' || wanted.verb === 'watch') {
      const isGone = !document.resources.some(({ name }) => name === wanted.resource);
      if (isGone && (await this.statusOf(url.pathname)) === 404) return undefined;
    }
    return `${wanted.verb} of ${wanted.resource} is not in the discovery of ${groupVersion}`;
  }

  /** Reads the document of the group version; undefined if the server does not have it. */
  async discover(groupVersion) {
    const { status, body } = await this.get(groupVersion);
    if (status !== 200) return undefined;
    const document = JSON.parse(body);
    this.documents.set(groupVersion, document);
    return document;
  }

  async statusOf(path) {
    return (await this.get(`${path}?limit=1`)).status;
  }

  get(path) {
    const headers = { authorization: `Bearer ${this.token}`, accept: 'application/json' };
    return new Promise((done, fail) => {
      send(new URL(path, this.target), { agent: this.agent, headers }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('end', () =>
          done({ status: response.statusCode, body: Buffer.concat(chunks).toString() }),
        );
      })
        .once('error', fail)
        .end();
    });
  }

  passOn(request, response) {
    const { method, headers } = request;
    return new Promise((done, fail) => {
      const options = { method, headers, agent: this.agent };
      const upstream = send(new URL(request.url, this.target), options, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        // Watches send their headers before the first event.
        response.flushHeaders();
        answer.pipe(response);
        answer.once('error', () => response.destroy());
      });
      response.once('close', () => {
        upstream.destroy();
        done();
      });
      upstream.once('error', (error) => (response.headersSent ? response.destroy() : fail(error)));
      request.pipe(upstream);
    });
  }
}

function refuse(response, code, message) {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const reason = code === 404 ? 'NotFound' : 'BadGateway';
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status));
}
