/** Admission that does not look: for trying things out. */
import { type AdmissionRule, refusal } from '../admission-rule.js';

export const alwaysAdmitRule: AdmissionRule = { name: 'AlwaysAdmit' };

export const alwaysDenyRule: AdmissionRule = {
  name: 'AlwaysDeny',
  mutate(target) {
    throw refusal(target, 'admission control is denying all modifications');
  },
  validate(target) {
    throw refusal(target, 'admission control is denying all modifications');
  },
};
