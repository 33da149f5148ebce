import type { RequestedNames } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { approvingPermissions, nextCheckMs } from './approval-plan.js';
import { nodeClientProblem, nodeServingProblem } from './node-request-plan.js';
import { builtInSigners, nodeClientSigner } from './signers.js';

const node: RequestedNames = {
  commonName: 'system:node:n1',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
};
const client = ['key encipherment', 'digital signature', 'client auth'];
const serving = ['key encipherment', 'digital signature', 'server auth'];

describe('requests of node agents', () => {
  it.each<[Partial<RequestedNames>, string[], string | undefined]>([
    [{}, client, undefined],
    [{ organizations: [] }, client, 'subject organization is not system:nodes'],
    [
      { organizations: ['system:nodes', 'system:masters'] },
      client,
      'subject organization is not system:nodes',
    ],
    [{ organizations: ['system:masters'] }, client, 'subject organization is not system:nodes'],
    [{ commonName: 'admin' }, client, 'subject common name does not begin with system:node:'],
    [{ dnsNames: ['a'] }, client, 'DNS subjectAltNames are not allowed'],
    [{ emailAddresses: ['a@b'] }, client, 'Email subjectAltNames are not allowed'],
    [{ ipAddresses: ['10.0.0.1'] }, client, 'IP subjectAltNames are not allowed'],
    [{ uris: ['https://a'] }, client, 'URI subjectAltNames are not allowed'],
    [{}, serving, expect.stringMatching(/^usages did not match \[client auth/) as string],
    [{}, ['client auth'], expect.stringMatching(/^usages did not match/) as string],
    [{}, [...client, 'cert sign'], expect.stringMatching(/^usages did not match/) as string],
  ])('for a client certificate with %j and %j: %s', (names, usages, problem) => {
    expect(nodeClientProblem({ ...node, ...names }, usages)).toEqual(problem);
  });

  it.each<[Partial<RequestedNames>, string[], string | undefined]>([
    [{ ipAddresses: ['10.0.0.1'] }, serving, undefined],
    [{ dnsNames: ['n1'] }, serving, undefined],
    [{}, serving, 'DNS or IP subjectAltName is required'],
    [{ dnsNames: ['n1'], uris: ['a:b'] }, serving, 'URI subjectAltNames are not allowed'],
    [{ dnsNames: ['n1'], emailAddresses: ['a'] }, serving, 'Email subjectAltNames are not allowed'],
    [{ dnsNames: ['n1'] }, client, expect.stringMatching(/^usages did not match/) as string],
    [
      { dnsNames: ['n1'], commonName: 'n1' },
      serving,
      'subject common name does not begin with system:node:',
    ],
    [
      { dnsNames: ['n1'], organizations: ['a'] },
      serving,
      'subject organization is not system:nodes',
    ],
  ])('for a serving certificate with %j and %j: %s', (names, usages, problem) => {
    expect(nodeServingProblem({ ...node, ...names }, usages)).toEqual(problem);
  });
});

describe('the permissions that approve a request', () => {
  const signerName = 'orch.io/orch-apiserver-client-kubelet';
  const subresources = (spec: object, names: Partial<RequestedNames> = {}) =>
    approvingPermissions(
      { request: '', signerName, usages: client, ...spec },
      { ...node, ...names },
      nodeClientSigner(),
    ).map(({ subresource }) => subresource);

  it('are those of a new node, and of a renewal if the node is its creator', () => {
    expect(subresources({ username: 'system:bootstrap:abcdef' })).toEqual(['nodeclient']);
    expect(subresources({ username: 'system:node:n2' })).toEqual(['nodeclient']);
    expect(subresources({ username: 'system:node:n1' })).toEqual(['selfnodeclient', 'nodeclient']);
  });

  it('do not exist for other signers, names and usages', () => {
    expect(subresources({ signerName: 'orch.io/orch-apiserver-client' })).toEqual([]);
    expect(subresources({ usages: serving })).toEqual([]);
    expect(subresources({}, { organizations: ['system:masters'] })).toEqual([]);
  });

  it('are checked again with growing pauses', () => {
    expect([0, 5_000, 10_000_000].map(nextCheckMs)).toEqual([1_000, 5_000, 1_000_000]);
  });
});

describe('the built-in signers', () => {
  const problemOf = (kind: string, usages: string[]) =>
    builtInSigners()
      .find((signer) => signer.kind === kind)
      ?.problem({ ...node, commonName: 'x' }, usages);

  it('restrict the usages of client certificates', () => {
    expect(problemOf('apiserver-client', client)).toBeUndefined();
    expect(problemOf('apiserver-client', ['client auth'])).toBeUndefined();
    expect(problemOf('apiserver-client', ['digital signature'])).toBe(
      'missing required usage for client certificate: client auth',
    );
    expect(problemOf('apiserver-client', serving)).toBe(
      'invalid usage for client certificate: server auth',
    );
  });

  it('accept anything for the legacy signer', () => {
    expect(problemOf('legacy-unknown', ['cert sign'])).toBeUndefined();
  });
});
