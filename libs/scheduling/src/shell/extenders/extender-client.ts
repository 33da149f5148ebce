/**
 * One extender over HTTP. Its responses are not trusted: wrong types, unknown nodes and scores out
 * of range are errors, as are slow and very long responses.
 */
import { readFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject } from '@orch/apimachinery';
import { errorCode, errorMessage, expectingName } from '@orch/component';
import type { Node, Pod } from '@orch/types/core/v1';
import { Agent, request } from 'undici';
import type { ExtenderOptions, ExtenderTls } from '../../configuration/extender-configuration.js';
import type { Candidate } from '../../framework/plugin.js';
import { extenderResponseBytesMax } from '../../limits.js';
import type { NodeInfo } from '../../model/node-info.js';
import type { PodInfo } from '../../model/pod-info.js';

/** The best score of an extender; the worst is 0. */
export const extenderScoreMax = 10;

export interface ExtenderFilterResult {
  readonly feasible: readonly NodeInfo[];
  /** Reasons by node. */
  readonly failed: ReadonlyMap<string, string>;
  /** Reasons by node, where the removal of pods cannot help. */
  readonly failedFinally: ReadonlyMap<string, string>;
}

export class ExtenderError extends Error {
  override readonly name = 'ExtenderError';
  readonly code = 'extender-failed';
}

export class ExtenderClient {
  private readonly agent: Agent;

  constructor(readonly options: ExtenderOptions) {
    this.agent = new Agent({ connect: options.tls ? tlsOptions(options.tls) : {} });
  }

  get canFilter(): boolean {
    return Boolean(this.options.filterVerb);
  }

  get canPrioritize(): boolean {
    return Boolean(this.options.prioritizeVerb);
  }

  get canPreempt(): boolean {
    return Boolean(this.options.preemptVerb);
  }

  get canBind(): boolean {
    return Boolean(this.options.bindVerb);
  }

