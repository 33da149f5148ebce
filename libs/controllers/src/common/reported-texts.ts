/**
 * The last text that was reported about each object, so that a repetition is not recorded again.
 */
import { type ApiObject, objectKey } from '@orch/client';

/** An informer, of objects of any kind. */
interface DeletionSource {
  addHandlers(handlers: { onDelete(object: ApiObject): void }): unknown;
}

export class ReportedTexts {
  private readonly texts = new Map<string, string>();

  /** Forgets objects of `informer` when they are deleted: its keys are the keys of `isNew`. */
  constructor(informer: DeletionSource) {
    informer.addHandlers({ onDelete: (object) => this.forget(objectKey(object)) });
  }

  /** Returns whether the text differs from the last one about this key, and remembers it. */
  isNew(key: string, text: string): boolean {
    if (this.texts.get(key) === text) return false;
    this.texts.set(key, text);
    return true;
  }

  forget(key: string): void {
    this.texts.delete(key);
  }
}
