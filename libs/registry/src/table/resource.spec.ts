import { definitions } from '@orch/api';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { ResourceTable } from './resource-table.js';

const table = new ResourceTable(definitions);

describe('objects of another version than the stored one', () => {
  const events = table.find(dialect().group('events'), 'v1', 'events')!;

  it('are stored with the fields that are always written', () => {
    const stored = events.toStored(events.codec.fromJson({ metadata: { name: 'a' } }));
    expect(stored).toMatchObject({ reportingComponent: '', reportingInstance: '', source: {} });
  });

  it('are returned without empty fields', () => {
    const stored = events.resource.storedCodec.fromJson({ metadata: { name: 'a' } });
    expect(events.fromStored(stored)).not.toHaveProperty('reportingController');
  });
});

it('fields that a kind stores beside its type are decoded again', () => {
  const daemonSets = table.find('apps', 'v1', 'daemonsets')!;
  const annotations = { 'deprecated.daemonset.template.generation': '7' };
  const sent = daemonSets.codec.fromJson({ metadata: { name: 'a', annotations } });
  expect(daemonSets.fromStored(daemonSets.toStored(sent)).metadata).toMatchObject({ annotations });
});
