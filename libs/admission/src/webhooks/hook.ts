/** Webhooks of the configurations, compiled once, because every request needs them. */
import {
  everyLabelSelector,
  type LabelSelector,
  labelSelectorFromObject,
} from '@orch/apimachinery';
import type { WebhookAddress } from '@orch/security';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  RuleWithOperations,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '@orch/types/admissionregistration/v1';
import { hookTimeoutDefaultSeconds } from '../limits.js';

export const reviewVersions = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof reviewVersions)[number];

export interface Hook {
  /** Unique among the hooks of all configurations. */
  readonly key: string;
  readonly name: string;
  readonly configuration: string;
  readonly address: WebhookAddress;
  readonly rules: readonly RuleWithOperations[];
  /** Sees requests for other versions of the resources in its rules. */
  readonly matchesEquivalent: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** The first accepted version that this server supports. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly timeoutMs: number;
  /** Failed calls admit the request. */
  readonly ignoresFailures: boolean;
  readonly supportsDryRun: boolean;
  readonly isReinvocable: boolean;
}

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** In the order of the configuration. Throws SelectorError. */
export function compileHooks({ metadata, webhooks = [] }: WebhookConfiguration): Hook[] {
  const configuration = metadata?.name ?? '';
  const counts = new Map<string, number>();
  return webhooks.map((webhook: MutatingWebhook | ValidatingWebhook) => {
    const { name, sideEffects } = webhook;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return {
      key: `${configuration}/${name}/${count}`,
      name,
      configuration,
      address: addressOf(webhook.clientConfig),
      rules: webhook.rules ?? [],
      matchesEquivalent: webhook.matchPolicy === 'Equivalent',
      namespaceSelector: selectorOf(webhook.namespaceSelector),
      objectSelector: selectorOf(webhook.objectSelector),
      reviewVersion: reviewVersions.find(
        (version) => version === (webhook.admissionReviewVersions ?? []).find(isSupported),
      ),
      timeoutMs: (webhook.timeoutSeconds ?? hookTimeoutDefaultSeconds) * 1_000,
      ignoresFailures: webhook.failurePolicy === 'Ignore',
      supportsDryRun: sideEffects === 'None' || sideEffects === 'NoneOnDryRun',
      isReinvocable: 'reinvocationPolicy' in webhook && webhook.reinvocationPolicy === 'IfNeeded',
    };
  });
}

function isSupported(version: string): boolean {
  return reviewVersions.some((supported) => supported === version);
}

function selectorOf(selector: Parameters<typeof labelSelectorFromObject>[0]): LabelSelector {
  return selector ? labelSelectorFromObject(selector) : everyLabelSelector;
}

function addressOf({ url, service, caBundle }: MutatingWebhook['clientConfig']): WebhookAddress {
  return {
    ...(url !== undefined && { url }),
    ...(service && {
      service: {
        namespace: service.namespace,
        name: service.name,
        ...(service.path !== undefined && { path: service.path }),
        ...(service.port !== undefined && { port: service.port }),
      },
    }),
    ...(caBundle !== undefined && { caBundle }),
  };
}
