import { lazy, Suspense } from 'react';
import { Skeleton } from './states.tsx';
import type { CurveProps, DayBarsProps, DayLineProps, WaterfallProps } from './drawnCharts.tsx';

const drawing = () => import('./drawnCharts.tsx');

// a page with a chart asks for what draws it while it asks for its figures; what fails is asked for again below
drawing().catch((): undefined => undefined);

/** The figures of a chart for screen readers. */
function FiguresTable({
  label,
  names,
  rows,
}: {
  label: string;
  names: readonly string[];
  rows: readonly (readonly string[])[];
}) {
  // A table does not shrink to what hides it: the frame around it does.
  return (
    <div className="sr-only">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <td />
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([head, ...cells]) => (
            <tr key={head}>
              <th scope="row">{head}</th>
              {cells.map((text, index) => (
                <td key={names[index]}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const DrawnDays = lazy(async () => ({ default: (await drawing()).DrawnDays }));

/** Stacked bars, one a day. The same figures stand in a table for those who do not see them. */
export function DayBars(props: DayBarsProps) {
  const { label, days, series, format } = props;
  return (
    <figure aria-label={label} className="m-0">
      <div aria-hidden className="h-64">
        <Suspense fallback={<Skeleton className="h-64" />}>
          <DrawnDays {...props} />
        </Suspense>
      </div>
      <FiguresTable
        label={label}
        names={series.map(({ name }) => name)}
        rows={days.map(({ day, values }) => [day, ...series.map(({ id }) => format(values[id] ?? 0))])}
      />
    </figure>
  );
}

const DrawnLine = lazy(async () => ({ default: (await drawing()).DrawnLine }));

/** A figure by day, and a limit across it. The same figures stand in a table for those who do not see them. */
export function DayLine(props: DayLineProps) {
  const { label, name, days, limit, format } = props;
  const limits = limit === undefined ? [] : [limit];
  return (
    <figure aria-label={label} className="m-0">
      <div aria-hidden className="h-64">
        <Suspense fallback={<Skeleton className="h-64" />}>
          <DrawnLine {...props} />
        </Suspense>
      </div>
      <FiguresTable
        label={label}
        names={[name, ...limits.map((one) => one.name)]}
        rows={days.map(({ day, value }) => [day, format(value), ...limits.map((one) => format(one.value))])}
      />
    </figure>
  );
}

const DrawnWaterfall = lazy(async () => ({ default: (await drawing()).DrawnWaterfall }));

/** How one figure becomes another, step by step. */
export function Waterfall(props: WaterfallProps) {
  const { label, steps, format } = props;
  return (
    <figure aria-label={label} className="m-0">
      {/* names and figures of the steps need their room: a narrow screen scrolls */}
      <div tabIndex={0} role="group" aria-label={label} className="overflow-x-auto">
        <div aria-hidden className="h-72 min-w-4xl">
          <Suspense fallback={<Skeleton className="h-72" />}>
            <DrawnWaterfall {...props} />
          </Suspense>
        </div>
      </div>
      <FiguresTable
        label={label}
        names={[label]}
        rows={steps.map(({ name, value }) => [name, format(value)])}
      />
    </figure>
  );
}

const DrawnCurve = lazy(async () => ({ default: (await drawing()).DrawnCurve }));

/** Figures from 0 to 1 along a count. The same figures stand in a table for those who do not see them. */
export function Curve(props: CurveProps) {
  const { label, along, series, points, format } = props;
  const told = (value: number | undefined): string => (value === undefined ? '–' : format(value));
  return (
    <figure aria-label={label} className="m-0">
      <figcaption className="mb-1 text-[13px] text-soft">{label}</figcaption>
      <div aria-hidden className="h-56">
        <Suspense fallback={<Skeleton className="h-56" />}>
          <DrawnCurve {...props} />
        </Suspense>
      </div>
      <FiguresTable
        label={label}
        names={series.map(({ name }) => name)}
        rows={points.map(({ at, values }) => [
          `${along} ${String(at)}`,
          ...series.map(({ id }) => told(values[id])),
        ])}
      />
    </figure>
  );
}
