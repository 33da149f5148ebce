/**
 * Collects the issues of a value. Among failed alternatives, the one with the most passed checks is
 * reported; steps are counted, so that validation terminates.
 */
import { type FieldError, type FieldPath, fieldError, path, StepBudget } from '@orch/apimachinery';
import { checkStepCountMax, issueCountMax, issueTextLengthMax } from '../common/limits.js';
import { reportedValue } from '../common/value-text.js';

/** Values are named by their dotted path from the root; an element has the name of its list. */
interface Issue {
  readonly type: 'required' | 'enum' | 'invalid' | 'composite';
  readonly name: string;
  /** The allowed values of an enum. */
  readonly allowed?: readonly string[];
  readonly value?: unknown;
  readonly message: string;
}

/** `name`: path of the value from the root. Throws TooManyStepsError. */
export type ValueCheck = (value: unknown, name: string, outcome: Outcome) => void;

export class Outcome {
  readonly issues: Issue[] = [];
  matchCount = 0;
  private textLength = 0;

  constructor(private readonly budget = new StepBudget(checkStepCountMax)) {}

  /** Throws TooManyStepsError. */
  spend(stepCount: number): void {
    this.budget.spend(stepCount);
  }

  /** An outcome for trying one alternative. */
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

  /** Adds an issue whose message does not begin with the name. */
  fault(name: string, value: unknown, message: string): void {
    this.add({ type: 'invalid', name, value, message });
  }

  /** Adds an issue about everything below a name, which the message contains. */
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

  /** One error per message; the fields are relative to `at`. */
  errors(fieldPath: FieldPath): FieldError[] {
    const byMessage = new Map<string, Issue>();
    for (const issue of this.issues) {
      if (!byMessage.has(issue.message)) byMessage.set(issue.message, issue);
    }
    return [...byMessage.values()].map((issue) => errorOf(issue, fieldPath));
  }
}

function errorOf(
  { type, name, value, allowed = [], message }: Issue,
  fieldPath: FieldPath,
): FieldError {
  const field = fieldOf(name, fieldPath);
  if (type === 'required') return fieldError.required(field);
  if (type === 'enum') return fieldError.notSupported(field, reportedValue(value), allowed);
  return fieldError.invalid(field, value === undefined ? '' : reportedValue(value), message);
}

/** The upstream text for an empty path. */
function fieldOf(name: string, fieldPath: FieldPath): FieldPath {
  const relative = name.startsWith('.') ? name.slice(1) : name;
  if (relative !== '') return fieldPath.child(relative);
  return fieldPath.toString() === '' ? path('<nil>') : fieldPath;
}
