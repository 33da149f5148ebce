/**
 * Reports owners of one kind whose selectors overlap: the controller reference of each pod keeps
 * them apart, but a pod that one of them releases is adopted by the other.
 */
import { controllerOf, type LabelSelector } from '@orch/apimachinery';
import { type ApiObject, type EventRecorder, type Informer, objectKey } from '@orch/client';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { indexDependents, orphansIn } from './dependents.js';
import { ReportedTexts } from './reported-texts.js';

/** Owners named in one event; the message counts the others. */
const namedCountMax = 5;

interface TemplateOwner extends ApiObject {
  readonly spec?: { readonly template?: { readonly metadata?: ObjectMeta } };
}

export class SelectorOverlap<T extends TemplateOwner> {
  private readonly reported: ReportedTexts;

  constructor(
    private readonly owners: Informer<T>,
    private readonly recorder: EventRecorder,
    private readonly selectorOf: (owner: T) => LabelSelector,
  ) {
    this.reported = new ReportedTexts(owners);
    indexDependents(owners);
  }

  /**
   * Records an event if the owner and another one in its namespace select each other's pods. It
   * compares with all of them: call it once for each change of the owner.
   *
   * @param owner has its `apiVersion` and `kind`.
   */
  report(owner: T): void {
    const key = objectKey(owner);
    const names = this.overlapping(owner);
    if (names.length === 0) {
      this.reported.forget(key);
      return;
    }
    const named = names.slice(0, namedCountMax).join(', ');
    const more = names.length - namedCountMax;
    const list = more > 0 ? `${named} and ${more} more` : named;
    if (!this.reported.isNew(key, `${owner.metadata?.uid} ${list}`)) return;
    const message = `the selector overlaps with that of ${list}: each keeps its own pods, but adopts pods that another releases; use different labels`;
    this.recorder.event(owner, 'Warning', 'SelectorOverlap', message);
  }

  private overlapping(owner: T): string[] {
    return this.othersOf(owner)
      .filter((other) => this.selects(owner, other) || this.selects(other, owner))
      .map(({ metadata }) => metadata?.name ?? '')
      .sort();
  }

  /** Two owners that are owned themselves are not compared: their own owners are. */
  private othersOf(owner: T): T[] {
    const { namespace = '', uid } = owner.metadata ?? {};
    const others = controllerOf(owner)
      ? orphansIn(this.owners, namespace)
      : this.owners.lister.list(namespace);
    return others.filter(({ metadata }) => metadata?.uid !== uid);
  }

  private selects(owner: T, { spec }: T): boolean {
    return this.selectorOf(owner).matches(spec?.template?.metadata?.labels);
  }
}

interface Observing extends ApiObject {
  readonly status?: { readonly observedGeneration?: number };
}

/** Whether the status does not show the generation of the object yet. */
export function isChanged({ metadata, status }: Observing): boolean {
  return status?.observedGeneration !== metadata?.generation;
}
