/**
 * Which features are on. Every gate of the release can be named in `--feature-gates`; a gate that this
 * build gives no meaning is reported as without effect, and one whose feature is final cannot be
 * turned away from its default. `AllAlpha` and `AllBeta` set a whole stage; a gate's own value wins.
 */
import { parseBoolean, ValueError } from '../options/values.js';
import { type GatedComponent, isIdle, operationalGates, whyIdle } from './gate-effects.js';
import { type FeatureStage, knownGates } from './known-gates.js';

/** Asked by whatever a feature decides. */
export interface Features {
  /** Throws for a name that is no gate. */
  enabled(name: string): boolean;
}

interface Gate {
  readonly stage: FeatureStage;
  readonly locked: boolean;
  enabled: boolean;
}

export class FeatureGates implements Features {
  private readonly gates = new Map<string, Gate>();
  private readonly notes: string[] = [];

  private readonly operational: ReadonlySet<string>;

  constructor(component: GatedComponent) {
    this.operational = new Set(operationalGates[component]);
    for (const { stage, enabled, locked, names } of knownGates) {
      for (const name of names) {
        // The feature of a GA gate that decides nothing cannot be switched off.
        const isFixed = locked || (stage === 'GA' && isIdle(name));
        this.gates.set(name, { stage, locked: isFixed, enabled });
      }
    }
  }

  /** What the operator should be told about the settings: deprecated gates and those without effect. */
  get warnings(): readonly string[] {
    return this.notes;
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
      throw new ValueError(`--feature-gates: there is no gate ${JSON.stringify(name)}`);
    }
    if (gate.locked && gate.enabled !== enabled) {
      throw new ValueError(
        `--feature-gates: ${name} is ${gate.stage} and fixed to ${gate.enabled}; remove it from the flag`,
      );
    }
    if (gate.stage === 'GA' || gate.stage === 'Deprecated') {
      this.notes.push(`feature gate ${name} is ${gate.stage} and will be removed; stop setting it`);
    }
    if (gate.enabled !== enabled && !this.operational.has(name)) {
      this.notes.push(`feature gate ${name} has no effect in this component: ${whyIdle(name)}`);
    }
    gate.enabled = enabled;
  }

  private gate(name: string): Gate {
    const gate = this.gates.get(name);
    if (!gate) throw new Error(`there is no feature gate ${name}`);
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
