/* eslint-disable @typescript-eslint/only-throw-error -- a redirect is how the router is told */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { sessionQuery } from '../api/useSession.ts';
import { cache } from './cache.ts';
import { Broken, NotFound } from './frame/failures.tsx';
import { Frame } from './frame/frame.tsx';
import { PAGES } from './pages.ts';
import { Root } from './root.tsx';
import { SignedInPage } from './session/signedInPage.tsx';
import { SignInPage } from './session/signInPage.tsx';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: Broken });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/playground', replace: true });
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

/** Every page owns what lies below it: `/tenants/{id}` is shown by the page of tenants, which reads `useRest()`. */
const pages = PAGES.flatMap(({ path, load }) =>
  [path, `${path}/$`].map((address) =>
    createRoute({
      getParentRoute: () => frame,
      path: address,
      component: lazyRouteComponent(load),
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
