import { Link } from '@tanstack/react-router';
import { shell } from '../../texts/shell.ts';
import { PAGES, type Page } from '../pages.ts';
import { classes } from '../../ui/classes.ts';

const LINK =
  'flex items-center gap-3 rounded-md px-3 py-1.5 text-soft hover:bg-sunken hover:text-ink ' +
  'data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent';

function Group({ title, pages }: { title: string; pages: readonly Page[] }) {
  return (
    <div className="flex flex-col gap-0.5">
      <div className="px-3 pb-1 text-xs font-medium text-soft">{title}</div>
      {pages.map(({ path, name, icon: Icon }) => (
        <Link key={path} to={path as never} className={LINK}>
          <Icon aria-hidden className="size-4 shrink-0" />
          {name}
        </Link>
      ))}
    </div>
  );
}

/** The pages that somebody of this role may see. */
export function Navigation({ isAdmin }: { isAdmin: boolean }) {
  return (
    <nav aria-label={shell.menu} className="flex flex-col gap-4">
      <Group title={shell.mine} pages={PAGES.filter(({ isOperators }) => !isOperators)} />
      {isAdmin && <Group title={shell.operator} pages={PAGES.filter(({ isOperators }) => isOperators)} />}
    </nav>
  );
}

/** The navigation at the side, where there is room for it. */
export function Side({ isAdmin }: { isAdmin: boolean }) {
  return (
    <aside
      className={classes(
        'sticky top-0 hidden h-dvh w-52 shrink-0',
        'flex-col gap-4 border-r border-line bg-surface p-3 md:flex',
      )}
    >
      <div className="px-3 py-2 text-base font-semibold">{shell.product}</div>
      <Navigation isAdmin={isAdmin} />
    </aside>
  );
}
