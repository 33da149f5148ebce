/** Flags, gates, log and lifecycle of the process. */
import type { ComponentContext } from '@orch/component';
import type { ApiServerOptions } from '../options/api-server-options.js';

export type ProcessContext = Pick<
  ComponentContext<ApiServerOptions>,
  'options' | 'features' | 'logger' | 'lifecycle'
>;
