/** Metrics of admission: each plugin and each step of the chain, by operation and outcome. */
import type { Metrics } from '@orch/component';
import type {
  AdmissionDurations,
  AdmissionObserver,
  AdmissionOutcome,
  AdmissionPhase,
} from './admission.js';

const buckets = [0.005, 0.025, 0.1, 0.5, 2.5];
const stepLabels = ['operation', 'rejected', 'type'] as const;

export class AdmissionMetrics implements AdmissionObserver {
  private readonly plugins;
  private readonly steps;
  private readonly summaries;

  constructor(metrics: Metrics) {
    this.plugins = metrics.histogram({
      name: 'apiserver_admission_controller_admission_duration_seconds',
      help: 'Time of one admission plugin, in seconds.',
      labels: ['name', ...stepLabels],
      buckets,
    });
    const step = 'apiserver_admission_step_admission_duration_seconds';
    this.steps = metrics.histogram({
      name: step,
      help: 'Time of all admission plugins of a step, in seconds.',
      labels: stepLabels,
      buckets,
    });
    this.summaries = metrics.summary({
      name: `${step}_summary`,
      help: 'Time of all admission plugins of a step, in seconds, with quantiles of the latest.',
      labels: stepLabels,
    });
  }

  plugin(name: string, type: AdmissionPhase, outcome: AdmissionOutcome): AdmissionDurations {
    return this.plugins.labels({ ...outcomeLabels(outcome), name, type });
  }

  step(type: AdmissionPhase, outcome: AdmissionOutcome): readonly AdmissionDurations[] {
    const labels = { ...outcomeLabels(outcome), type };
    return [this.steps.labels(labels), this.summaries.labels(labels)];
  }
}

function outcomeLabels({ operation, isRejected }: AdmissionOutcome) {
  return { operation, rejected: isRejected ? 'true' : 'false' };
}
