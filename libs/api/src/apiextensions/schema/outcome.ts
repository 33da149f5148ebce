/**
 * What checking a value found. Of several alternatives, the one with the most checks that passed says what
 * is wrong; a step is counted for each value and schema met, so that checking ends.
 */
import { type FieldError, FieldPath, fieldError } from '@orch/apimachinery';
import { checkStepCountMax, issueCountMax, issueTextLengthMax } from './limits.js';
import { StepBudget } from './step-budget.js';
import { shown } from './value-text.js';

/** Values are named by their way from the root, joined by dots; elements go by the name of their list. */
interface Issue {
  readonly type: 'required' | 'enum' | 'invalid' | 'composite';
  readonly name: string;
  /** Of an enum: the values that there may be. */
  readonly allowed?: readonly string[];
  readonly value?: unknown;
  readonly message: string;
}

export class Outcome {
  readonly issues: Issue[] = [];
  matchCount = 0;
  private textLength = 0;

  constructor(private readonly budget = new StepBudget(checkStepCountMax)) {}

  /** Throws TooManyStepsError. */
  spend(stepCount: number): void {
    this.budget.spend(stepCount);
  }

  /** One of several ways in which the same value may be right. */
  alternative(): Outcome {
    this.spend(1);
    return new Outcome(this.budget);
  }

  get isValid(): boolean {
    return this.issues.length === 0;
  }

  merge(other: Outcome): void {
    for (const issue of other.issues) this.add(issue);
    this.matchCount += other.matchCount;
  }

  required(name: string): void {
    this.add({ type: 'required', name, message: `${name} is required` });
  }

  /** `list`: the allowed values as one text. */
  notOneOf(name: string, value: unknown, allowed: readonly string[], list: string): void {
    const message = `${name} in body should be one of ${list}`;
    this.add({ type: 'enum', name, value, allowed, message });
  }

  invalid(name: string, value: unknown, message: string): void {
    this.fault(name, value, `${name} in body ${message}`);
  }

  /** The whole message, where it does not begin with the name. */
  fault(name: string, value: unknown, message: string): void {
    this.add({ type: 'invalid', name, value, message });
  }

  /** About all that stands below a name, which the message holds. */
  composite(name: string, message: string): void {
    this.add({ type: 'composite', name: '', message: `"${name}" ${message}` });
  }

  private add(issue: Issue): void {
    this.spend(1);
    if (this.issues.length >= issueCountMax || this.textLength > issueTextLengthMax) return;
    this.issues.push(issue);
    this.textLength += issue.message.length;
    if (typeof issue.value === 'string') this.textLength += issue.value.length;
  }

  /** One error for each message, the fields being relative to `at`. */
  errors(at: FieldPath): FieldError[] {
    const byMessage = new Map<string, Issue>();
    for (const issue of this.issues) {
      if (!byMessage.has(issue.message)) byMessage.set(issue.message, issue);
    }
    return [...byMessage.values()].map((issue) => errorOf(issue, at));
  }
}

function errorOf({ type, name, value, allowed = [], message }: Issue, at: FieldPath): FieldError {
  const field = fieldOf(name, at);
  if (type === 'required') return fieldError.required(field);
  if (type === 'enum') return fieldError.notSupported(field, shown(value), allowed);
  return fieldError.invalid(field, value === undefined ? '' : shown(value), message);
}

/** Where there is no path at all, clients know this text. */
function fieldOf(name: string, at: FieldPath): FieldPath {
  const relative = name.startsWith('.') ? name.slice(1) : name;
  if (relative !== '') return at.child(relative);
  return at.toString() === '' ? new FieldPath('<nil>') : at;
}
