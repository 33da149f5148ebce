/**
 * Creates and deletes the pods of an owner, with events and expectations. A pod gets its name
 * before the first request, so that a creation whose outcome is unknown is repeated under the same
 * name and never leads to a second pod.
 */
import { generatedName } from '@orch/apimachinery';
import {
  ApiError,
  type ApiObject,
  type EventRecorder,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  objectKey,
  resources,
  TransportError,
} from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { limits } from '../limits.js';
import { forEachBounded, slowStart } from './batches.js';
import type { ControllerContext } from './controller.js';
import type { Expectations } from './expectations.js';
import { messageOf } from './expected-errors.js';

export interface PodChanges {
  readonly creations: readonly Pod[];
  readonly deletions: readonly Pod[];
}

/** The first failures of a creation and of a deletion; undefined if there was none. */
export interface PodFailures {
  readonly createError: unknown;
  readonly deleteError: unknown;
}

export interface PodChange {
  /** Pods created or deleted. */
  readonly count: number;
  /** The first failure; undefined if the rest cannot succeed, as in a terminating namespace. */
  readonly error: unknown;
}

export class PodControl {
  constructor(
    private readonly context: ControllerContext,
    private readonly recorder: EventRecorder,
    private readonly expectations: Expectations,
  ) {}

  /** `owner` needs apiVersion and kind, for the events of all methods. */
  async apply(owner: ApiObject, { creations, deletions }: PodChanges): Promise<PodFailures> {
    const key = objectKey(owner);
    this.expectations.expect(key, creations.length, deletions.map(objectKey));
    const { error: createError } = await this.createAll(key, owner, creations);
    const { error: deleteError } = await this.deleteAll(key, owner, deletions);
    return { createError, deleteError };
  }

  create(owner: ApiObject, pods: readonly Pod[]): Promise<PodChange> {
    const key = objectKey(owner);
    this.expectations.expectCreations(key, pods.length);
    return this.createAll(key, owner, pods);
  }

  delete(owner: ApiObject, pods: readonly Pod[]): Promise<PodChange> {
    const key = objectKey(owner);
    this.expectations.expectDeletions(key, pods.map(objectKey));
    return this.deleteAll(key, owner, pods);
  }

  private async createAll(key: string, owner: ApiObject, pods: readonly Pod[]): Promise<PodChange> {
    let unknownCount = 0;
    const { successCount, error } = await slowStart(pods.length, async (index) => {
      try {
        const name = await this.createNamed(pods[index] ?? {});
        this.recorder.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${name}`);
      } catch (failure) {
        if (isOutcomeUnknown(failure)) unknownCount += 1;
        if (!isNamespaceTerminating(failure)) {
          const message = `Error creating: ${messageOf(failure)}`;
          this.recorder.event(owner, 'Warning', 'FailedCreate', message);
        }
        throw failure;
      }
    });
    // A pod that may exist stays expected: the cache shows it, or the expectation expires.
    this.expectations.creationObserved(key, pods.length - successCount - unknownCount);
    // A namespace that is being deleted accepts no pods: a retry cannot succeed.
    return { count: successCount, error: isNamespaceTerminating(error) ? undefined : error };
  }

  private async deleteAll(key: string, owner: ApiObject, pods: readonly Pod[]): Promise<PodChange> {
    const client = this.context.client.resource(resources.pods, owner.metadata?.namespace);
    const errors = await forEachBounded(pods, limits.batchConcurrencyMax, async (pod) => {
      const name = pod.metadata?.name ?? '';
      try {
        await client.delete(name);
        this.recorder.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
      } catch (failure) {
        this.expectations.deletionObserved(key, objectKey(pod));
        if (isNotFound(failure)) return;
        const message = `Error deleting: ${messageOf(failure)}`;
        this.recorder.event(owner, 'Warning', 'FailedDelete', message);
        throw failure;
      }
    });
    return { count: pods.length - errors.length, error: errors[0] };
  }

  /** @returns the name of the pod. */
  private async createNamed(pod: Pod): Promise<string> {
    const { metadata } = pod;
    const name = metadata?.name ?? generatedName(metadata?.generateName ?? '', this.context.random);
    const client = this.context.client.resource(resources.pods, metadata?.namespace);
    const named = { ...pod, metadata: { ...metadata, name } };
    for (let attempt = 1; ; attempt++) {
      try {
        await client.createOnly(named);
        return name;
      } catch (error) {
        // The name was free at the first attempt: an earlier one created the pod.
        if (attempt > 1 && isAlreadyExists(error)) return name;
        if (!isOutcomeUnknown(error) || attempt >= limits.podCreationAttemptCountMax) throw error;
      }
    }
  }
}

/** Whether the server may have executed a request that failed. */
function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof TransportError) return error.requestSent;
  return error instanceof ApiError && error.statusCode === 504;
}
