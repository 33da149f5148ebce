import { resolve } from 'node:path';
import { definitions } from '@orch/api';
import { describe, expect, it } from 'vitest';
import { referencePages } from './main.js';

const pages = referencePages(resolve(import.meta.dirname, '../../examples/api'));

/** The row of a table below a heading, with trimmed cells. */
function row(path: string, heading: string, first: string): string[] {
  const section = pages.get(path)!.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const line = section.split('\n').find((text) => text.startsWith(`| \`${first}\``));
  return (line ?? '').split(/(?<!\\)\|/).map((cell) => cell.trim());
}

describe('the pages', () => {
  it('exist for each kind and are listed in the index', () => {
    const index = pages.get('README.md')!;
    expect(definitions.filter(({ kind }) => !index.includes(`| [${kind}](`))).toEqual([]);
  });

  it('show when a version is removed and its replacement', () => {
    expect(row('networking/ingress.md', 'Versions', 'extensions/v1beta1')).toEqual(
      expect.arrayContaining(['beta', 'since 1.14', 'in 1.22', '`networking.orch.io/v1` Ingress']),
    );
  });

  it('describe the differences of versions, equal ones once', () => {
    const heading = 'Differences of networking.orch.io/v1beta1, extensions/v1beta1';
    expect(row('networking/ingress.md', heading, 'spec.backend')[2]).toBe('only in these versions');
    expect(row('networking/ingress.md', heading, 'spec.defaultBackend')[2]).toBe('missing');
    expect(pages.get('coordination/lease.md')).toContain(
      'The fields of `coordination.orch.io/v1beta1` are the same.',
    );
  });

  it('show the feature gate of a field', () => {
    expect(row('core/service.md', 'ServiceSpec', 'loadBalancerClass').join()).toContain(
      'Feature gate `ServiceLoadBalancerClass` (off by default).',
    );
  });

  it('show immutability only if it is the same for all kinds', () => {
    const fixed = 'Cannot be changed.';
    expect(row('storage/storage-class.md', 'Fields', 'provisioner').join()).toContain(fixed);
    const shared = [...pages].filter(([path]) => path.startsWith('types/'));
    expect(shared.filter(([, text]) => text.includes(fixed))).toEqual([]);
  });

  it('link from a field to the page of its type', () => {
    expect(row('apps/deployment.md', 'DeploymentSpec', 'selector')).toEqual(
      expect.arrayContaining(['[LabelSelector](../types/label-selector.md#labelselector)', 'yes']),
    );
  });
});
