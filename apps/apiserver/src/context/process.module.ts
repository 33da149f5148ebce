/** The context of the process and its metrics, for all modules. */
import { type DynamicModule, Module } from '@nestjs/common';
import { Metrics } from '@orch/component';
import { ApiServerContext } from './api-server-context.js';

@Module({})
class ProcessModule {}

export function processModule(context: ApiServerContext): DynamicModule {
  return {
    module: ProcessModule,
    global: true,
    providers: [
      { provide: ApiServerContext, useValue: context },
      { provide: Metrics, useValue: context.metrics },
    ],
    exports: [ApiServerContext, Metrics],
  };
}
