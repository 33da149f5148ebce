/** The config map in the system namespace in which API servers publish the clients they trust. */
export const authenticationConfigMap = 'extension-apiserver-authentication';