  /** Whether the extender takes part in decisions about the pod. */
  concerns({ spec }: Pod): boolean {
    const { managedResources } = this.options;
    if (managedResources.length === 0) return true;
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ resources }) =>
      managedResources.some(
        (name) =>
          resources?.requests?.[name] !== undefined || resources?.limits?.[name] !== undefined,
      ),
    );
  }

  async filter(pod: Pod, nodes: readonly NodeInfo[]): Promise<ExtenderFilterResult> {
    const response = await this.post(this.options.filterVerb!, this.nodesArgument(pod, nodes));
    const problem = textField(response, 'Error');
    if (problem) throw new ExtenderError(problem);
    const byName = new Map(nodes.map((node) => [node.name, node]));
    return {
      feasible: this.namesOf(response, nodes).map((name) => {
        const node = byName.get(name);
        if (node) return node;
        throw this.error(`claims a filtered node ${name} that was not in the request`);
      }),
      failed: this.reasonsOf(response, 'FailedNodes'),
      failedFinally: this.reasonsOf(response, 'FailedAndUnresolvableNodes'),
    };
  }

  /** Returns scores by node, from 0 to `extenderScoreMax`. */
  async prioritize(pod: Pod, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>> {
    const verb = this.options.prioritizeVerb!;
    const response = await this.post(verb, this.nodesArgument(pod, nodes));
    if (!Array.isArray(response)) throw this.error(`${verb}: the response is not a list`);
    return new Map(
      response.map((entry) => {
        const host = field(entry, 'Host');
        const score = field(entry, 'Score') ?? 0;
        const isScore = typeof score === 'number' && score >= 0 && score <= extenderScoreMax;
        if (typeof host === 'string' && isScore) return [host, score];
        throw this.error(`${verb}: not a score of 0 to ${extenderScoreMax} for a host`);
      }),
    );
  }

  /** Returns the candidates that the extender accepts, with its victims. */
  async preempt(pod: Pod, candidates: readonly Candidate[]): Promise<Candidate[]> {
    const { preemptVerb, nodeCacheCapable } = this.options;
    const response = await this.post(preemptVerb!, {
      Pod: pod as unknown as Json,
      ...(nodeCacheCapable
        ? { NodeNameToMetaVictims: byNode(candidates, ({ uid }) => ({ UID: uid })) }
        : { NodeNameToVictims: byNode(candidates, (victim) => victim.pod as unknown as Json) }),
    });
    const accepted = field(response, 'NodeNameToMetaVictims') ?? {};
    if (!isJsonObject(accepted)) throw this.error(`${preemptVerb}: not a map of victims`);
    return Object.entries(accepted).map(([node, victims]) => {
      const candidate = candidates.find((entry) => entry.node === node);
      if (!candidate) throw this.error(`${preemptVerb}: node ${node} was not in the request`);
      return this.reducedCandidate(candidate, victims);
    });
  }

  async bind(pod: Pod, node: string): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    const response = await this.post(this.options.bindVerb!, {
      ...{ PodName: name, PodNamespace: namespace },
      ...{ PodUID: uid, Node: node },
    });
    const problem = textField(response, 'Error');
    if (problem) throw new ExtenderError(problem);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private nodesArgument(pod: Pod, nodes: readonly NodeInfo[]): Json {
    const argument = this.options.nodeCacheCapable
      ? { NodeNames: nodes.map(({ name }) => name) }
      : { Nodes: { metadata: {}, items: nodes.map(({ node }) => node as Node) } };
    return { Pod: pod, ...argument } as unknown as Json;
  }

  private namesOf(response: Json, nodes: readonly NodeInfo[]): string[] {
    const names = field(response, 'NodeNames');
    if (this.options.nodeCacheCapable && Array.isArray(names)) return names.map(String);
    const items = field(field(response, 'Nodes') ?? null, 'items');
    if (Array.isArray(items)) {
      return items.map((item) => String(field(field(item, 'metadata') ?? null, 'name')));
    }
    // Without either list all nodes are rejected; an empty list is often sent as null.
    if (isJsonObject(response)) return [];
    throw this.error(`the response about ${nodes.length} nodes is not a map`);
  }

  private reasonsOf(response: Json, name: string): ReadonlyMap<string, string> {
    const reasons = field(response, name) ?? {};
    if (!isJsonObject(reasons)) throw this.error(`${name} is not a map`);
    return new Map(Object.entries(reasons).map(([node, reason]) => [node, String(reason)]));
  }

  private reducedCandidate(candidate: Candidate, victims: Json): Candidate {
    const pods = field(victims, 'Pods') ?? [];
    const violationCount = field(victims, 'NumPDBViolations') ?? 0;
    if (!Array.isArray(pods) || typeof violationCount !== 'number') {
      throw this.error(`the victims on node ${candidate.node} are not valid`);
    }
    const uids = new Set(pods.map((pod) => field(pod, 'UID')));
    const kept = candidate.victims.filter(({ uid }) => uids.has(uid));
    if (kept.length !== pods.length || kept.length === 0) {
      throw this.error(`the victims on node ${candidate.node} are not among those proposed`);
    }
    return { node: candidate.node, victims: kept, violationCount };
  }

  private async post(verb: string, body: Json): Promise<Json> {
    const { urlPrefix, timeoutMs } = this.options;
    const url = `${urlPrefix}/${verb}`;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        dispatcher: this.agent,
        signal,
      });
      const text = await limitedText(response.body);
      if (response.statusCode === 200) return JSON.parse(text) as Json;
      const { statusCode } = response;
      throw new ExtenderError(`failed ${verb} with extender at URL ${url}, code ${statusCode}`);
    } catch (error) {
      if (error instanceof ExtenderError) throw error;
      const problem = signal.aborted ? `no response within ${timeoutMs} ms` : failure(error, url);
      throw new ExtenderError(`Post "${url}": ${problem}`);
    }
  }

  private error(problem: string): ExtenderError {
    return new ExtenderError(`extender ${this.options.urlPrefix}: ${problem}`);
  }
}

/** A refused connection has the words of upstream. */
function failure(error: unknown, url: string): string {
  if (errorCode(error) !== 'ECONNREFUSED') return errorMessage(error);
  const { host, port, protocol } = new URL(url);
  const address = port ? host : `${host}:${protocol === 'https:' ? 443 : 80}`;
  return `dial tcp ${address}: connect: connection refused`;
}

function byNode(candidates: readonly Candidate[], form: (victim: PodInfo) => Json): JsonObject {
  return Object.fromEntries(
    candidates.map(({ node, victims, violationCount }) => [
      node,
      { Pods: victims.map(form), NumPDBViolations: violationCount },
    ]),
  );
}

async function limitedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of body) {
    byteCount += chunk.length;
    if (byteCount > extenderResponseBytesMax) {
      throw new Error(`the response is longer than ${extenderResponseBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Names of fields are compared without case: extenders in other languages spell them otherwise. */
function field(value: Json, name: string): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  const key = Object.keys(value).find((other) => other.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : (value[key] ?? undefined);
}

function textField(value: Json, name: string): string {
  const text = field(value, name);
  return typeof text === 'string' ? text : '';
}

function tlsOptions(tls: ExtenderTls) {
  const pem = (file: string | undefined, data: string | undefined) =>
    file ? readFileSync(file) : data ? Buffer.from(data, 'base64') : undefined;
  return {
    rejectUnauthorized: !tls.insecure,
    ...(tls.serverName && expectingName(tls.serverName)),
    cert: pem(tls.certFile, tls.certData),
    key: pem(tls.keyFile, tls.keyData),
    ca: pem(tls.caFile, tls.caData),
  };
}
