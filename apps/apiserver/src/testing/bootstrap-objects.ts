/**
 * Specs that compare the objects of a new cluster with the recorded fixtures, in the dialect of the
 * process.
 */
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bootstrapFacts } from './bootstrap-facts.js';
import { RunningServer, type ServerResponse } from './running-server.js';

type Thing = ServerResponse['body'];

const rbac = () => `/apis/${dialect().group('rbac.authorization')}/v1`;
const flowControl = () => `/apis/${dialect().group('flowcontrol.apiserver')}/v1beta1`;

/** Returns the objects by `namespace/name`, sorted. */
const byName = (things: Thing[], namesOf: (thing: Thing) => Thing = (thing) => thing) =>
  Object.fromEntries(
    things
      .map((thing) => [`${namesOf(thing).namespace ?? ''}/${namesOf(thing).name}`, thing])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );

const names = ['name', 'namespace', 'labels', 'annotations'];

/** Returns the `fields` that the object has. */
const fieldsOf = (object: Thing, fields: readonly string[]) =>
  Object.fromEntries(
    fields.filter((field) => field in object).map((field) => [field, object[field]]),
  );

/** Removes empty lists, which the fixtures contain and responses omit. */
const withoutEmptyLists = (object: Thing) =>
  Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && !isEmptyList(value)),
  );
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

export function describeBootstrapObjects(): void {
  describe(`a new cluster in the dialect ${dialect().name}`, () => {
    let server: RunningServer;
    beforeAll(async () => {
      server = await RunningServer.start();
    }, 30_000);
    afterAll(() => server.stop());

    /** Compares the list at `path`, reduced by `shape`, with a fixture. */
    async function compare(
      path: string,
      file: string,
      shape: (object: Thing) => Thing,
      factsOf = (items: Thing[]) => items,
    ) {
      const { items } = await server.must('GET', path);
      const served = byName(items, ({ metadata }) => metadata);
      const shaped = Object.fromEntries(
        Object.entries(served).map(([name, object]) => [name, shape(object)]),
      );
      expect(shaped).toEqual(byName(factsOf(bootstrapFacts(file).items)));
    }

    const named = ({ metadata }: Thing) => fieldsOf(metadata, names);

    it.each([
      ['clusterroles', ['aggregationRule', 'rules']],
      ['clusterrolebindings', ['roleRef', 'subjects']],
      ['roles', ['rules']],
      ['rolebindings', ['roleRef', 'subjects']],
    ])('has its %s', async (plural, fields) => {
      await compare(
        `${rbac()}/${plural}`,
        plural,
        (object) => ({ ...named(object), ...fieldsOf(object, fields) }),
        (items) => items.map(withoutEmptyLists),
      );
    });

    it('has its namespaces', async () => {
      await compare('/api/v1/namespaces', 'namespaces', ({ metadata, spec, status }) => {
        const { name, labels } = metadata;
        return { name, labels, spec, status };
      });
    });

    it('has its priority classes', async () => {
      const path = `/apis/${dialect().group('scheduling')}/v1/priorityclasses`;
      await compare(path, 'priorityclasses', (object) => ({
        name: object.metadata.name,
        value: object.value,
        preemptionPolicy: object.preemptionPolicy,
        globalDefault: object.globalDefault ?? false,
        hasDescription: Boolean(object.description),
      }));
    });

    it('has its flow schemas', async () => {
      await compare(`${flowControl()}/flowschemas`, 'flowschemas', (object) => ({
        ...named(object),
        spec: object.spec,
        statusConditionTypes: object.status.conditions.map(({ type, status, reason }: Thing) => [
          type,
          status,
          reason,
        ]),
      }));
    });

    it('has its priority levels', async () => {
      const path = `${flowControl()}/prioritylevelconfigurations`;
      await compare(path, 'prioritylevels', (object) => ({ ...named(object), spec: object.spec }));
    });

    it('has its API services', async () => {
      const path = `/apis/${dialect().group('apiregistration')}/v1/apiservices`;
      const { groups } = await server.must('GET', '/apis');
      const served = new Set(['', ...groups.map(({ name }: Thing) => name)]);
      await compare(
        path,
        'apiservices',
        ({ metadata, spec, status }) => ({
          name: metadata.name,
          labels: metadata.labels,
          spec,
          conditions: status.conditions.map(({ type, status: is, reason }: Thing) => ({
            type,
            status: is,
            reason,
          })),
        }),
        (items) => items.filter(({ spec }) => served.has(spec.group ?? '')),
      );
    });

    it('has its own service, endpoints and slice', async () => {
      const facts = bootstrapFacts('service');
      const { word } = dialect();
      const port = server.port;
      const inDefault = '/api/v1/namespaces/default';
      const service = await server.must('GET', `${inDefault}/services/${word}`);
      expect(service.metadata).toMatchObject(fieldsOf(facts.service, names));
      expect(service.spec).toEqual({
        ...facts.service.spec,
        ports: [{ ...facts.service.spec.ports[0], targetPort: port }],
        clusterIP: '10.96.0.1',
        clusterIPs: ['10.96.0.1'],
      });
      const endpoints = await server.must('GET', `${inDefault}/endpoints/${word}`);
      expect(endpoints.metadata.labels).toEqual(facts.endpoints.labels);
      expect(endpoints.subsets).toEqual([
        {
          addresses: [{ ip: '127.0.0.1' }],
          ports: [{ ...facts.endpoints.subsets[0].ports[0], port }],
        },
      ]);
      const slices = `/apis/${dialect().group('discovery')}/v1/namespaces/default/endpointslices`;
      const slice = await server.must('GET', `${slices}/${word}`);
      expect(slice.metadata.labels).toEqual(facts.endpointslice.labels);
      expect(slice).toMatchObject({
        addressType: 'IPv4',
        endpoints: [{ ...facts.endpointslice.endpoints[0], addresses: ['127.0.0.1'] }],
        ports: [{ ...facts.endpointslice.ports[0], port }],
      });
    });

    it('repairs the endpoints and the slice of its own service when a client changes them', async () => {
      const { word } = dialect();
      const group = `/apis/${dialect().group('discovery')}/v1`;
      const endpoints = `/api/v1/namespaces/default/endpoints/${word}`;
      const slice = `${group}/namespaces/default/endpointslices/${word}`;
      const before = await server.must('GET', endpoints);
      const { ports, metadata } = await server.must('GET', slice);
      await server.must('PUT', endpoints, { ...before, subsets: [] });
      await server.must('DELETE', slice);
      await vi.waitFor(async () => {
        expect((await server.must('GET', endpoints)).subsets).toEqual(before.subsets);
        const repaired = await server.must('GET', slice);
        expect(repaired.ports).toEqual(ports);
        expect(repaired.metadata.uid).not.toBe(metadata.uid);
      }, 10_000);
    });
  });
}
