import { StatusError } from '@orch/apimachinery';
import { dialect, FeatureGates } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { negotiate } from './accept.js';
import { bodyFormat, patchType } from './body-format.js';

const everything = { views: true, stream: false };

function decided(accept: string | undefined, offer = everything): string {
  try {
    const { format, view, viewVersion } = negotiate(accept, offer);
    return view === 'object' ? format : `${format} ${view} ${viewVersion}`;
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
}

describe('negotiate', () => {
  const protobuf = dialect().protobufMediaType;
  const group = dialect().metaGroup;
  const onlyThese = `only the following media types are accepted: application/json, application/yaml, ${protobuf}`;

  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/yaml', 'yaml'],
    [protobuf, 'protobuf'],
    [`${protobuf},application/json`, 'protobuf'],
    [`application/json;q=0.5,${protobuf};q=0.9`, 'protobuf'],
    [`application/json;as=Table;v=v1;g=${group}`, 'json Table v1'],
    [`application/json; as=Table; v=v1beta1; g=${group}`, 'json Table v1beta1'],
    [`application/json;as=Table;v=v9;g=${group}, application/json`, 'json'],
    [`application/json;as=Table;v=v9;g=${group}`, onlyThese],
    ['application/json;as=Table;v=v1;g=other.example', onlyThese],
    [`${protobuf};as=PartialObjectMetadata;v=v1;g=${group}`, 'protobuf PartialObjectMetadata v1'],
    ['text/html', '406: Not Acceptable'],
  ])('%s gives %s', (accept, expected) => {
    expect(decided(accept)).toBe(expected);
  });

  it('has no views and no YAML where none are offered', () => {
    const table = `application/json;as=Table;v=v1;g=${group}`;
    expect(decided(table, { views: false, stream: false })).toBe(onlyThese);
    const stream = { views: true, stream: true };
    const onlyStreams = `only the following media types are accepted: application/json;stream=watch, ${protobuf};stream=watch`;
    expect(decided('application/yaml', stream)).toBe(onlyStreams);
    expect(decided('application/json;as=Table;v=v9', stream)).toBe(onlyThese);
  });
});

describe('bodies and patches', () => {
  it('know their types whatever the parameters', () => {
    expect(bodyFormat(undefined)).toBe('json');
    expect(bodyFormat('application/json; charset=utf-8')).toBe('json');
    expect(() => bodyFormat('text/plain')).toThrow('unknown format');
    const features = new FeatureGates('apiserver');
    expect(patchType('application/merge-patch+json; charset=utf-8', features)).toBe('merge');
    expect(() => patchType('application/json', features)).toThrow('415');
  });
});
