import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { readSession, type SignedIn } from './session.ts';

/** Reads the session; kept until somebody signs in or out, or an answer says that it is over. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: Infinity,
});

/** The session as it is loaded, signed in or not. */
export const useSessionQuery = () => useQuery(sessionQuery);

/** The session and the tenant that pages are about. */
export interface Acting {
  readonly session: SignedIn;
  /** A tenant's own; an operator's choice, undefined until one is chosen. */
  readonly tenantId: string | undefined;
  readonly chooseTenant: (tenantId: string | undefined) => void;
}

export const ActingContext = createContext<Acting | undefined>(undefined);

/** Who is signed in, and the tenant that is acted for. */
export const useActing = (): Acting => {
  const acting = use(ActingContext);
  if (acting === undefined) throw new Error('this page is shown to nobody who is not signed in');
  return acting;
};

/** The tenant of a page inside of `ForTenant`, which asks operators to choose one first. */
export const useTenantId = (): string => {
  const { tenantId } = useActing();
  if (tenantId === undefined) throw new Error('this page stands inside of ForTenant');
  return tenantId;
};
