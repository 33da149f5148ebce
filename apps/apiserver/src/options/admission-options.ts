/** Flags of admission: the plugins and their configuration. */
import { Flag } from '@orch/component';

export class AdmissionOptions {
  @Flag({
    name: 'enable-admission-plugins',
    description:
      'admission plugins to run in addition to the default plugins; their order is fixed. docs/api.md lists them',
    type: 'list',
  })
  enabled: string[] = [];

  @Flag({
    name: 'disable-admission-plugins',
    description:
      'default admission plugins to disable; without ServiceAccount pods have no identity, without ResourceQuota and LimitRanger a namespace may use all resources',
    type: 'list',
  })
  disabled: string[] = [];

  @Flag({
    name: 'admission-control-config-file',
    description:
      'file with the configurations of admission plugins; empty: plugins that need one cannot be enabled',
    default: '',
  })
  configurationFile!: string;
}
