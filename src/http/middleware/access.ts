import type { Caller } from '../access/caller.ts';
import type { Route } from '../defineRoute.ts';
import { problem } from '../problems.ts';

const ROLES: Readonly<Record<Route['access'], readonly Caller['role'][]>> = {
  public: ['tenant', 'service', 'admin'],
  any: ['tenant', 'service', 'admin'],
  admin: ['admin'],
  admin_or_service: ['admin', 'service'],
};

/** Whether the caller's role may call the route at all. */
const isOpenTo = ({ access, tenantSessions }: Route, { role, session }: Caller): boolean =>
  ROLES[access].includes(role) || (tenantSessions === true && role === 'tenant' && session !== undefined);

/** 403 for a caller whose role is too small. */
export const checkRole = (route: Route, caller: Caller): void => {
  if (!isOpenTo(route, caller)) throw problem('admin_required', 'This needs an admin key.');
};

const mayActFor = (tenantId: string, route: Route, caller: Caller): boolean => {
  if (caller.role === 'admin' || caller.tenant_id === tenantId) return true;
  return caller.role === 'service' && route.serviceActsForAll === true;
};

/** The `tenant_id` of one part of a request, if it is text there. */
export const tenantNamedIn = (part: unknown): string | undefined => {
  if (typeof part !== 'object' || part === null || !('tenant_id' in part)) return undefined;
  return typeof part.tenant_id === 'string' ? part.tenant_id : undefined;
};

/** The `scope` of a body, if it has one. */
export const scopeIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'scope' in body ? body.scope : undefined;

/** 403 for a key of another tenant: before the rest is checked, and before anything is looked up. */
export const checkTenant = (route: Route, caller: Caller, part: unknown): void => {
  const tenantId = tenantNamedIn(part);
  if (tenantId === undefined || mayActFor(tenantId, route, caller)) return;
  if (ROLES[route.access].includes('tenant') || isOpenTo(route, caller))
    throw problem('tenant_mismatch', 'The API key belongs to another tenant.');
};
