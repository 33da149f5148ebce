/** The store's naive twin: keeps every state there ever was, and looks everything up by walking. */
import type { Operation } from '../versioned-store.js';

interface Version {
  readonly key: string;
  readonly text: string;
  readonly createRevision: number;
  readonly revision: number;
}

interface Change {
  readonly revision: number;
  readonly kind: 'put' | 'delete';
  readonly previous: Version | undefined;
  readonly version: Version;
}

export class NaiveStore {
  private readonly states: ReadonlyMap<string, Version>[] = [new Map()];
  private readonly changes: Change[] = [];

  get revision(): number {
    return this.states.length - 1;
  }

  /** False when an expectation does not hold. */
  commit(operations: readonly Operation[]): boolean {
    const before = this.states.at(-1)!;
    for (const { key, expect } of operations) {
      const current = before.get(key)?.revision;
      if (expect?.kind === 'absent' && current !== undefined) return false;
      if (expect?.kind === 'revision' && current !== expect.revision) return false;
    }
    const revision = this.revision + 1;
    const after = new Map(before);
    const changes = operations.flatMap((operation) => this.change(after, operation, revision));
    if (changes.length === 0) return true;
    this.states.push(after);
    this.changes.push(...changes);
    return true;
  }

  list(prefix: string, revision: number): string[] {
    return [...this.states[revision]!.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((left, right) => (left.key < right.key ? -1 : 1))
      .map(show);
  }

  /** `prefix` ends in a slash. */
  events(prefix: string, afterRevision: number): string[] {
    return this.changes
      .filter(({ revision, version }) => revision > afterRevision && version.key.startsWith(prefix))
      .map(
        ({ revision, kind, previous, version }) =>
          `${revision} ${kind} ${version.key} ${show(previous)} -> ${show(version)}`,
      );
  }

  private change(state: Map<string, Version>, operation: Operation, revision: number): Change[] {
    if (operation.kind === 'check') return [];
    const { key } = operation;
    const previous = state.get(key);
    if (operation.kind === 'put') {
      const createRevision = previous?.createRevision ?? revision;
      const text = splice(operation.bytes, operation.revisionOffset, revision);
      const version = { key, text, createRevision, revision };
      state.set(key, version);
      return [{ revision, kind: 'put', previous, version }];
    }
    if (!previous) return [];
    state.delete(key);
    const { lastBytes, revisionOffset } = operation;
    const text = lastBytes
      ? splice(lastBytes, revisionOffset, revision)
      : previous.text.replace(`"rv":"${previous.revision}"`, `"rv":"${revision}"`);
    const version = { ...previous, text, revision };
    return [{ revision, kind: 'delete', previous, version }];
  }
}

function splice(bytes: Buffer, offset: number | undefined, revision: number): string {
  const text = bytes.toString();
  return offset ? `${text.slice(0, offset)}${revision}${text.slice(offset)}` : text;
}

function show(version: Version | undefined): string {
  if (!version) return '-';
  return `${version.key}@${version.createRevision}/${version.revision} ${version.text}`;
}
