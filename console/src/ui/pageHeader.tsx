import type { ReactNode } from 'react';

/** Title of a page, one line that says what it is for, and what can be done on it. */
export function PageHeader({ title, say, children }: { title: string; say?: string; children?: ReactNode }) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-4">
      <div>
        <h1 className="text-xl leading-7 font-semibold">{title}</h1>
        {say !== undefined && <p className="text-soft">{say}</p>}
      </div>
      {children !== undefined && <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </header>
  );
}
