/** The `scale` subresource: replicas of a workload without knowing its kind. */
import type { ApiObject, SubresourceScale } from '@orch/api';
import {
  applyConfiguration,
  codecFor,
  fieldError,
  formatTime,
  internalError,
  invalid,
  isStatus,
  type JsonObject,
  notFound,
  shapeOf,
  type VersionedType,
  wrapUnknown,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Entry } from '@orch/store';
import { freshObject, objectOf } from '../registry/entry-view.js';
import { checkIdentity } from '../registry/object-metadata.js';
import { objectStrategy } from '../registry/strategies.js';
import { updateObject } from '../registry/update.js';
import { decodeBody, type Expected } from '../request/decode-object.js';
import { bodyFormat, contentTypeOf } from '../request/media-types.js';
import { checkConfig, parseConfig } from '../request/parse-config.js';
import { readBody } from '../request/read-body.js';
import { type PatchOptions, parseWriteOptions } from '../request/write-options.js';
import { encodeValue } from '../response/encode-object.js';
import { sendBody } from '../response/exchange.js';
import { applying, decodeApplied } from './apply.js';
import { type Call, plainRepresentation, targetOf, writeContext } from './call.js';
import { decodePatched, patchFunction, readPatch } from './patch.js';
import { readEntry } from './read.js';

interface Scale extends ApiObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

const schemaType = 'autoscaling/v1.Scale';

function expectedScale(): Expected {
  return {
    apiVersion: dialect().apiVersion('autoscaling', 'v1'),
    kind: 'Scale',
    groupHead: 'autoscaling',
    codec: codecFor(schemaType),
  };
}

function scaleOf(object: ApiObject, part: SubresourceScale<ApiObject>): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  const selector = part.selector(object);
  return {
    kind: 'Scale',
    apiVersion: dialect().apiVersion('autoscaling', 'v1'),
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: part.replicas(object) ?? 0 },
    status: { replicas: part.statusReplicas(object), ...(selector !== '' && { selector }) },
  };
}

function sendScale(call: Call, entry: Entry, part: SubresourceScale<ApiObject>): void {
  const representation = plainRepresentation(call);
  const codec = codecFor<Scale>(schemaType);
  const scale = codec.fromJson(scaleOf(objectOf(entry), part));
  const { format } = representation;
  const body =
    format === 'protobuf'
      ? wrapUnknown(scale.apiVersion ?? '', 'Scale', codec.toProtobuf(scale))
      : encodeValue(scale, representation);
  sendBody(call.exchange, 200, contentTypeOf(format), body);
}

export function scaleHandler(part: SubresourceScale<ApiObject>): (call: Call) => Promise<void> {
  return async (call) => {
    plainRepresentation(call);
    if (call.info.verb === 'get') return getScale(call, part);
    const change = call.info.verb === 'patch' ? await patchedBy(call, part) : await sent(call);
    return writeScale(call, part, change);
  };
}

async function getScale(call: Call, part: SubresourceScale<ApiObject>): Promise<void> {
  const entry = await readEntry(call);
  if (!entry) throw scaleNotFound(call, part);
  if (part.replicas(objectOf(entry)) === undefined) {
    throw internalError(`the spec replicas field "${part.replicasPath ?? ''}" does not exist`);
  }
  sendScale(call, entry, part);
}

function scaleNotFound({ served, info }: Call, part: SubresourceScale<ApiObject>): Error {
  const { group, resource } = part.notFoundAs ?? {
    group: served.served.group,
    resource: `${served.definition.plural}/scale`,
  };
  return notFound({ group: dialect().group(group), resource }, info.name);
}

/** What to make of the stored object's scale. */
interface ScaleChange {
  readonly dryRun: boolean;
  /** The stored object must have this uid; empty: any. */
  readonly uid: string;
  scale(existing: ApiObject): Scale;
}

async function sent(call: Call): Promise<ScaleChange> {
  const format = bodyFormat(call.exchange.request.headers['content-type']);
  const body = await readBody(call.exchange.request);
  const { dryRun } = parseWriteOptions(call.query, 'UpdateOptions');
  const scale = decodeBody(body, format, expectedScale()) as Scale;
  checkIdentity(call.served, scale, call.info.namespace, call.info.name);
  return { dryRun, uid: scale.metadata?.uid ?? '', scale: () => scale };
}

async function patchedBy(call: Call, part: SubresourceScale<ApiObject>): Promise<ScaleChange> {
  const { type, text, options } = await readPatch(call);
  if (type === 'apply') return appliedBy(call, part, text, options);
  const patch = patchFunction(type, text);
  return {
    dryRun: options.dryRun,
    uid: '',
    scale(existing) {
      const document = JSON.parse(JSON.stringify(scaleOf(existing, part))) as JsonObject;
      const scale = decodePatched(patch(document, schemaType), expectedScale()) as Scale;
      return withoutReadVersion(scale, existing);
    },
  };
}

/** A scale has no managed fields of its own: whatever is there conflicts unless it is forced. */
function appliedBy(
  call: Call,
  part: SubresourceScale<ApiObject>,
  text: string,
  options: PatchOptions,
): ScaleChange {
  const { apiVersion, kind, codec } = expectedScale();
  const config = parseConfig(text);
  checkConfig(config, { apiVersion, kind, shape: shapeOf(schemaType) });
  return {
    dryRun: options.dryRun,
    uid: '',
    scale(existing) {
      const live = JSON.parse(JSON.stringify(scaleOf(existing, part))) as JsonObject;
      const { object } = applying(() =>
        applyConfiguration({
          type: scaleType,
          apiVersion,
          manager: options.fieldManager,
          now: formatTime(call.parts.clock.nowMs()),
          live,
          config,
          force: options.force,
        }),
      );
      return withoutReadVersion(decodeApplied(object, { codec }), existing);
    },
  };
}

const scaleType: VersionedType = {
  shape: () => shapeOf(schemaType),
  convert: (object) => object,
  ignored: () => undefined,
  empty: () => codecFor<JsonObject>(schemaType).fromJson({}),
};

/** The version shown is the one read; only one that the patch changed is a condition. */
function withoutReadVersion(scale: Scale, existing: ApiObject): Scale {
  if (scale.metadata?.resourceVersion === existing.metadata?.resourceVersion) {
    delete scale.metadata?.resourceVersion;
  }
  return scale;
}

async function writeScale(
  call: Call,
  part: SubresourceScale<ApiObject>,
  change: ScaleChange,
): Promise<void> {
  const { parts, served, info } = call;
  const produce = (existing: ApiObject, entry: Entry) => {
    const scale = change.scale(existing);
    const replicas = scale.spec?.replicas ?? 0;
    if (replicas < 0 && !part.isChecked) {
      throw invalid({ group: dialect().group('autoscaling'), kind: 'Scale' }, info.name, [
        fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
      ]);
    }
    const object = freshObject(entry);
    part.setReplicas(object, replicas);
    const { resourceVersion } = scale.metadata ?? {};
    if (resourceVersion) object.metadata!.resourceVersion = resourceVersion;
    return object;
  };
  try {
    const entry = await updateObject(
      parts,
      targetOf(call),
      { strategy: objectStrategy(served), produce, uid: change.uid },
      writeContext(call, change.dryRun),
    );
    sendScale(call, entry, part);
  } catch (error) {
    throw isStatus(error, 'NotFound') ? scaleNotFound(call, part) : error;
  }
}
