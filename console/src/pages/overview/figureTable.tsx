import type { ReactNode } from 'react';

/** One line of figures, one for each column. */
export interface FigureRow {
  readonly name: string;
  readonly cells: readonly ReactNode[];
}

interface FiguresProps {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly FigureRow[];
}

/** A few figures of a few spans; on a narrow page a line of figures stands below its name. */
export function Figures({ label, columns, rows }: FiguresProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {rows.map(({ name, cells }) => (
        <section key={name} aria-label={`${label}: ${name}`}>
          <h3 className="mb-1 text-[13px] text-soft">{name}</h3>
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
            {columns.map((column, at) => (
              <div key={column} className="col-span-2 grid grid-cols-subgrid border-t border-line/60 py-1">
                <dt className="text-soft">{column}</dt>
                <dd className="text-right font-medium tabular-nums">{cells[at]}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
