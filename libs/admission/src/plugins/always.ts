/** Admission that allows or denies everything, for experiments. */
import { type AdmissionRule, forbiddenTarget } from '../rule.js';

export const alwaysAdmit: AdmissionRule = {
  name: 'AlwaysAdmit',
  isDefault: false,
};

export const alwaysDeny: AdmissionRule = {
  name: 'AlwaysDeny',
  isDefault: false,

  mutate(target) {
    throw forbiddenTarget(target, 'admission control is denying all modifications');
  },
  validate(target) {
    throw forbiddenTarget(target, 'admission control is denying all modifications');
  },
};
