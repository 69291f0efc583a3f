import { Link, useRouter, Outlet, useLocation, type ErrorComponentProps } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { LogOut, Menu, Monitor, Moon, Search, Sun } from '../ui/icons/icons.tsx';
import { Popover } from 'radix-ui';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { shell } from '../texts/shell.ts';
import { PAGES, type Page } from './pages.ts';
import { classes } from '../ui/style.ts';
import { signOut, useActing, ActingContext, useSessionQuery, type SignedIn } from '../api/session.ts';
import { TenantPicker, useTenants } from '../ui/forTenant.tsx';
import { Button } from '../ui/button.tsx';
import { chooseTheme, useTheme, type Theme } from './theme.ts';
import { Empty, ProblemNote } from '../ui/states.tsx';
import { Go } from '../ui/go.tsx';
import { PageHeader } from '../ui/card.tsx';
import { chooseZone, otherZone, useZone } from '../ui/zone.ts';
import { LostConnectionError } from '../api/faults.ts';
import { SignInAgain } from './signIn.tsx';

const LINK =
  'flex items-center gap-2.5 rounded-md px-2 py-1.5 text-soft hover:bg-sunken hover:text-ink ' +
  'data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent';

function Group({ title, pages }: { title: string; pages: readonly Page[] }) {
  return (
    <div className="flex flex-col gap-0.5">
      <div className="px-2 pb-1 text-xs font-medium text-soft">{title}</div>
      {pages.map(({ path, name, icon: Icon }) => (
        <Link key={path} to={path as never} className={LINK}>
          <Icon aria-hidden className="size-4 shrink-0" />
          {name}
        </Link>
      ))}
    </div>
  );
}

/** Says in which zone times are shown, and changes it. */
function Zone() {
  const zone = useZone();
  const other = otherZone(zone);
  return (
    <div className="flex flex-wrap items-center gap-x-2 px-2 text-xs text-soft">
      {shell.timesIn(zone)}
      {other !== undefined && (
        <button type="button" className="text-accent hover:underline" onClick={() => chooseZone(other)}>
          {shell.showIn(other)}
        </button>
      )}
    </div>
  );
}

/** The pages that somebody of this role may see, and the zone of their times. */
function Navigation({ isAdmin }: { isAdmin: boolean }) {
  return (
    <>
      <nav aria-label={shell.menu} className="flex flex-col gap-4">
        <Group title={shell.mine} pages={PAGES.filter(({ isOperators }) => !isOperators)} />
        {isAdmin && <Group title={shell.operator} pages={PAGES.filter(({ isOperators }) => isOperators)} />}
      </nav>
      <div className="mt-auto pt-4 pb-1">
        <Zone />
      </div>
    </>
  );
}

