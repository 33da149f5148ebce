/**
 * Changes of objects that the scheduler has decided but the watch has not reported yet. An
 * assumption holds while the object has the version that it was based on; any newer version
 * replaces it.
 */
interface Versioned {
  readonly metadata?: { readonly resourceVersion?: string };
}

export class Assumptions<T extends Versioned> {
  private readonly changed = new Map<string, T>();

  get size(): number {
    return this.changed.size;
  }

  /** Assumes the object in this form. Its version must be that of the object that it changes. */
  assume(key: string, object: T): void {
    this.changed.set(key, object);
  }

  /** Drops an assumption. */
  restore(key: string): void {
    this.changed.delete(key);
  }

  /** Returns the object with the assumed change, if that still holds. */
  apply(key: string, actual: T | undefined): T | undefined {
    const assumed = this.changed.get(key);
    if (!assumed) return actual;
    if (actual && actual.metadata?.resourceVersion === assumed.metadata?.resourceVersion) {
      return assumed;
    }
    this.changed.delete(key);
    return actual;
  }
}
