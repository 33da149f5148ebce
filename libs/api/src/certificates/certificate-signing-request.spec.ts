import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import {
  type JsonGeneralName,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { cells, create, now, update, updatePart } from '../testing/write.js';
import { certificateSigningRequest as definition } from './certificate-signing-request.js';

const [stable, older] = definition.versions;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
let keys: Awaited<ReturnType<typeof webcrypto.subtle.generateKey>>;

async function request(
  organization: string,
  commonName: string,
  names: JsonGeneralName[] = [],
): Promise<string> {
  const generated = await Pkcs10CertificateRequestGenerator.create(
    {
      name: [{ O: [organization] }, { CN: [commonName] }],
      keys: keys as never,
      signingAlgorithm: algorithm,
      extensions: names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : [],
    },
    webcrypto as never,
  );
  return Buffer.from(generated.toString('pem')).toString('base64');
}

const good = { signerName: 'example.com/a', usages: ['client auth'] };
let encoded = '';

beforeAll(async () => {
  keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  encoded = await request('dev', 'someone');
});

function createRequest(spec: object = {}, version = stable) {
  return create<CertificateSigningRequest>(
    definition,
    { spec: { ...good, request: encoded, ...spec } },
    version,
  );
}

function conditions(object: CertificateSigningRequest, ...types: string[]) {
  object.status = {
    ...object.status,
    conditions: types.map((type) => ({ type, status: 'True' as const })),
  };
}

describe('certificate signing requests', () => {
  it('get the identity of the requester and no decision', () => {
    const { object, errors } = create<CertificateSigningRequest>(definition, {
      spec: { ...good, request: encoded, username: 'forged', groups: ['forged'] },
      status: { conditions: [{ type: 'Approved', status: 'True' }] },
    });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({ username: 'admin' });
    expect(object.spec).not.toHaveProperty('groups');
    expect(object.status).toEqual({});
    expect(cells(definition, object)).toMatchObject({
      SignerName: 'example.com/a',
      Requestor: 'admin',
      Condition: 'Pending',
    });
  });

  it.each<[object, string[]]>([
    [{ usages: [] }, ['spec.usages: Required value: usages must be provided']],
    [
      { usages: ['client auth', 'client auth', 'flying'] },
      [
        expect.stringMatching(/^spec.usages\[2\]: Unsupported value: "flying": supp/) as string,
        'spec.usages[1]: Duplicate value: "client auth"',
      ],
    ],
    [{ signerName: '' }, ['spec.signerName: Required value']],
    [
      { signerName: 'alone' },
      [
        'spec.signerName: Invalid value: "alone": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      ],
    ],
    [
      { signerName: 'example/a' },
      [
        'spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      { signerName: 'orch.io/legacy-unknown' },
      [
        'spec.signerName: Invalid value: "orch.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
    [
      { request: Buffer.from('no').toString('base64') },
      [
        'spec.request: Invalid value: []byte{0x6e, 0x6f}: PEM block type must be CERTIFICATE REQUEST',
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(createRequest(spec).errors).toEqual(messages);
  });

  it('must be signed with their own key', () => {
    const pem = Buffer.from(encoded, 'base64').toString();
    const forged = new Uint8Array(PemConverter.decodeFirst(pem));
    const at = Buffer.from(forged).indexOf('someone');
    forged[at] = 'S'.charCodeAt(0);
    const changed = Buffer.from(PemConverter.encode(forged, 'CERTIFICATE REQUEST'));
    expect(createRequest({ request: changed.toString('base64') }).errors).toEqual([
      expect.stringMatching(/^spec.request: .*: the signature does not fit the key$/),
    ]);
  });

  it('get a signer from their content in the beta version', async () => {
    const dns: JsonGeneralName = { type: 'dns', value: 'node.example.com' };
    const node = ['system:nodes', 'system:node:a'] as const;
    const signerOf = async (body: object) =>
      createRequest({ signerName: undefined, ...body }, older).object.spec.signerName;
    expect(await signerOf({ request: await request(...node) })).toBe(
      'orch.io/orch-apiserver-client-kubelet',
    );
    expect(
      await signerOf({
        request: await request(...node, [dns]),
        usages: ['key encipherment', 'digital signature', 'server auth'],
      }),
    ).toBe('orch.io/kubelet-serving');
    expect(await signerOf({ request: await request(...node, [dns]) })).toBe(
      'orch.io/legacy-unknown',
    );
    const { object, errors } = createRequest({ signerName: undefined, usages: undefined }, older);
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      signerName: 'orch.io/legacy-unknown',
      usages: ['digital signature', 'key encipherment'],
    });
  });

  it('reject changes outside metadata', () => {
    const { object } = createRequest();
    const changed = update(definition, object, (draft: CertificateSigningRequest) => {
      draft.spec = { ...draft.spec, usages: ['server auth'] };
      conditions(draft, 'Approved');
    });
    expect(changed).toMatchObject({ object, errors: [] });
  });

  it('are decided once, through the approval subresource', () => {
    const { object } = createRequest();
    const approve = (draft: CertificateSigningRequest) => conditions(draft, 'Approved');
    expect(updatePart(definition, 'status', object, approve).errors).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
    // The beta version ignores forbidden conditions.
    const ignored = updatePart(definition, 'status', object, approve, older);
    expect(ignored).toMatchObject({ errors: [], object: { status: {} } });
    const approved = updatePart(definition, 'approval', object, (draft) => {
      approve(draft);
      draft.status!.certificate = 'AAAA';
    });
    expect(approved.errors).toEqual([]);
    expect(approved.object.status).toEqual({
      conditions: [
        { type: 'Approved', status: 'True', lastUpdateTime: now, lastTransitionTime: now },
      ],
    });
    expect(cells(definition, approved.object)).toMatchObject({ Condition: 'Approved' });
    const part = (change: (draft: CertificateSigningRequest) => void) =>
      updatePart(definition, 'approval', approved.object, change).errors;
    expect(part((draft) => conditions(draft))).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(part((draft) => conditions(draft, 'Approved', 'Denied'))).toEqual([
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    const { errors } = updatePart(definition, 'status', approved.object, (draft) => {
      draft.status!.conditions!.push({ type: 'Failed', status: 'False' });
    });
    expect(errors).toEqual([
      'status.conditions[1].status: Unsupported value: "False": supported values: "True"',
    ]);
  });

  it('accept certificates only, and reject a change of the certificate', () => {
    const { object } = createRequest();
    const certified = (text: string, old = object) =>
      updatePart(definition, 'status', old, (draft) => {
        draft.status = { ...draft.status, certificate: Buffer.from(text).toString('base64') };
      }).errors;
    const wrong = 'status.certificate: Invalid value: "<certificate data>": ';
    expect(certified('garbage')).toEqual([
      `${wrong}must contain at least one CERTIFICATE PEM block`,
    ]);
    const pem = Buffer.from(encoded, 'base64').toString();
    expect(certified(pem)).toEqual([
      `${wrong}only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"`,
    ]);
    expect(certified('', { ...object, status: { certificate: 'AAAA' } })).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
  });
});
