export function encryptionFlags(dialect: 'orch' | 'kubernetes'): string[];
