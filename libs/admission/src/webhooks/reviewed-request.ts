/**
 * A request as webhooks see it: its objects in the version that a webhook wants, and the changes
 * in its response. The stored shape of the object stays the only one that is retained.
 */
import type { ApiObject } from '@orch/api';
import {
  deepCopy,
  internalError,
  type JsonObject,
  SchemaError,
  StatusError,
} from '@orch/apimachinery';
import {
  type AdmissionRequest,
  type ResourceTable,
  type ReviewedView,
  type ServedResource,
  toStoredShape,
} from '@orch/registry';

/** Converts an object of a custom resource to another of its versions. Owns `object`. */
export type ConvertCustom = (
  object: ApiObject,
  target: ServedResource,
  deadlineMs: number,
) => Promise<ApiObject>;

export interface ReviewedRequestDependencies {
  readonly table: ResourceTable;
  readonly convert: ConvertCustom;
}

/** JSON texts; `null` if there is no object. */
export interface ReviewedObjects {
  readonly object: string;
  readonly oldObject: string;
}

export class ReviewedRequest {
  private readonly texts = new Map<ServedResource, ReviewedObjects>();
  private readonly view: ReviewedView | undefined;

  constructor(
    readonly request: AdmissionRequest,
    private readonly dependencies: ReviewedRequestDependencies,
  ) {
    const { review } = request;
    this.view = review === 'none' ? undefined : review;
  }

  /** The kind of the objects. */
  kindIn(target: ServedResource): { group: string; version: string; kind: string } {
    if (!this.view) return { group: target.group, version: target.version, kind: target.kind };
    const [group = '', version = ''] = this.view.apiVersion.includes('/')
      ? this.view.apiVersion.split('/')
      : ['', this.view.apiVersion];
    return { group, version, kind: this.view.kind };
  }

  /** Labels of the new and of the old object; undefined for objects without metadata. */
  get labels(): readonly (Readonly<Record<string, string>> | undefined)[] {
    return [this.labelsOf(this.object), this.labelsOf(this.oldObject)].flat();
  }

  async objectsIn(target: ServedResource): Promise<ReviewedObjects> {
    let texts = this.texts.get(target);
    if (!texts) {
      texts = {
        object: JSON.stringify((await this.documentIn(target)) ?? null),
        oldObject: JSON.stringify(await this.oldDocumentIn(target)),
      };
      this.texts.set(target, texts);
    }
    return texts;
  }

  /** The new object; undefined if there is none. Shared: must not be changed. */
  async documentIn(target: ServedResource): Promise<JsonObject | undefined> {
    if (this.view) return this.view.document();
    const { object } = this.request;
    return object && ((await this.inVersion(object, target)) as JsonObject);
  }

  /** Takes over the new object as a webhook changed it. Throws StatusError. */
  async accept(document: JsonObject, target: ServedResource): Promise<void> {
    this.texts.clear();
    try {
      if (this.view) this.view.accept(document);
      else await this.replaceObject(document, target);
    } catch (error) {
      throw error instanceof SchemaError ? internalError(error.message) : error;
    }
  }

  private get object(): JsonObject | undefined {
    return this.view ? this.view.document() : (this.request.object as JsonObject | undefined);
  }

  private get oldObject(): JsonObject | undefined {
    return this.view ? this.view.oldDocument() : (this.request.old as JsonObject | undefined);
  }

  private labelsOf(object: JsonObject | undefined) {
    if (!object?.metadata) return [];
    return [(object as ApiObject).metadata?.labels];
  }

  private async oldDocumentIn(target: ServedResource): Promise<JsonObject | null> {
    if (this.view) return this.view.oldDocument() ?? null;
    const { old, operation } = this.request;
    if (!old) return null;
    const document = (await this.inVersion(old, target)) as JsonObject;
    return operation === 'UPDATE' ? withoutManagedFields(document) : document;
  }

  private async inVersion(object: ApiObject, target: ServedResource): Promise<ApiObject> {
    const { served, context } = this.request;
    if (!served.definition.custom || target === served) return target.fromStored(object);
    const converted = await this.dependencies.convert(
      deepCopy(object as JsonObject) as ApiObject,
      target,
      context.deadlineMs,
    );
    target.codec.setDefaults(converted);
    return converted;
  }

  private async replaceObject(document: JsonObject, target: ServedResource): Promise<void> {
    const { served, context, object } = this.request;
    if (!object) throw new Error('the request has no object');
    this.checkType(document, target);
    let changed = toStoredShape(target, target.codec.fromJson(document));
    if (served.definition.custom && target !== served) {
      changed = await this.dependencies.convert(changed, served, context.deadlineMs);
      served.codec.setDefaults(changed);
    }
    // Callers refer to this object.
    for (const field of Object.keys(object)) delete (object as JsonObject)[field];
    Object.assign(object, changed);
  }

  private checkType({ apiVersion, kind }: JsonObject, target: ServedResource): void {
    if (apiVersion === target.apiVersion && kind === target.kind) return;
    const text = String(apiVersion ?? '');
    const [group = '', version = ''] = text.includes('/') ? text.split('/') : ['', text];
    const isKnown = this.dependencies.table
      .inGroupVersion(group, version)
      .some((served) => served.kind === kind);
    if (isKnown) {
      const message = `converting ${text} ${kind} to ${target.kind}: unknown conversion`;
      throw new StatusError({ code: 500, message });
    }
    throw internalError(
      `no kind "${kind ?? ''}" is registered for version "${text}" in scheme "webhook"`,
    );
  }
}

/** Clients know the old object of an update without its field ownership. */
function withoutManagedFields(document: JsonObject): JsonObject {
  const { managedFields: _fields, ...metadata } = (document.metadata ?? {}) as JsonObject;
  return { ...document, metadata };
}