/** The navigation at the side, where there is room for it. */
function Side({ isAdmin }: { isAdmin: boolean }) {
  return (
    <aside
      className={classes(
        'sticky top-0 hidden h-dvh w-52 shrink-0',
        'flex-col gap-4 overflow-y-auto border-r border-line bg-surface p-2 md:flex print:hidden',
      )}
    >
      <div className="px-2 py-2 text-base font-semibold">{shell.product}</div>
      <Navigation isAdmin={isAdmin} />
    </aside>
  );
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS = { system: Monitor, light: Sun, dark: Moon };

/** The palette opens by either key; the one of this keyboard is shown. */
const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

function ThemeButton() {
  const theme = useTheme();
  const Icon = ICONS[theme];
  const name = `${shell.theme.name}: ${shell.theme[theme]}`;
  return (
    <Button look="quiet" size="icon" aria-label={name} onClick={() => chooseTheme(NEXT[theme])}>
      <Icon aria-hidden className="size-4" />
    </Button>
  );
}

function MenuButton({ isAdmin }: { isAdmin: boolean }) {
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button look="quiet" size="icon" aria-label={shell.menu} className="md:hidden">
          <Menu aria-hidden className="size-4" />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          className="z-40 ml-2 w-60 rounded-lg border border-line bg-raised p-3 shadow-xl"
        >
          <Navigation isAdmin={isAdmin} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function SignOutButton() {
  const cache = useQueryClient();
  const leave = async (): Promise<void> => {
    await signOut();
    cache.clear();
    window.location.assign('/app/sign-in');
  };
  return (
    <Button look="quiet" size="icon" aria-label={shell.signOut} onClick={() => void leave()}>
      <LogOut aria-hidden className="size-4" />
    </Button>
  );
}

/** Above every page: the way to others, the tenant that is acted for, the theme and the way out. */
function Bar({ isAdmin, openPalette }: { isAdmin: boolean; openPalette: () => void }) {
  const { session } = useActing();
  return (
    <header
      className={classes(
        'sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-3 md:px-6',
        'print:hidden',
      )}
    >
      <MenuButton isAdmin={isAdmin} />
      <Button look="plain" aria-label={shell.search} onClick={openPalette} className="text-soft sm:w-56">
        <Search aria-hidden className="size-4" />
        <span className="hidden sm:inline">{shell.search}</span>
        <kbd className="ml-auto hidden text-xs sm:inline">{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </Button>
      <div className="ml-auto flex min-w-0 items-center gap-1">
        {isAdmin ? <TenantPicker /> : <span className="truncate text-soft">{session.tenant_id}</span>}
        <ThemeButton />
        <SignOutButton />
      </div>
    </header>
  );
}

/** No page has this address. */
export function NotFound() {
  return (
    <main className="mx-auto max-w-2xl p-6">
      <Empty title={shell.notFound.title} say={shell.notFound.say}>
        <Go to="/">{shell.notFound.back}</Go>
      </Empty>
    </main>
  );
}

/** A page threw while it was drawn, or could not be loaded. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <div className="mx-auto max-w-2xl p-6">
      <PageHeader title={error instanceof LostConnectionError ? shell.notLoaded : shell.broken} />
      <ProblemNote error={error} onRetry={again} />
    </div>
  );
}

interface PaletteProps {
  readonly isAdmin: boolean;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

const Commands = lazy(() => import('./commands.tsx'));

/** ⌘K or Ctrl+K: to any page by typing. Its list is loaded when it is first opened. */
function Palette({ isAdmin, isOpen, onOpenChange }: PaletteProps) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      onOpenChange(true);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onOpenChange]);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Commands isAdmin={isAdmin} close={() => onOpenChange(false)} />
    </Suspense>
  );
}

const TENANT_KEY = 'quire.tenant';

/** The tenant that is acted for: one's own, else the one that was chosen, else the only one that there is. */
const useChosenTenant = (session: SignedIn | undefined) => {
  const [chosen, keep] = useState(() => sessionStorage.getItem(TENANT_KEY) ?? undefined);
  const isAdmin = session?.role === 'admin';
  const tenants = useTenants(isAdmin);
  // those who sign in by the first admin key belong to an account of their own, which nobody is served by
  const others = tenants.data?.items.filter(({ tenant_id }) => tenant_id !== session?.tenant_id);
  const only = others?.length === 1 ? others[0]?.tenant_id : undefined;
  const acting = useMemo(() => {
    if (session === undefined) return undefined;
    const chooseTenant = (tenantId: string | undefined): void => {
      if (tenantId === undefined) sessionStorage.removeItem(TENANT_KEY);
      else sessionStorage.setItem(TENANT_KEY, tenantId);
      keep(tenantId);
    };
    const tenantId = session.role === 'tenant' ? session.tenant_id : (chosen ?? only);
    return { session, tenantId, chooseTenant, isChoosing: isAdmin && tenants.isPending };
  }, [session, chosen, only, isAdmin, tenants.isPending]);
  useEffect(() => {
    // it stays chosen when others come
    if (chosen === undefined && only !== undefined) acting?.chooseTenant(only);
  }, [acting, chosen, only]);
  return acting;
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
