/**
 * The messages of etcd's v3 interface as plain objects, and their codecs from the embedded
 * descriptor of `proto/orch/etcd/v3.proto`. 64-bit numbers are decoded as numbers (revisions stay
 * far below 2^53), except ids, which are only forwarded or compared: those are decimal text.
 */
import protobuf from 'protobufjs/light.js';
import namespace from '../../generated/etcd-v3.js';

export interface ResponseHeader {
  readonly revision: number;
}

export interface KeyValue {
  readonly key: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly serializable?: boolean;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: number;
}

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  /** Decimal text of a lease's id. */
  readonly lease?: string;
  readonly prevKv?: boolean;
}

export interface DeleteRangeRequest {
  readonly key: Buffer;
  readonly prevKv?: boolean;
}

/** Exactly one member is set. */
export interface RequestOp {
  readonly requestRange?: RangeRequest;
  readonly requestPut?: PutRequest;
  readonly requestDeleteRange?: DeleteRangeRequest;
  readonly requestTxn?: TxnRequest;
}

export interface ResponseOp {
  readonly responseRange?: RangeResponse;
  readonly responsePut?: { readonly prevKv: KeyValue | null };
  readonly responseDeleteRange?: { readonly prevKvs: readonly KeyValue[] };
  readonly responseTxn?: Omit<TxnResponse, 'header'>;
}

export const compareResult = { equal: 0, greater: 1 } as const;
export const compareTarget = { version: 0, create: 1, mod: 2 } as const;

export interface Compare {
  readonly result: (typeof compareResult)[keyof typeof compareResult];
  readonly target: (typeof compareTarget)[keyof typeof compareTarget];
  readonly key: Buffer;
  readonly version?: number;
  readonly createRevision?: number;
  readonly modRevision?: number;
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

export const eventType = { put: 0, delete: 1 } as const;

export interface EtcdEvent {
  readonly type: number;
  readonly kv: KeyValue;
  readonly prevKv: KeyValue | null;
}

export interface WatchRequest {
  readonly createRequest?: {
    readonly key: Buffer;
    readonly rangeEnd: Buffer;
    readonly startRevision: number;
    readonly prevKv: boolean;
    readonly fragment: boolean;
  };
  readonly progressRequest?: Record<string, never>;
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly fragment: boolean;
  readonly events: readonly EtcdEvent[];
}

/** Ids and sizes as decimal text. */
export interface StatusResponse {
  readonly header: { readonly clusterId: string };
  readonly version: string;
  readonly errors: readonly string[];
}

export interface Method<Request, Response> {
  readonly path: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
}

const root = protobuf.Root.fromJSON(namespace);
const numbers = { longs: Number, defaults: true };
const texts = { longs: String, defaults: true };

function method<Request extends object, Response>(
  service: string,
  name: string,
  conversion: protobuf.IConversionOptions,
): Method<Request, Response> {
  const { requestType, responseType } = root.lookupService(`etcdserverpb.${service}`).methods[
    name
  ]!;
  const requests = root.lookupType(`etcdserverpb.${requestType}`);
  const responses = root.lookupType(`etcdserverpb.${responseType}`);
  return {
    path: `/etcdserverpb.${service}/${name}`,
    encode: (request) => requests.encode(request).finish() as Buffer,
    decode: (bytes) => responses.toObject(responses.decode(bytes), conversion) as Response,
  };
}

export const range = method<RangeRequest, RangeResponse>('KV', 'Range', numbers);
export const txn = method<TxnRequest, TxnResponse>('KV', 'Txn', numbers);
export const compact = method<{ readonly revision: number }, { readonly header: ResponseHeader }>(
  'KV',
  'Compact',
  numbers,
);
export const watch = method<WatchRequest, WatchResponse>('Watch', 'Watch', numbers);
export const leaseGrant = method<
  { readonly TTL: number },
  { readonly ID: string; readonly error: string }
>('Lease', 'LeaseGrant', texts);
export const status = method<Record<string, never>, StatusResponse>('Maintenance', 'Status', texts);
