/** Metrics of admission: each plugin and each step of the chain, by operation and outcome. */
import type { HistogramSeries, Metrics, SummarySeries } from '@orch/component';
import type {
  AdmissionObserver,
  AdmissionOperation,
  AdmissionPhase,
  AdmissionTimer,
} from './admission.js';

const buckets = [0.005, 0.025, 0.1, 0.5, 2.5];
const stepLabels = ['operation', 'rejected', 'type'] as const;

interface StepSeries {
  readonly histogram: HistogramSeries;
  readonly summary: SummarySeries;
}

interface Outcome {
  readonly operation: AdmissionOperation;
  readonly rejected: 'true' | 'false';
}

/** The series of each operation and outcome, made when there is the first of it. */
function byOutcome<T>(create: (outcome: Outcome) => T) {
  const accepted: Partial<Record<AdmissionOperation, T>> = {};
  const refused: Partial<Record<AdmissionOperation, T>> = {};
  return (operation: AdmissionOperation, isRejected: boolean): T => {
    const known = isRejected ? refused : accepted;
    known[operation] ??= create({ operation, rejected: isRejected ? 'true' : 'false' });
    return known[operation];
  };
}

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

  plugin(name: string, type: AdmissionPhase): AdmissionTimer {
    const series = byOutcome((outcome) => this.plugins.labels({ ...outcome, name, type }));
    return (operation, isRejected, seconds) => series(operation, isRejected).observe(seconds);
  }

  step(type: AdmissionPhase): AdmissionTimer {
    const series = byOutcome<StepSeries>((outcome) => ({
      histogram: this.steps.labels({ ...outcome, type }),
      summary: this.summaries.labels({ ...outcome, type }),
    }));
    return (operation, isRejected, seconds) => {
      const { histogram, summary } = series(operation, isRejected);
      histogram.observe(seconds);
      summary.observe(seconds);
    };
  }
}
