import { QueryClient } from '@tanstack/react-query';
import {
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Tooltip } from 'radix-ui';
import { Toaster } from 'sonner';
import { useShownTheme } from './theme.ts';
import { api } from '../api/connection.ts';
import { LostConnectionError } from '../api/faults.ts';
import { sessionQuery, type SignedIn } from '../api/session.ts';
import { Broken, NotFound, Frame } from './frame.tsx';
import { PAGES } from './pages.ts';
import { SignedInPage, SignInPage } from './signIn.tsx';

/** What was read from the service. Nothing is read again behind a person's back, but what was answered too early. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: { retry: false, refetchOnWindowFocus: false, staleTime: 10_000 },
    mutations: { retry: false },
  },
});

/** Around every page, signed in or not. */
function Root() {
  return (
    <Tooltip.Provider delayDuration={300}>
      <Outlet />
      <Toaster theme={useShownTheme()} position="bottom-right" closeButton />
    </Tooltip.Provider>
  );
}

/* eslint-disable @typescript-eslint/only-throw-error -- a redirect is how the router is told */

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: Broken });

const MONTH_MS = 30 * 86_400_000;

/** Whether nothing was read lately, as when the service was started just now: there is nothing to look over. */
const isIdle = async ({ role, tenant_id }: SignedIn): Promise<boolean> => {
  const from_date = new Date(Date.now() - MONTH_MS).toISOString();
  if (role === 'admin') return (await api.getUsageStats({ query: { from_date } })).totals.operations === 0;
  const input = { path: { tenant_id }, query: { start: from_date, limit: 1 } };
  return role === 'tenant' && (await api.listUsage(input)).total === 0;
};

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async () => {
    const session = await cache.query({ ...sessionQuery, staleTime: 'static' });
    if (!session.signed_in) throw redirect({ to: '/sign-in', replace: true });
    // the page that is gone to says what goes wrong
    const isFirst = await isIdle(session).catch(() => false);
    throw redirect({ to: isFirst ? '/playground' : '/overview', replace: true });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignInPage,
});

const signedIn = createRoute({
  getParentRoute: () => root,
  path: '/signed-in',
  component: SignedInPage,
});

const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  errorComponent: Broken,
  beforeLoad: async ({ location }) => {
    const session = await cache.query({ ...sessionQuery, staleTime: 'static' });
    if (!session.signed_in) throw redirect({ to: '/sign-in', search: { to: location.href }, replace: true });
  },
});

const isServiceAway = (): Promise<boolean> =>
  fetch('/health/live', { cache: 'no-store' }).then(
    () => false,
    () => true,
  );

/**
 * Loads a page. The script of another release is not there any more: the router loads the console anew. While the
 * service is away that would leave the browser's own error, so the frame stays and says it.
 */
const loaded =
  (load: (typeof PAGES)[number]['load']): typeof load =>
  () =>
    load().catch(async (error: unknown) => {
      throw (await isServiceAway()) ? new LostConnectionError(error) : error;
    });

/** Every page owns what lies below it: `/tenants/{id}` is shown by the page of tenants, which reads `useRest()`. */
const pages = PAGES.flatMap(({ path, load }) =>
  [path, `${path}/$`].map((address) =>
    createRoute({
      getParentRoute: () => frame,
      path: address,
      component: lazyRouteComponent(loaded(load)),
      errorComponent: Broken,
    }),
  ),
);

/** The addresses of the console. */
export const router = createRouter({
  routeTree: root.addChildren([home, signIn, signedIn, frame.addChildren(pages)]),
  basepath: '/app',
  defaultPreload: 'intent',
});
