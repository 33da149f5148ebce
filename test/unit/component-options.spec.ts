/** The controller manager and the scheduler know each option of the interface, and its default. */
import { type OptionsClass, parseOptions } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { ControllerManagerOptions } from '../../apps/controller-manager/src/controller-manager-options.js';
import { SchedulerOptions } from '../../apps/scheduler/src/scheduler-options.js';
import {
  controllerManagerOptions,
  type SpecifiedOptions,
  schedulerOptions,
} from './support/component-options.js';

const components: [string, OptionsClass<object>, SpecifiedOptions][] = [
  ['controller manager', ControllerManagerOptions, controllerManagerOptions],
  ['scheduler', SchedulerOptions, schedulerOptions],
];

describe.each(components)(
  'options of the %s',
  (program, optionsClass, { defaults, values, open }) => {
    const parse = (...argv: string[]) =>
      parseOptions(optionsClass, argv, { program, description: '', version: '1' });
    const unchanged = JSON.stringify(parse());

    it.each(Object.entries(defaults))('--%s is %s by default', (name, value) => {
      expect(JSON.stringify(parse(`--${name}=${value}`))).toBe(unchanged);
    });

    const permitted = Object.entries(values).flatMap(([name, texts]) =>
      texts.map((text) => `--${name}=${text}`),
    );
    it.each(permitted)('%s is permitted', (argument) => {
      expect(() => parse(argument)).not.toThrow();
    });

    it.each(Object.entries(open))('--%s is refused: %s', (argument) => {
      expect(() => parse(`--${argument}`)).toThrow(argument.split('=')[0]);
    });
  },
);
