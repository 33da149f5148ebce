/** Members of the privileged group may do everything, whatever the roles say. */
import { privilegedGroup } from '../authentication/user.js';
import { type Authorizer, allow, noOpinion } from './authorizer.js';

export const privilegedUsers: Authorizer = ({ user }) =>
  user.groups.includes(privilegedGroup) ? allow : noOpinion;
