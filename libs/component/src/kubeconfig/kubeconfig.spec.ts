import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionOf, KubeconfigError, singleKubeconfig, writeKubeconfig } from './kubeconfig.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('kubeconfig', () => {
  it('reads back what it wrote, for its owner only', () => {
    const path = join(directory, 'kubeconfig');
    writeKubeconfig(
      path,
      singleKubeconfig({
        clusterName: 'orch',
        userName: 'admin',
        server: 'https://127.0.0.1:6443/',
        certificateAuthorityPem: 'CA',
        clientCertificatePem: 'CERT',
        clientKeyPem: 'KEY',
      }),
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(connectionOf(path)).toMatchObject({
      server: 'https://127.0.0.1:6443',
      certificateAuthorityPem: 'CA',
      clientCertificatePem: 'CERT',
      clientKeyPem: 'KEY',
    });
  });

  it('reads referenced files relative to itself', () => {
    const path = join(directory, 'config');
    writeFileSync(join(directory, 'ca.pem'), 'CA');
    writeFileSync(join(directory, 'token'), 'secret\n');
    writeFileSync(
      path,
      `clusters: [{name: c, cluster: {server: 'https://x', certificate-authority: ca.pem}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: a, context: {cluster: c, user: u, namespace: ns}}]
`,
    );
    expect(connectionOf(path, 'a')).toMatchObject({
      certificateAuthorityPem: 'CA',
      token: 'secret',
      namespace: 'ns',
    });
    expect(() => connectionOf(path, 'b')).toThrow(/has no context "b", has: a/);
  });

  it('names the file that cannot be read', () => {
    expect(() => connectionOf(join(directory, 'none'))).toThrow(KubeconfigError);
    expect(() => connectionOf(join(directory, 'none'))).toThrow(/none/);
  });
});
