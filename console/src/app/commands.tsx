import { Command } from 'cmdk';
import { shell } from '../texts/shell.ts';
import { useGo } from '../ui/go.tsx';
import { PAGES } from './pages.ts';
import { chooseTheme, type Theme } from './theme.ts';
import { classes } from '../ui/style.ts';

const ITEM =
  'flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 data-[selected=true]:bg-accent-soft';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Everything that can be gone to or switched by typing. */
export default function Commands({ isAdmin, close }: { isAdmin: boolean; close: () => void }) {
  const go = useGo();
  const run = (action: () => void) => (): void => {
    close();
    action();
  };
  return (
    <Command.Dialog
      open
      onOpenChange={close}
      label={shell.search}
      overlayClassName="fixed inset-0 z-40 bg-black/40"
      contentClassName={classes(
        'fixed top-[15vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-lg',
        '-translate-x-1/2 rounded-xl border border-line bg-raised shadow-xl',
      )}
    >
      <Command.Input
        placeholder={shell.search}
        className="w-full border-b border-line bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-80 overflow-y-auto p-2">
        <Command.Empty className="p-4 text-center text-soft">{shell.nothingFound}</Command.Empty>
        {PAGES.filter(({ isOperators }) => isAdmin || !isOperators).map(({ path, name, icon: Icon }) => (
          <Command.Item key={path} value={name} onSelect={run(() => go(path))} className={ITEM}>
            <Icon aria-hidden className="size-4 text-soft" />
            {name}
          </Command.Item>
        ))}
        {THEMES.map((theme) => (
          <Command.Item
            key={theme}
            value={`${shell.theme.name} ${shell.theme[theme]}`}
            onSelect={run(() => chooseTheme(theme))}
            className={ITEM}
          >
            {shell.theme.name}: {shell.theme[theme]}
          </Command.Item>
        ))}
      </Command.List>
    </Command.Dialog>
  );
}
