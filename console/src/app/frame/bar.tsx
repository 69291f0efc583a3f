import { useQueryClient } from '@tanstack/react-query';
import { LogOut, Menu, Monitor, Moon, Search, Sun } from '../../ui/icons/icons.tsx';
import { Popover } from 'radix-ui';
import { signOut } from '../../api/session.ts';
import { useActing } from '../../api/useSession.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { TenantPicker } from '../../ui/forTenant.tsx';
import { chooseTheme, useTheme, type Theme } from '../theme.ts';
import { Navigation } from './side.tsx';

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
export function Bar({ isAdmin, openPalette }: { isAdmin: boolean; openPalette: () => void }) {
  const { session } = useActing();
  return (
    <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-3 md:px-6">
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
