/** Validates limit ranges: known types and names, and consistent bounds. */
import {
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  Quantity,
} from '@orch/apimachinery';
import type { LimitRangeItem } from '@orch/types/core/v1';
import { invalidEach } from '../../shared/rules.js';
import {
  mayOvercommit,
  validateContainerResourceName,
  validateResourceName,
} from './resource-rules.js';

const standardTypes: ReadonlySet<string> = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);

export function validateLimits(
  items: readonly LimitRangeItem[],
  fieldPath: FieldPath,
): FieldError[] {
  const types = new Set<string>();
  return items.flatMap((item, index) => {
    const field = fieldPath.index(index);
    const errors = validateType(item.type, field.child('type'));
    if (types.has(item.type)) errors.push(fieldError.duplicate(field.child('type'), item.type));
    types.add(item.type);
    return [...errors, ...validateNames(item, field), ...validateAmounts(item, field)];
  });
}

function validateType(type: string, fieldPath: FieldPath): FieldError[] {
  const errors = invalidEach(fieldPath, type, checkQualifiedName(type));
  if (errors.length > 0 || type.includes('/') || standardTypes.has(type)) return errors;
  return [fieldError.invalid(fieldPath, type, 'must be a standard limit type or fully qualified')];
}

const amountFields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type AmountField = (typeof amountFields)[number];

const notOfPods: ReadonlySet<AmountField> = new Set(['default', 'defaultRequest']);

function validateNames(item: LimitRangeItem, fieldPath: FieldPath): FieldError[] {
  const isPod = item.type === 'Pod';
  const check =
    isPod || item.type === 'Container' ? validateContainerResourceName : validateResourceName;
  const errorsOf = (field: AmountField) => {
    const names = Object.keys(item[field] ?? {});
    if (isPod && notOfPods.has(field)) {
      const detail = "may not be specified when `type` is 'Pod'";
      return names.length > 0 ? [fieldError.forbidden(fieldPath.child(field), detail)] : [];
    }
    return names.flatMap((name) => check(name, fieldPath.child(field).key(name)));
  };
  const errors = amountFields.filter((field) => field !== 'maxLimitRequestRatio').flatMap(errorsOf);
  const { max, min, type } = item;
  if (type === 'PersistentVolumeClaim' && !max?.storage && !min?.storage) {
    errors.push(
      fieldError.required(
        fieldPath.child('limits'),
        'either minimum or maximum storage value is required, but neither was provided',
      ),
    );
  }
  return [...errors, ...errorsOf('maxLimitRequestRatio')];
}

function validateAmounts(item: LimitRangeItem, fieldPath: FieldPath): FieldError[] {
  // Pods have no defaults, so defaults are not compared for pods.
  const fields = amountFields.filter((field) => item.type !== 'Pod' || !notOfPods.has(field));
  const names = new Set(fields.flatMap((field) => Object.keys(item[field] ?? {})));
  return [...names].sort().flatMap((name) => {
    const amount = (field: AmountField) => {
      const text = fields.includes(field) ? item[field]?.[name] : undefined;
      return text === undefined ? undefined : Quantity.parse(text);
    };
    return [...validateOrder(name, amount, fieldPath), ...validateRatio(name, amount, fieldPath)];
  });
}

type AmountOf = (field: AmountField) => Quantity | undefined;

interface Order {
  readonly low: AmountField;
  readonly high: AmountField;
  /** The field that the error names and whose value it shows. */
  readonly at: AmountField;
  readonly reported: AmountField;
}

const orders: readonly Order[] = [
  { low: 'min', high: 'max', at: 'min', reported: 'min' },
  { low: 'min', high: 'defaultRequest', at: 'defaultRequest', reported: 'defaultRequest' },
  { low: 'defaultRequest', high: 'max', at: 'defaultRequest', reported: 'defaultRequest' },
  { low: 'defaultRequest', high: 'default', at: 'defaultRequest', reported: 'defaultRequest' },
  { low: 'min', high: 'default', at: 'default', reported: 'min' },
  { low: 'default', high: 'max', at: 'default', reported: 'max' },
];

const called: Readonly<Record<AmountField, string>> = {
  max: 'max',
  min: 'min',
  default: 'default',
  defaultRequest: 'default request',
  maxLimitRequestRatio: 'ratio',
};

function validateOrder(name: string, amount: AmountOf, fieldPath: FieldPath): FieldError[] {
  return orders.flatMap((order) => {
    const low = amount(order.low);
    const high = amount(order.high);
    if (!low || !high || low.compare(high) <= 0) return [];
    const isLimit = order.low === 'defaultRequest' && order.high === 'default';
    const above = isLimit ? 'default limit' : called[order.high];
    return [
      fieldError.invalid(
        fieldPath.child(order.at).key(name),
        String(amount(order.reported)),
        `${called[order.low]} value ${low} is greater than ${above} value ${high}`,
      ),
    ];
  });
}

/** The ratio of limit to request must be at least one, and at most the ratio of the bounds. */
function validateRatio(name: string, amount: AmountOf, fieldPath: FieldPath): FieldError[] {
  const ratio = amount('maxLimitRequestRatio');
  const [min, max] = [amount('min'), amount('max')];
  const [limit, request] = [amount('default'), amount('defaultRequest')];
  const errors: FieldError[] = [];
  const refuse = (detail: string) =>
    errors.push(
      fieldError.invalid(fieldPath.child('maxLimitRequestRatio').key(name), String(ratio), detail),
    );
  if (ratio && ratio.compare(Quantity.of(1)) < 0) refuse(`ratio ${ratio} is less than 1`);
  if (ratio && min && max) {
    const bound = max.toNumber() / min.toNumber();
    if (ratio.toNumber() > bound) {
      refuse(`ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`);
    }
  }
  if (!mayOvercommit(name) && limit && request && !limit.equals(request)) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('defaultRequest').key(name),
        String(request),
        `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
      ),
    );
  }
  return errors;
}
