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
import { certificateSubjectRule } from '../admission/certificate-subject.js';
import { admit } from '../testing/admit.js';
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
  const made = await Pkcs10CertificateRequestGenerator.create(
    {
      name: [{ O: [organization] }, { CN: [commonName] }],
      keys: keys as never,
      signingAlgorithm: algorithm,
      extensions: names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : [],
    },
    webcrypto as never,
  );
  return Buffer.from(made.toString('pem')).toString('base64');
}

const good = { signerName: 'example.com/a', usages: ['client auth'] };
let encoded = '';

beforeAll(async () => {
  keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  encoded = await request('dev', 'someone');
});

function made(spec: object = {}, version = stable) {
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
  it('are from whoever makes them, and undecided', () => {
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
  ])('refuse %j', (spec, messages) => {
    expect(made(spec).errors).toEqual(messages);
  });

  it('are signed with the key that they are for', () => {
    const pem = Buffer.from(encoded, 'base64').toString();
    const forged = new Uint8Array(PemConverter.decodeFirst(pem));
    const at = Buffer.from(forged).indexOf('someone');
    forged[at] = 'S'.charCodeAt(0);
    const changed = Buffer.from(PemConverter.encode(forged, 'CERTIFICATE REQUEST'));
    expect(made({ request: changed.toString('base64') }).errors).toEqual([
      expect.stringMatching(/^spec.request: .*: the signature does not fit the key$/),
    ]);
  });

  it('of the first version get signers by what they ask for', async () => {
    const dns: JsonGeneralName = { type: 'dns', value: 'node.example.com' };
    const node = ['system:nodes', 'system:node:a'] as const;
    const signerOf = async (body: object) =>
      made({ signerName: undefined, ...body }, older).object.spec.signerName;
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
    const { object, errors } = made({ signerName: undefined, usages: undefined }, older);
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      signerName: 'orch.io/legacy-unknown',
      usages: ['digital signature', 'key encipherment'],
    });
  });

  it('change only in their metadata', () => {
    const { object } = made();
    const changed = update(definition, object, (one: CertificateSigningRequest) => {
      one.spec = { ...one.spec, usages: ['server auth'] };
      conditions(one, 'Approved');
    });
    expect(changed).toMatchObject({ object, errors: [] });
  });

  it('are decided by approval alone, once', () => {
    const { object } = made();
    const approve = (one: CertificateSigningRequest) => conditions(one, 'Approved');
    expect(updatePart(definition, 'status', object, approve).errors).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
    // The first version ignores what it does not allow.
    const ignored = updatePart(definition, 'status', object, approve, older);
    expect(ignored).toMatchObject({ errors: [], object: { status: {} } });
    const approved = updatePart(definition, 'approval', object, (one) => {
      approve(one);
      one.status!.certificate = 'AAAA';
    });
    expect(approved.errors).toEqual([]);
    expect(approved.object.status).toEqual({
      conditions: [
        { type: 'Approved', status: 'True', lastUpdateTime: now, lastTransitionTime: now },
      ],
    });
    expect(cells(definition, approved.object)).toMatchObject({ Condition: 'Approved' });
    const part = (change: (one: CertificateSigningRequest) => void) =>
      updatePart(definition, 'approval', approved.object, change).errors;
    expect(part((one) => conditions(one))).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(part((one) => conditions(one, 'Approved', 'Denied'))).toEqual([
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    const { errors } = updatePart(definition, 'status', approved.object, (one) => {
      one.status!.conditions!.push({ type: 'Failed', status: 'False' });
    });
    expect(errors).toEqual([
      'status.conditions[1].status: Unsupported value: "False": supported values: "True"',
    ]);
  });

  it('hold certificates and nothing else, for ever', () => {
    const { object } = made();
    const certified = (text: string, old = object) =>
      updatePart(definition, 'status', old, (one) => {
        one.status = { ...one.status, certificate: Buffer.from(text).toString('base64') };
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

  it('give nobody the group of administrators', async () => {
    const ask = async (organization: string) => {
      const spec = {
        signerName: 'orch.io/orch-apiserver-client',
        request: await request(organization, 'someone'),
      };
      const object = { metadata: { name: 'x' }, spec } as CertificateSigningRequest;
      await admit(object, {
        rules: [certificateSubjectRule],
        groupHead: 'certificates',
        plural: 'certificatesigningrequests',
      });
    };
    await expect(ask('dev')).resolves.toBeUndefined();
    await expect(ask('system:masters')).rejects.toMatchObject({ code: 403 });
  });
});
