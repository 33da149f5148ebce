import type { PersistentVolumeClaimSpec } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { structDiff } from './struct-diff.js';

const claim = (spec: object) =>
  ({ accessModes: ['ReadWriteOnce'], resources: {}, ...spec }) as PersistentVolumeClaimSpec;
const claimDiff = (x: object, y: object) =>
  structDiff('core/v1.PersistentVolumeClaimSpec', claim(x), claim(y)).replaceAll('\u00a0', ' ');

describe('structDiff', () => {
  it('counts equal fields far from a difference and aligns the others', () => {
    const x = { hostPath: { path: '/a', type: '' } };
    const y = { hostPath: { path: '/b', type: '' } };
    const text = structDiff('core/v1.PersistentVolumeSource', x, y).replaceAll('\u00a0', ' ');
    expect(text.split('\n')).toEqual([
      '  core.PersistentVolumeSource{',
      '  \tGCEPersistentDisk:    nil,',
      '  \tAWSElasticBlockStore: nil,',
      '  \tHostPath: &core.HostPathVolumeSource{',
      '- \t\tPath: "/a",',
      '+ \t\tPath: "/b",',
      '  \t\tType: &"",',
      '  \t},',
      '  \tGlusterfs: nil,',
      '  \tNFS:       nil,',
      '  \t... // 17 identical fields',
      '  }',
      '',
    ]);
  });

  it('shows the members of a quantity', () => {
    const text = claimDiff({}, { resources: { requests: { storage: '1Gi' } } });
    expect(text).toContain(
      '+ \t\t\ts"storage": {i: resource.int64Amount{value: 1073741824}, s: "1Gi", Format: "BinarySI"},',
    );
  });

  it('ends a long text with an ellipsis', () => {
    const x = { glusterfs: { endpoints: '', path: 'x'.repeat(200) } };
    const text = structDiff('core/v1.PersistentVolumeSource', x, {});
    expect(text).toContain(`Path: "${'x'.repeat(128)}"...`);
  });

  it('shows added and removed elements of a list', () => {
    const text = claimDiff({ accessModes: ['A', 'B'] }, { accessModes: ['A', 'C', 'D'] });
    expect(text).toContain('\t\t"A",\n- \t\t"B",\n+ \t\t"C",\n+ \t\t"D",\n');
  });

  it('prints a selector as text', () => {
    const text = claimDiff({ selector: { matchLabels: { a: 'b' } } }, {});
    expect(text).toContain(
      '- \tSelector:    s"&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}",',
    );
  });
});
