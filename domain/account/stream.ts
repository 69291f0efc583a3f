/** The stream of a tenant's credit account. */
export const accountStream = (tenantId: string): string => `account-${tenantId}`;
