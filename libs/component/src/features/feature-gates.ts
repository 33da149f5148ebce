/**
 * The enabled features. `--feature-gates` accepts every gate of the release; setting a gate that
 * this build does not implement produces a warning, and a locked gate accepts only its default.
 * `AllAlpha` and `AllBeta` set all gates of a stage; the value of a single gate takes precedence.
 */
import { parseBoolean, ValueError } from '../options/values.js';
import { type GatedComponent, idleReason, isIdle, operationalGates } from './gate-effects.js';
import { type FeatureStage, knownGates } from './known-gates.js';

/** Read access to the gates, for the code that a gate controls. */
export interface Features {
  /** Whether the gate is on. Throws if there is no gate of this name. */
  enabled(name: string): boolean;
}

interface Gate {
  readonly stage: FeatureStage;
  readonly locked: boolean;
  enabled: boolean;
}

export class FeatureGates implements Features {
  private readonly gates = new Map<string, Gate>();
  private readonly collectedWarnings: string[] = [];
  private readonly operational: ReadonlySet<string>;

  constructor(component: GatedComponent) {
    this.operational = new Set(operationalGates[component]);
    for (const { stage, enabled, locked, names } of knownGates) {
      for (const name of names) {
        // A GA gate without effect cannot be switched off.
        const isFixed = locked || (stage === 'GA' && isIdle(name));
        this.gates.set(name, { stage, locked: isFixed, enabled });
      }
    }
  }

  /** Warnings about the settings: GA and deprecated gates, and gates without effect. */
  get warnings(): readonly string[] {
    return this.collectedWarnings;
  }

  enabled(name: string): boolean {
    return this.gate(name).enabled;
  }

  /** Applies the pairs of `--feature-gates`. Throws `ValueError` on an unknown or locked gate. */
  set(pairs: Readonly<Record<string, string>>): void {
    for (const [group, stage] of [
      ['AllAlpha', 'Alpha'],
      ['AllBeta', 'Beta'],
    ] as const) {
      const text = pairs[group];
      if (text === undefined) continue;
      const enabled = booleanOf(group, text);
      for (const gate of this.gates.values()) {
        if (gate.stage === stage && !gate.locked) gate.enabled = enabled;
      }
    }
    for (const [name, text] of Object.entries(pairs)) {
      if (name !== 'AllAlpha' && name !== 'AllBeta') this.setOne(name, booleanOf(name, text));
    }
  }

  private setOne(name: string, enabled: boolean): void {
    const gate = this.gates.get(name);
    if (!gate) {
      throw new ValueError(`--feature-gates: unknown gate ${JSON.stringify(name)}`);
    }
    if (gate.locked && gate.enabled !== enabled) {
      throw new ValueError(
        `--feature-gates: ${name} is ${gate.stage} and locked to ${gate.enabled}; remove it from the flag`,
      );
    }
    if (gate.stage === 'GA' || gate.stage === 'Deprecated') {
      this.collectedWarnings.push(
        `feature gate ${name} is ${gate.stage} and will be removed; stop setting it`,
      );
    }
    if (gate.enabled !== enabled && !this.operational.has(name)) {
      this.collectedWarnings.push(
        `feature gate ${name} has no effect in this component: ${idleReason(name)}`,
      );
    }
    gate.enabled = enabled;
  }

  private gate(name: string): Gate {
    const gate = this.gates.get(name);
    if (!gate) throw new Error(`unknown feature gate ${name}`);
    return gate;
  }
}

function booleanOf(name: string, text: string): boolean {
  try {
    return parseBoolean(text);
  } catch (error) {
    if (error instanceof ValueError) {
      throw new ValueError(`--feature-gates: ${name}: ${error.message}`);
    }
    throw error;
  }
}
