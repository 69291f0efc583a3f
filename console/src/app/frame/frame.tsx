import { Outlet, useLocation } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ActingContext, useSessionQuery } from '../../api/useSession.ts';
import type { SignedIn } from '../../api/session.ts';
import { SignInAgain } from '../session/signInAgain.tsx';
import { PAGES } from '../pages.ts';
import { Bar } from './bar.tsx';
import { NotFound } from './failures.tsx';
import { Palette } from './palette.tsx';
import { Side } from './side.tsx';

const TENANT_KEY = 'quire.tenant';

const useChosenTenant = (session: SignedIn | undefined) => {
  const [chosen, keep] = useState(() => sessionStorage.getItem(TENANT_KEY) ?? undefined);
  return useMemo(() => {
    if (session === undefined) return undefined;
    const chooseTenant = (tenantId: string | undefined): void => {
      if (tenantId === undefined) sessionStorage.removeItem(TENANT_KEY);
      else sessionStorage.setItem(TENANT_KEY, tenantId);
      keep(tenantId);
    };
    return { session, tenantId: session.role === 'tenant' ? session.tenant_id : chosen, chooseTenant };
  }, [session, chosen]);
};

function Shown({ isAdmin }: { isAdmin: boolean }) {
  const { pathname } = useLocation();
  const isClosed = PAGES.some(
    ({ path, isOperators }) => isOperators && !isAdmin && pathname.startsWith(path),
  );
  return isClosed ? <NotFound /> : <Outlet />;
}

/** The page in its frame: navigation at the side, the bar above, and who is signed in. */
export function Frame() {
  const { data: session } = useSessionQuery();
  const [isPaletteOpen, openPalette] = useState(false);
  const acting = useChosenTenant(session?.signed_in === true ? session : undefined);
  // the route lets nobody else in
  if (acting === undefined) return null;
  const isAdmin = acting.session.role === 'admin';
  return (
    <ActingContext value={acting}>
      <div className="flex min-h-dvh">
        <Side isAdmin={isAdmin} />
        <div className="flex min-w-0 flex-1 flex-col">
          <Bar isAdmin={isAdmin} openPalette={() => openPalette(true)} />
          <main id="page" className="mx-auto w-full max-w-[1600px] min-w-0 flex-1 p-4 md:p-6">
            <Shown isAdmin={isAdmin} />
          </main>
        </div>
      </div>
      <Palette isAdmin={isAdmin} isOpen={isPaletteOpen} onOpenChange={openPalette} />
      <SignInAgain />
    </ActingContext>
  );
}
